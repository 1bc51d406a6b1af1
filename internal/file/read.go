package file

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// What is read of a file at most, in bytes.
const (
	// MostText is the limit of a cluster file, and of others that people write: ten times the longest
	// that is known.
	MostText = 256 << 10
	// MostManifest is the limit of an install manifest or a packed chart, which have 0.5 to 3 MB.
	MostManifest = 16 << 20
)

// Read returns the content of a regular file of at most so many bytes, after
// links. It neither waits for a pipe nor reads a device.
func Read(path string, most int64) (_ []byte, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return atMost(f, most)
}

// ReadAny is Read for what somebody names who may name a pipe or a device, too. It waits for a
// pipe.
func ReadAny(path string, most int64) (_ []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return atMost(f, most)
}

func atMost(f *os.File, most int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(content)) > most {
		return nil, fmt.Errorf("%s has over %d bytes", filepath.Base(f.Name()), most)
	}
	return content, err
}
