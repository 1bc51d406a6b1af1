package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	excerptLines = 15
	excerptBytes = 16 << 10 // read from the end of a log to find those lines
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
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > excerptBytes {
		if _, err := f.Seek(-excerptBytes, io.SeekEnd); err != nil {
			return ""
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, excerptBytes))
	if err != nil {
		return ""
	}
	lines := strings.Split(string(bytes.TrimRight(data, "\n")), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// logExcerpt is the end of a log as an error's last lines.
func logExcerpt(path string) string {
	tail := Tail(path, excerptLines)
	if strings.TrimSpace(tail) == "" {
		return fmt.Sprintf("; its log %s is empty", path)
	}
	return fmt.Sprintf("; the end of %s:\n  %s", path, strings.ReplaceAll(tail, "\n", "\n  "))
}
