package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// setting is what a lab is made with and keeps until it is removed.
type setting[T ~string] struct {
	// what it is, for messages.
	what string
	// file that keeps it, and variable of the environment with that of a lab that
	// is yet to be made.
	file, variable string
	// all values; the first is the default.
	all []T
}

func (s setting[T]) parse(name string) (T, error) {
	if v := T(name); slices.Contains(s.all, v) {
		return v, nil
	}
	names := make([]string, len(s.all))
	for i, v := range s.all {
		names[i] = string(v)
	}
	return "", fmt.Errorf("%q is no %s of the lab; use one of %s", name, s.what, strings.Join(names, ", "))
}

// choose gives it to a lab that is yet to be made. It fails with other where the
// lab exists and has another.
func (s setting[T]) choose(v T, other error) error {
	if _, err := s.parse(string(v)); err != nil {
		return err
	}
	kept, found, err := s.kept()
	if err != nil {
		return err
	}
	if found && kept != v {
		return fmt.Errorf("choose the %s %s: the lab's is %s; %w", s.what, v, kept, other)
	}
	return s.keep(v)
}

// get is the lab's, or what one that is yet to be made will have.
func (s setting[T]) get() (T, error) {
	kept, found, err := s.kept()
	if found || err != nil {
		return kept, err
	}
	name := os.Getenv(s.variable)
	if name == "" {
		return s.all[0], nil
	}
	v, err := s.parse(name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", s.variable, err)
	}
	return v, nil
}

// kept is what the lab was made with; false when there is none.
func (s setting[T]) kept() (T, bool, error) {
	data, err := os.ReadFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read the lab's %s: %w", s.what, err)
	}
	v, err := s.parse(strings.TrimSpace(string(data)))
	if err != nil {
		return "", false, fmt.Errorf("read the lab's %s: %w; run `tombolo lab down`", s.what, err)
	}
	return v, true, nil
}

func (s setting[T]) keep(v T) error {
	if err := os.MkdirAll(filepath.Dir(s.file), 0o755); err != nil {
		return fmt.Errorf("make the lab's directory: %w", err)
	}
	if err := os.WriteFile(s.file, []byte(v+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the lab's %s: %w", s.what, err)
	}
	return nil
}
