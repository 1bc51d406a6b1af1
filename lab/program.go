package lab

import (
	"fmt"
	"os"
	"path/filepath"

	"tombolo/internal/file"
)

// keepProgram puts this program into the lab, and returns its file there. What
// outlives a command (the daemon, the aws command) runs that one: the file that
// `go run` made is in Go's build cache, which may be emptied at any time.
func (l *Lab) keepProgram() (string, error) {
	program := l.paths().program()
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program's file: %w", err)
	}
	if same(self, program) {
		return program, nil
	}
	if err := place(self, program); err != nil {
		return "", fmt.Errorf("keep this program in the lab: %w", err)
	}
	return program, nil
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
