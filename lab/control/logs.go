package control

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Directory is where a checkout has its lab.
func Directory(root string) string { return filepath.Join(root, ".lab") }

// Backend is the URL of the Pulumi state of a checkout's lab.
func Backend(root string) string {
	return "file://" + filepath.ToSlash(filepath.Join(Directory(root), "state"))
}

// logs is the directory of the logs.
func logs(root string) string { return filepath.Join(Directory(root), "logs") }

// Processes lists the names that have a log, whether they run or not.
func Processes(root string) ([]string, error) {
	entries, err := os.ReadDir(logs(root))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the lab's logs: %w", err)
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".log"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// LogFile is the path of a process's log. An unknown process is an error that
// lists the known ones.
func LogFile(root, process string) (string, error) {
	names, err := Processes(root)
	if err != nil {
		return "", err
	}
	switch {
	case slices.Contains(names, process):
		return filepath.Join(logs(root), process+".log"), nil
	case len(names) == 0:
		return "", fmt.Errorf("find the log of %q: no process has a log: %w", process, ErrNotRunning)
	}
	return "", fmt.Errorf("find the log of %q: there is none; use one of %s", process, strings.Join(names, ", "))
}
