package rollout

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"tombolo/automation/fault"
)

// Unfinished returns the last run of an operation that has not succeeded on every
// cluster, by itself or by a later one. Undoing is the operation that takes
// back what the first has done: after a run of it on one of the clusters there is
// nothing to go on with, and that is a fault.Error too. So is a run that worked
// on another backend's state; besides that, such runs say nothing about this one.
func (d Journals) Unfinished(operation, undoing string) (Record, error) {
	records, err := d.Records(0)
	if err != nil {
		return Record{}, err
	}
	done, undone := map[string]bool{}, map[string]Record{}
	var elsewhere *Record
	for _, r := range records {
		switch {
		case d.Elsewhere(r):
			if elsewhere == nil && r.Operation == operation && len(r.Remaining()) > 0 {
				elsewhere = &r
			}
		case r.Operation == undoing:
			for name, e := range r.Ends {
				if e.Outcome != Pending {
					undone[name] = r
				}
			}
		case r.Operation == operation:
			if slices.ContainsFunc(r.Remaining(), func(name string) bool { return !done[name] }) {
				return r, r.notUndone(undoing, undone)
			}
			for name, e := range r.Ends {
				done[name] = done[name] || e.Outcome == Succeeded
			}
		}
	}
	if elsewhere != nil {
		return Record{}, d.notHere(*elsewhere)
	}
	return Record{}, &fault.Error{
		What:   fmt.Sprintf("no run of %s is unfinished", operation),
		Remedy: fmt.Sprintf("run `tombolo %s` with the clusters it is about", operation),
	}
}

// Elsewhere says that a run worked on the state of another backend.
func (d Journals) Elsewhere(r Record) bool {
	return d.Backend != "" && r.Backend != "" && d.Backend != r.Backend
}

func (d Journals) notHere(r Record) error {
	return &fault.Error{
		What: fmt.Sprintf("the run of %s that began %s cannot be resumed: its state is in %s, and this is %s",
			r.Operation, r.Started.Format(time.RFC3339), r.Backend, d.Backend),
		Remedy: fmt.Sprintf("give `--backend %s`, or run `tombolo %s %s` anew", r.Backend, r.Operation, r.Selection),
	}
}

func (r Record) notUndone(undoing string, undone map[string]Record) error {
	var names []string
	var by Record
	for _, c := range r.Clusters {
		if later, ok := undone[c.Name]; ok {
			names, by = append(names, c.Name), later
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &fault.Error{
		What: fmt.Sprintf("the run of %s that began %s cannot be resumed: %s at %s was about %s",
			r.Operation, r.Started.Format(time.RFC3339), undoing, by.Started.Format(time.RFC3339), strings.Join(names, ", ")),
		Remedy: fmt.Sprintf("run `tombolo %s` with the clusters it is about", r.Operation),
	}
}

// Unchanged is a fault.Error that names the files of the run that are not what
// they were; nil when all are. root is the project's directory.
func (r Record) Unchanged(root string) error {
	changed, err := r.Changed(root)
	if err != nil || len(changed) == 0 {
		return err
	}
	return &fault.Error{
		What: fmt.Sprintf("the run of %s that began %s cannot be resumed: since then %s changed",
			r.Operation, r.Started.Format(time.RFC3339), strings.Join(changed, ", ")),
		Remedy: fmt.Sprintf("run `tombolo %s %s` anew, which changes nothing where nothing is to change", r.Operation, r.Selection),
	}
}

// Resume goes on with the journal of a run. It fails when that run still goes on.
func (d Journals) Resume(r Record) (*Journal, error) {
	file, err := os.OpenFile(d.path(r.ID), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, fmt.Errorf("open the journal of the run to resume: %w", err)
	}
	j := &Journal{id: r.ID, file: file}
	if err := lock(file); err != nil {
		j.Close()
		return nil, &fault.Error{
			What:   fmt.Sprintf("the run of %s that began %s still goes on", r.Operation, r.Started.Format(time.RFC3339)),
			Remedy: "wait for its end, or end it",
		}
	}
	if err := errors.Join(endLine(file), j.write(line{Type: lineResumed, Time: time.Now()})); err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// endLine ends a line that a killed run has begun.
func endLine(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	last := []byte{'\n'}
	if info.Size() > 0 {
		if _, err := file.ReadAt(last, info.Size()-1); err != nil {
			return fmt.Errorf("read the journal: %w", err)
		}
	}
	if last[0] == '\n' {
		return nil
	}
	if _, err := file.WriteString("\n"); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}
