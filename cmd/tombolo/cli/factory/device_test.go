package factory

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/automation/backend"
	"tombolo/internal/file"
)

// TestProjectFileIsAFile: a Pulumi.yaml of a checkout that is a link to a device or a pipe
// is not read, and one that leads out of the checkout neither.
func TestProjectFileIsAFile(t *testing.T) {
	dir := t.TempDir()
	project := filepath.Join(dir, "project")
	assert.NilError(t, os.Mkdir(project, 0o755))
	pipe := filepath.Join(dir, "pipe")
	assert.NilError(t, syscall.Mkfifo(pipe, 0o600))
	large := filepath.Join(project, "large")
	assert.NilError(t, os.WriteFile(large, nil, 0o600))
	assert.NilError(t, os.Truncate(large, 1<<40))
	for _, to := range []string{"/dev/zero", pipe, "/etc/passwd", large} {
		at := filepath.Join(project, "Pulumi.yaml")
		_ = os.Remove(at)
		assert.NilError(t, os.Symlink(to, at))
		_, err := isProject(project)
		assert.Check(t, err != nil, to)
		search := backend.Search{Root: project, Home: func() (string, error) { return dir, nil }, Getenv: func(string) string { return "" }}
		_, err = search.Find()
		assert.Check(t, err != nil, to)
		if to == "/etc/passwd" {
			var leaves *file.LeavesError
			assert.Check(t, errors.As(err, &leaves))
		}
	}
}
