package backend

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// lockWrite is longer than the CLI takes to write a lock, a few hundred bytes.
const lockWrite = time.Second

// removeUnfinished removes what a CLI left that could not write its lock,
// because the disk was full or it was killed. The CLI would take it for a
// lock, and stop at its empty content.
func (b *Backend) removeUnfinished(dir, stack string) error {
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
	cut, err := inLocks(dir, stack, "*.json")
	if err != nil {
		return err
	}
	// A process that could not write it to its end has given up.
	cut = slices.DeleteFunc(cut, func(file string) bool { return !isTorn(file) })
	for _, file := range slices.Concat(temporary, described, cut) {
		info, err := os.Stat(file)
		if err != nil || time.Since(info.ModTime()) < lockWrite {
			continue // finished meanwhile, or being written
		}
		if err := removeFile(file); err != nil {
			return fmt.Errorf("remove an unfinished lock of stack %s: %w", stack, err)
		}
		b.Note(stack, "recovered: removed a lock that was not written to its end")
	}
	return nil
}
