package lab

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// keepProgram puts this program into the lab, and returns its file there. What
// outlives a command (the daemon, the aws command) runs that one: the file that
// `go run` made is in Go's build cache, which may be emptied at any time.
func (l *Lab) keepProgram() (string, error) {
	file := l.paths().program()
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program's file: %w", err)
	}
	if same(self, file) {
		return file, nil
	}
	if err := place(self, file); err != nil {
		return "", fmt.Errorf("keep this program in the lab: %w", err)
	}
	return file, nil
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
// as to another file system. What runs the file that was there before is not disturbed.
func place(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	next := fmt.Sprintf("%s.%d", to, os.Getpid())
	// Renaming one name of a file to another one of it leaves both.
	defer os.Remove(next)
	if os.Link(from, next) != nil {
		if err := copyProgram(from, next); err != nil {
			return err
		}
	}
	return os.Rename(next, to)
}

func copyProgram(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	_, err = io.Copy(target, source)
	return err
}
