package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tombolo/automation/fault"
)

// This file keeps the state of a stack in a local backend safe from a disk that
// fills up. The CLI writes a state under another name and then renames it, but it
// renames also what it could not write to its end, and copies that over its only
// backup when it saves the next time.
//
// So the CLI is told to keep a copy of every state that it has written. It writes
// the copy before it begins what the state announces, and gives up when it cannot:
// the newest whole copy has everything that was begun, at least as an operation
// that is pending. A copy takes the place of the state by a rename, which needs no
// space, and the next operation settles what is pending in it.

// retention is the CLI's setting to keep a copy of every state, and retentionOnce
// its earlier name.
const (
	retention     = "PULUMI_DIY_BACKEND_RETAIN_CHECKPOINTS"
	retentionOnce = "PULUMI_RETAIN_CHECKPOINTS"
)

// KeepCopies sets the CLI's retention in its environment, unless people have decided
// about it, in what getenv reads: then the copies are theirs.
func (b *Backend) KeepCopies(getenv func(string) string, env map[string]string) {
	_, local := b.Directory()
	b.OwnCopies = (local || strings.HasPrefix(b.URL, "s3://")) && getenv(retention) == "" && getenv(retentionOnce) == ""
	if b.OwnCopies && local { // a bucket takes an object as a whole or not at all
		env[retention] = "true"
	}
}

// stateFile is a stack's state in a local backend; false for another one, and for a
// compressed one, which is left to the CLI.
func (b *Backend) stateFile(stack string) (string, bool) {
	dir, ok := b.Directory()
	if !ok {
		return "", false
	}
	file := statePath(dir, stack)
	_, err := os.Stat(file)
	return file, err == nil
}

// isWhole says whether a file can be read and was written to its end.
func isWhole(file string) bool {
	text, err := os.ReadFile(file)
	return err == nil && json.Valid(text)
}

// isTorn says whether a file can be read and was not written to its end.
func isTorn(file string) bool {
	text, err := os.ReadFile(file)
	return err == nil && !json.Valid(text)
}

// stateCopy is a copy of a state.
type stateCopy struct {
	path string
	made time.Time
}

// retained are the copies that the CLI kept of a state, newest first.
func retained(file string) ([]stateCopy, error) {
	return copiesIn(filepath.Dir(file), filepath.Base(file)+".", "")
}

// backups are the copies that the CLI keeps at the end of each operation, newest
// first.
func backups(file, stack string) ([]stateCopy, error) {
	project, name := inProject(stack)
	dir := filepath.Join(filepath.Dir(file), "..", "..", "backups", project, name)
	return copiesIn(dir, name+".", ".json")
}

// copiesIn finds files with the time, in nanoseconds, between prefix and suffix.
func copiesIn(dir, prefix, suffix string) ([]stateCopy, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for copies of a state: %w", err)
	}
	var out []stateCopy
	for _, e := range entries {
		stamp, ok := strings.CutPrefix(e.Name(), prefix)
		stamp, ends := strings.CutSuffix(stamp, suffix)
		if ns, err := strconv.ParseInt(stamp, 10, 64); ok && ends && err == nil {
			out = append(out, stateCopy{filepath.Join(dir, e.Name()), time.Unix(0, ns)})
		}
	}
	slices.SortFunc(out, func(a, b stateCopy) int { return b.made.Compare(a.made) })
	return out, nil
}

// firstWhole is the index of the first whole copy; -1 when there is none.
func firstWhole(copies []stateCopy) int {
	return slices.IndexFunc(copies, func(c stateCopy) bool { return isWhole(c.path) })
}

// BeginCopies keeps the state as it is before an operation, as a second name of
// the same file: that takes no space. What earlier operations left is removed.
func (b *Backend) BeginCopies(stack string) error {
	if in := b.bucket(context.Background()); in != nil && b.OwnCopies {
		return in.beginCopies(stack)
	}
	file, ok := b.stateFile(stack)
	if !ok || !b.OwnCopies || !isWhole(file) {
		return nil
	}
	first := file + "." + strconv.FormatInt(time.Now().UnixNano(), 10)
	err := os.Link(file, first)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		err = copyFile(file, first)
	}
	if err != nil {
		return &fault.Error{
			What:   fmt.Sprintf("no copy can be made of the state of stack %s: %v", stack, err),
			Remedy: "nothing was started: make the backend's directory writable, or free space on its disk", Err: err,
		}
	}
	return pruneCopies(file)
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// manyCopies is how many copies gather during an operation before those that are
// not needed any more are removed.
const manyCopies = 16

// ThinCopies removes copies during an operation.
func (b *Backend) ThinCopies(stack string) {
	file, ok := b.stateFile(stack)
	if !ok || !b.OwnCopies {
		return
	}
	if copies, err := retained(file); err == nil && len(copies) > manyCopies {
		_ = pruneCopies(file) // what stays takes space, and no more
	}
}

// pruneCopies removes all copies of a state that are older than the newest whole
// one.
func pruneCopies(file string) error {
	copies, err := retained(file)
	if err != nil {
		return err
	}
	if i := firstWhole(copies); i >= 0 {
		return removeCopies(copies[i+1:])
	}
	return nil
}

func removeCopies(copies []stateCopy) error {
	for _, c := range copies {
		for _, file := range []string{c.path, c.path + attributes} {
			if err := removeFile(file); err != nil {
				return fmt.Errorf("remove a copy of a state: %w", err)
			}
		}
	}
	return nil
}
