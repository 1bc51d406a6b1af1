package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tombolo/internal/file"
)

// quickAWS is the program for the lab's aws alone, which starts in a tenth of tombolo's time
// (cmd/lab-aws).
const quickAWS = "lab-aws"

// keepProgram puts this program into the lab, and returns its file there. What
// outlives a command (the daemon, the aws command) runs that one: the file that
// `go run` made is in Go's build cache, which may be emptied at any time.
func (l *Lab) keepProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program's file: %w", err)
	}
	return l.keep(self, filepath.Base(l.paths().program()))
}

// keepQuickAWS does the same with quickAWS, where it is built in a directory, and returns ""
// where it is not: `go run` builds tombolo alone.
func (l *Lab) keepQuickAWS(dir string) (string, error) {
	built := filepath.Join(dir, quickAWS)
	if _, err := os.Stat(built); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return l.keep(built, quickAWS)
}

func (l *Lab) keep(built, name string) (string, error) {
	kept := filepath.Join(filepath.Dir(l.paths().program()), name)
	if same(built, kept) {
		return kept, nil
	}
	if err := place(built, kept); err != nil {
		return "", fmt.Errorf("keep %s in the lab: %w", name, err)
	}
	return kept, nil
}

// same says that both names are of one file.
func same(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
}

// place links a file to another name, or copies it where it cannot be linked, such
// as to another file system. A process that runs the file of before goes on with it.
func place(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	next := fmt.Sprintf("%s.%d", to, os.Getpid())
	// Renaming one name of a file to another one of it leaves both.
	defer os.Remove(next)
	if os.Link(from, next) != nil {
		return copyProgram(from, to)
	}
	return os.Rename(next, to)
}

func copyProgram(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return file.Replace(to, content, 0o755)
}
