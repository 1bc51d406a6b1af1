package backend

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tombolo/automation/fault"
	"tombolo/internal/file"
	"tombolo/stacks"
)

// Mend puts the states of stacks in order that an earlier command left cut short,
// unless an operation is working on them.
func (b *Backend) Mend(ctx context.Context, names ...string) error {
	for _, stack := range names {
		if err := b.mendAttributes(stack); err != nil {
			return err
		}
		file, ok := b.stateFile(stack)
		if !ok || !isTorn(file) {
			continue
		}
		if err := b.ReleaseLocks(ctx, stack); err != nil {
			return err
		}
		if err := b.restoreState(stack); err != nil {
			return err
		}
	}
	return nil
}

// restoreState puts the newest whole copy in the place of a state that was not
// written to its end. No operation may be working on the stack.
func (b *Backend) restoreState(stack string) error {
	file, ok := b.stateFile(stack)
	if !ok || !isTorn(file) {
		return nil
	}
	found, err := findCopy(file, stack)
	if err != nil {
		return err
	}
	if found == nil {
		return b.forgetTorn(stack, file)
	}
	// The attributes are those of the content that goes, and the CLI does
	// without.
	for _, described := range []string{file, found.path} {
		if err := removeFile(described + attributes); err != nil {
			return fmt.Errorf("restore the state of stack %s: %w", stack, err)
		}
	}
	if err := os.Rename(found.path, file); err != nil {
		return fmt.Errorf("restore the state of stack %s: %w", stack, err)
	}
	at := found.made.UTC().Format(time.RFC3339)
	if found.complete {
		b.Note(stack, "recovered: the state was not written to its end, as on a full disk; put back its copy of "+at+
			", which has all that was begun")
		return nil
	}
	cluster, _, _ := stacks.Parse(stack)
	return &fault.Error{
		What: fmt.Sprintf("the state of stack %s was not written to its end; its backup of %s was put back, and what pulumi has made since is not in it", stack, at),
		Remedy: fmt.Sprintf("look for it with `tombolo drift %s`, import or delete what it finds, and run the same command again",
			cluster),
	}
}

// foundCopy is the copy that takes a state's place.
type foundCopy struct {
	stateCopy
	// complete says that it has everything that was begun.
	complete bool
}

// findCopy finds the newest whole copy of a state; nil when there is none.
//
// Copies that the CLI was told to keep are complete. A CLI that is run without
// tombolo is not told to: then its backups are newer, and one of them may be missing.
func findCopy(file, stack string) (*foundCopy, error) {
	kept, err := retained(file)
	if err != nil {
		return nil, err
	}
	saved, err := backups(file, stack)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(file + ".bak"); err == nil {
		saved = append([]stateCopy{{file + ".bak", info.ModTime()}}, saved...)
	}
	best, backup := firstWhole(kept), firstWhole(saved)
	switch {
	case best < 0 && backup < 0:
		return nil, nil
	case best < 0:
		return &foundCopy{saved[backup], false}, nil
	case backup < 0 || !saved[backup].made.After(kept[best].made) || sameContent(saved[backup].path, kept[best].path):
		return &foundCopy{kept[best], true}, nil
	default:
		// The copy of the newest state may have been what did not fit any more.
		return &foundCopy{saved[backup], best > 0}, nil
	}
}

func sameContent(a, b string) bool {
	one, err := os.ReadFile(a)
	if err != nil {
		return false
	}
	other, err := os.ReadFile(b)
	return err == nil && bytes.Equal(one, other)
}

// forgetTorn removes a state without any copy, if the stack was being made: then
// nothing was ever in it.
func (b *Backend) forgetTorn(stack, file string) error {
	copies, err := b.traces(stack, file)
	if err != nil {
		return err
	}
	if len(copies) > 0 {
		return &fault.Error{
			What: fmt.Sprintf("the state of stack %s was not written to its end, and no whole copy of it is left in %s",
				stack, filepath.Dir(file)),
			Remedy: "put a copy of your own in the place of " + file,
		}
	}
	if err := removeCopies([]stateCopy{{path: file}}); err != nil {
		return err
	}
	b.Note(stack, "recovered: removed the state of a stack whose creation was not written to its end")
	return nil
}

// traces are files that an operation on the stack has left: copies of its state,
// and its history.
func (b *Backend) traces(stack, state string) ([]string, error) {
	top := filepath.Join(filepath.Dir(state), "..", "..")
	project, name := inProject(stack)
	var out []string
	for _, pattern := range []string{
		state + ".*[0-9k]", // retained copies, and .bak
		filepath.Join(top, "backups", project, name, "*"),
		filepath.Join(top, "history", project, name, "*"),
	} {
		found, err := file.Matching(pattern)
		if err != nil {
			return nil, fmt.Errorf("look for copies of the state of stack %s: %w", stack, err)
		}
		out = append(out, found...)
	}
	return out, nil
}

// EndCopies puts a whole copy in the place of a state that the operation could
// not write to its end, and removes the copies. Where the lock was not released
// the operation may go on, and the next one does this.
func (b *Backend) EndCopies(stack string) error {
	if in := b.bucket(context.Background()); in != nil && b.OwnCopies {
		return in.endCopies(stack)
	}
	file, ok := b.stateFile(stack)
	if !ok {
		return nil
	}
	if held, err := b.LockFiles(stack, "*.json"); err != nil || len(held) > 0 {
		return err
	}
	err := b.restoreState(stack)
	if err != nil || !b.OwnCopies {
		return err
	}
	ended := time.Now()
	copies, err := retained(file)
	if err != nil {
		return err
	}
	return removeCopies(slices.DeleteFunc(copies, func(c stateCopy) bool { return c.made.After(ended) }))
}
