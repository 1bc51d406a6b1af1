package clusters

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestClusterFilesStayInTheProject: a directory of cluster files that is a link out of the
// project is not read, neither its names nor its files.
func TestClusterFilesStayInTheProject(t *testing.T) {
	dir := t.TempDir()
	project, secret := filepath.Join(dir, "project"), filepath.Join(dir, "secret")
	assert.NilError(t, os.MkdirAll(project, 0o755))
	assert.NilError(t, os.MkdirAll(secret, 0o755))
	assert.NilError(t, os.WriteFile(filepath.Join(project, "Pulumi.yaml"), []byte("name: tombolo\n"), 0o600))
	assert.NilError(t, os.WriteFile(filepath.Join(secret, "hunter2.yaml"), []byte("hunter2: hunter2\n"), 0o600))
	assert.NilError(t, os.Symlink(secret, filepath.Join(project, "clusters")))
	_, err := Known(project)
	assert.Check(t, is.ErrorContains(err, "clusters is a link out of the project"))
	assert.NilError(t, os.Mkdir(filepath.Join(project, "more"), 0o755))
	assert.NilError(t, os.Symlink(secret, filepath.Join(project, "more", "clusters")))
	_, err = Load([]string{filepath.Join(project, "more", "clusters", "hunter2.yaml")})
	assert.Check(t, is.ErrorContains(err, "clusters is a link out of the project"))
}
