package aws

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// Stored lists what a Cloud has left in dir and would find there again, in the
// order of Inventory. It changes nothing; a directory that does not exist holds
// nothing.
func Stored(dir string) ([]Item, error) {
	s := &store{dir: filepath.Join(dir, "resources"), records: map[string]*record{}}
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		return s.load(path)
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the state of the AWS stand-in: %w", err)
	}
	return (&Cloud{store: s}).Inventory(), nil
}
