package automation

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tombolo/stacks"
)

// lockWrite is longer than the CLI takes to write a lock, a few hundred bytes.
const lockWrite = time.Second

// removeUnfinished removes what a CLI left that could not write its lock,
// because the disk was full or it was killed. The CLI would take it for a
// lock, and stop at its empty content.
func (d *Driver) removeUnfinished(dir, stack string) error {
	temporary, err := inLocks(dir, stack, "*.tmp")
	if err != nil {
		return err
	}
	described, err := inLocks(dir, stack, "*"+attributes)
	if err != nil {
		return err
	}
	described = slices.DeleteFunc(described, func(file string) bool {
		_, err := os.Stat(strings.TrimSuffix(file, attributes))
		return err == nil
	})
	for _, file := range slices.Concat(temporary, described) {
		info, err := os.Stat(file)
		if err != nil || time.Since(info.ModTime()) < lockWrite {
			continue // finished meanwhile, or being written
		}
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove an unfinished lock of stack %s: %w", stack, err)
		}
		d.opts.Observer.Note(stack, "recovered: removed a lock that was not written to its end")
	}
	return nil
}

// attributes is the suffix of the file beside each file of a local backend that
// holds its type and its checksum.
const attributes = ".attrs"

// removeHalfAttributes removes attributes that a CLI was killed while it wrote:
// unlike the file itself they are not written under another name first, and with
// an empty file of attributes the CLI cannot read the state, which is whole, and
// only says EOF. It does without attributes, so that it does no harm to remove
// those that somebody is writing just now.
func (d *Driver) removeHalfAttributes(dir, stack string) error {
	files, err := inLocks(dir, stack, "*"+attributes)
	if err != nil {
		return err
	}
	state := filepath.Join(dir, ".pulumi", "stacks", stacks.Project, stack+".json")
	meta := filepath.Join(dir, ".pulumi", "meta.yaml")
	for _, file := range slices.Concat(files, []string{state + attributes, state + ".gz" + attributes, meta + attributes}) {
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) || err == nil && json.Valid(text) {
			continue
		}
		if err == nil {
			err = os.Remove(file)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what was not written to its end beside the state of stack %s: %w", stack, err)
		}
		d.opts.Observer.Note(stack, "recovered: removed "+filepath.Base(file)+", which was not written to its end")
	}
	return nil
}
