// Package files writes files for tests, and gives their checkouts the tools.
package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// Write gives a file its content, and makes its directory.
func Write(t *testing.T, file, content string) {
	t.Helper()
	assert.NilError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	assert.NilError(t, os.WriteFile(file, []byte(content), 0o644))
}

// Tools gives a checkout the built tools of another one. Programs are links; what a cluster
// file names, which has to be in its project, is copied.
func Tools(to, from string) error {
	entries, err := os.ReadDir(filepath.Join(from, ".tools"))
	err = errors.Join(err, os.Mkdir(filepath.Join(to, ".tools"), 0o755))
	for _, e := range entries {
		source, target := filepath.Join(from, ".tools", e.Name()), filepath.Join(to, ".tools", e.Name())
		if e.Name() == "share" {
			err = errors.Join(err, os.CopyFS(target, os.DirFS(source)))
			continue
		}
		err = errors.Join(err, os.Symlink(source, target))
	}
	return err
}
