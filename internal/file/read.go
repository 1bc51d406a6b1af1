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
	// MostText is the limit of a cluster file, and of others that people write: that of a ConfigMap.
	MostText = 1 << 20
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
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(content)) > most {
		return nil, fmt.Errorf("%s has over %d bytes", filepath.Base(path), most)
	}
	return content, err
}
