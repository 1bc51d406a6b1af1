package backend

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"tombolo/internal/file"
)

// locksDir is where a local backend has the locks of a stack.
func locksDir(dir, stack string) string {
	project, name := inProject(stack)
	return filepath.Join(dir, ".pulumi", "locks", "organization", project, name)
}

// inLocks finds files among the locks of a stack in a local backend.
func inLocks(dir, stack, pattern string) ([]string, error) {
	files, err := file.Matching(filepath.Join(locksDir(dir, stack), pattern))
	if err != nil {
		return nil, fmt.Errorf("look for locks of stack %s: %w", stack, err)
	}
	return files, nil
}

// Directory of a local backend; false for another one.
func (b *Backend) Directory() (string, bool) { return localDir(b.URL, b.WorkDir) }

// localDir is the directory of a local backend, as the CLI reads its URL.
func localDir(at, workDir string) (string, bool) {
	dir, ok := strings.CutPrefix(at, "file://")
	if !ok {
		return "", false
	}
	dir, _, _ = strings.Cut(dir, "?")
	if plain, err := url.PathUnescape(dir); err == nil {
		dir = plain
	}
	if rest, ok := strings.CutPrefix(dir, "~"); ok {
		home, err := os.UserHomeDir()
		return filepath.Join(home, rest), err == nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(workDir, dir)
	}
	return dir, true
}

// statePath is where a local backend has a stack's state.
func statePath(dir, stack string) string {
	return filepath.Join(dir, filepath.FromSlash(stateKey(stack)))
}

// readFile reads a file of a local backend; nil when it is not there.
func readFile(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// removeFile removes a file of a local backend. One that is gone needs no removing.
func removeFile(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// attributes is the suffix of the file beside each file of a local backend that
// holds its type and its checksum.
const attributes = ".attrs"
