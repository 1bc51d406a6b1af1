package rollout

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tombolo/internal/file"
)

// Journals is a directory of journals: one file for each run, which tells what
// was chosen, and what became of it. A journal holds no secrets.
type Journals struct {
	// Dir is the directory; Begin makes it.
	Dir string
	// Backend is the URL of the state that runs work on; each journal has it, and a
	// run is resumed in no other. "" when it is not known.
	Backend string
	// Keep is how many journals stay. Default 50.
	Keep int
}

// keepByDefault is enough to tell expected durations by, and to read in a blink.
const keepByDefault = 50

const (
	journalVersion = 1
	journalSuffix  = ".jsonl"
	// journalTime in a file's name sorts by age.
	journalTime = "20060102T150405.000000Z"
)

// Header is the first line of a journal.
type Header struct {
	// ID of the run; Begin sets it.
	ID string `json:"id"`
	// Operation, such as up or destroy.
	Operation string `json:"operation"`
	// Backend of the state that the run works on; Begin sets it.
	Backend string `json:"backend,omitempty"`
	// Options of the operation, by their names.
	Options map[string]string `json:"options,omitempty"`
	// Selection that led to the clusters.
	Selection Selection `json:"selection"`
	// Clusters in the order of the run.
	Clusters []HeaderCluster `json:"clusters"`
	// Files that the clusters were read from, relative to the project, with the
	// digest of each.
	Files map[string]string `json:"files"`
	// Started is when; Begin sets it where it is zero.
	Started time.Time `json:"started"`
}

// HeaderCluster is a cluster of a run.
type HeaderCluster struct {
	// Name and Wave of the cluster.
	Name string `json:"name"`
	Wave int    `json:"wave"`
	// File that it was read from: one of the header's.
	File string `json:"file"`
}

// line is every line of a journal; fields that do not apply are left out.
type line struct {
	Type    string    `json:"type"`
	Version int       `json:"version,omitempty"`
	Time    time.Time `json:"time,omitzero"`
	*Header
	Cluster string         `json:"cluster,omitempty"`
	Wave    *int           `json:"wave,omitempty"`
	Outcome Outcome        `json:"outcome,omitempty"`
	Phase   string         `json:"phase,omitempty"`
	Changes map[string]int `json:"changes,omitempty"`
	Seconds float64        `json:"seconds,omitempty"`
	Cause   string         `json:"cause,omitempty"`
	// Reason and Window are of lineOutside.
	Reason string `json:"reason,omitempty"`
	Window string `json:"window,omitempty"`
}

// The types of lines.
const (
	lineRun      = "run"
	lineResumed  = "resumed"
	lineStarted  = "started"
	lineFinished = "finished"
	lineGate     = "gate"
	lineEnded    = "ended"
	lineOutside  = "outside-window"
)

// Journal is the record of a run that goes on. Each line is on the disk before
// the run goes on. A nil journal takes everything and keeps nothing.
type Journal struct {
	id   string
	file *os.File
}

// Begin makes the journal of a new run, and removes the oldest beyond those kept.
func (d Journals) Begin(h Header) (*Journal, error) {
	if h.Started.IsZero() {
		h.Started = time.Now()
	}
	h.Started, h.Backend = h.Started.UTC(), d.Backend
	h.ID = fmt.Sprintf("%s-%s-%d", h.Started.Format(journalTime), h.Operation, os.Getpid())
	if err := os.MkdirAll(d.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the directory of journals: %w", err)
	}
	d.prune()
	file, err := os.OpenFile(d.path(h.ID), os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("make the journal of %s: %w", h.Operation, err)
	}
	j := &Journal{id: h.ID, file: file}
	if err := errors.Join(lock(file), j.write(line{Type: lineRun, Version: journalVersion, Header: &h}), syncDir(d.Dir)); err != nil {
		j.Close()
		return nil, err
	}
	return j, nil
}

// Close ends the writing.
func (j *Journal) Close() {
	if j != nil {
		j.file.Close() // every line is synced
	}
}

func (j *Journal) started(at time.Time, cluster string) error {
	return j.write(line{Type: lineStarted, Time: at, Cluster: cluster})
}

func (j *Journal) finished(at time.Time, e End) error {
	return j.write(line{
		Type: lineFinished, Time: at, Cluster: e.Cluster, Outcome: e.Outcome, Phase: e.Phase,
		Changes: e.Changes, Seconds: e.Duration.Seconds(), Cause: e.Cause(),
	})
}

func (j *Journal) gate(at time.Time, wave int, err error) error {
	l := line{Type: lineGate, Time: at, Wave: &wave, Outcome: Succeeded}
	if err != nil {
		l.Outcome, l.Cause = Failed, oneLine(err.Error())
	}
	return j.write(l)
}

func (j *Journal) end(at time.Time, s Summary) error {
	l := line{Type: lineEnded, Time: at, Outcome: Succeeded, Seconds: s.Duration.Seconds()}
	if err := s.Err(); err != nil {
		l.Outcome, l.Cause = Failed, oneLine(err.Error())
	}
	return j.write(l)
}

// Outside records that a cluster is changed outside of its change windows, and why. window
// is what was said of them.
func (j *Journal) Outside(at time.Time, cluster, reason, window string) error {
	return j.write(line{Type: lineOutside, Time: at, Cluster: cluster, Reason: reason, Window: window})
}

func (j *Journal) write(l line) error {
	if j == nil {
		return nil
	}
	if !l.Time.IsZero() {
		l.Time = l.Time.UTC()
	}
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	if _, err := j.file.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

// syncDir has the entry of a new file survive a crash of the machine.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open the directory of journals: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("write the directory of journals: %w", err)
	}
	return nil
}

func (d Journals) path(id string) string { return filepath.Join(d.Dir, id+journalSuffix) }

// prune removes the oldest journals, so that with the one to come no more than
// those to keep are there. One that cannot be removed stays.
func (d Journals) prune() {
	ids, err := d.ids()
	if err != nil {
		return
	}
	keep := d.Keep
	if keep <= 0 {
		keep = keepByDefault
	}
	for i := range max(0, len(ids)-keep+1) {
		_ = os.Remove(d.path(ids[i]))
	}
}

// ids are the runs that have journals, from the oldest on.
func (d Journals) ids() ([]string, error) {
	files, err := file.Matching(filepath.Join(d.Dir, "*"+journalSuffix))
	if err != nil {
		return nil, fmt.Errorf("look for journals: %w", err)
	}
	ids := make([]string, len(files)) // which are sorted
	for i, f := range files {
		ids[i] = strings.TrimSuffix(filepath.Base(f), journalSuffix)
	}
	return ids, nil
}
