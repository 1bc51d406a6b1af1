package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	excerptLines = 10
	excerptWidth = 300      // of a line; JSON logs carry stack traces in one
	excerptBytes = 64 << 10 // read from the end of a log to find those lines
)

// openLog opens a fresh log and keeps the one before as <path>.1.
func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("make the log directory: %w", err)
	}
	if err := os.Rename(path, path+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("rotate the log: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return f, nil
}

// Tail returns the last n lines of a file, without a final newline. A file
// that cannot be read has none.
func Tail(path string, n int) string {
	lines := ending(path)
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// ending is the last lines of a file, as many as excerptBytes hold.
func ending(path string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > excerptBytes {
		if _, err := f.Seek(-excerptBytes, io.SeekEnd); err != nil {
			return nil
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, excerptBytes))
	if err != nil {
		return nil
	}
	return strings.Split(string(bytes.TrimRight(data, "\n")), "\n")
}

// logExcerpt is the end of a log as an error's last lines, so that its first
// line can stand alone. A panic's stack is left out: why it panicked is said
// before it.
func logExcerpt(path string) string {
	lines := ending(path)
	if stack := slices.IndexFunc(lines, isStack); stack > 0 {
		lines = lines[:stack]
	}
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.TrimSpace(l) == "" })
	if len(lines) == 0 {
		return fmt.Sprintf("\n  its log %s is empty", path)
	}
	full := ""
	if slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, syscall.ENOSPC.Error()) }) {
		full = ": the disk is full"
	}
	lines = lines[max(0, len(lines)-excerptLines):]
	for i, l := range lines {
		if len(l) > excerptWidth {
			lines[i] = strings.ToValidUTF8(l[:excerptWidth], "") + "…"
		}
	}
	return fmt.Sprintf("%s\n  the end of %s:\n  %s", full, path, strings.Join(lines, "\n  "))
}

// isStack recognises the first line of a goroutine's stack.
func isStack(line string) bool {
	return strings.HasPrefix(line, "goroutine ") && strings.HasSuffix(line, "]:")
}
