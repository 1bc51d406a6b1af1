package pulumicli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tombolo/internal/file"
)

// versionFile in the working directory keeps what the CLI told of its version: it takes
// a quarter of a second to tell it, at the start of every command.
const versionFile = "cli-version.json"

// told is what a program of the CLI told of its version.
type told struct {
	program
	Version string `json:"version"`
}

// program tells a file from the one that was put in its place.
type program struct {
	Path     string    `json:"path"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
}

// tellVersion asks the CLI for its version, unless the same file told it before.
func (p *CLI) tellVersion(ctx context.Context, c *binary) (string, error) {
	file, known := programAt(c.path)
	kept := filepath.Join(p.WorkDir, versionFile)
	if known {
		if version, ok := readTold(kept, file); ok {
			return version, nil
		}
	}
	stdout, stderr, _, err := c.Run(ctx, p.WorkDir, nil, nil, nil, Environ(p.Env), "version")
	if err != nil {
		return "", errors.Join(errors.New(FirstLine(stderr, err.Error())), err)
	}
	version := strings.TrimSpace(stdout)
	if known {
		keepTold(kept, told{program: file, Version: version})
	}
	return version, nil
}

// leastSize is that of a file which is taken for Pulumi's CLI, in bytes: 3.250 has more
// than 100 MB. What is smaller may be a version manager's.
const leastSize = 32 << 20

// programAt tells the file of a program. A script, a small program, and a link to a program
// of another name may be a version manager that runs one CLI today and another tomorrow:
// false.
func programAt(path string) (_ program, known bool) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil || filepath.Base(target) != filepath.Base(path) {
		return program{}, false
	}
	f, err := os.Open(target)
	if err != nil {
		return program{}, false
	}
	defer f.Close()
	start := make([]byte, 2)
	if _, err := io.ReadFull(f, start); err != nil || bytes.Equal(start, []byte("#!")) {
		return program{}, false
	}
	info, err := f.Stat()
	if err != nil || info.Size() < leastSize {
		return program{}, false
	}
	return program{Path: target, Size: info.Size(), Modified: info.ModTime().UTC()}, true
}

// readTold is the version that was kept of a program.
func readTold(path string, of program) (version string, ok bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	var have told
	if err := json.Unmarshal(text, &have); err != nil || have.program != of {
		return "", false
	}
	return have.Version, have.Version != ""
}

// keepTold writes down what a program told. Where that fails, it is asked again.
func keepTold(path string, t told) {
	if text, err := json.Marshal(t); err == nil {
		_ = file.Replace(path, text, 0o600)
	}
}
