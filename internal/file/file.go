// Package file makes and replaces files as a whole.
package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace gives the file at path a new content and mode in one step: who reads
// it meanwhile, or after a crash, finds the old or the new content. Its
// directory must exist.
func Replace(path string, content []byte, mode fs.FileMode) error {
	// With the dot, nobody who lists the directory takes it for one of its files.
	next, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = next.Write(content)
	err = errors.Join(err, next.Chmod(mode), next.Sync(), next.Close())
	if err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}

// Create makes a file that is not there yet. Where there is one, it stays as it is, and the
// error is fs.ErrExist. A file that could not be written to its end is removed. Its
// directory must exist.
func Create(path string, content []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
