package approval

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/config"
	"tombolo/tests/files"
)

// TestFilesOfAPlan: a plan holds to the files that a cluster has its settings from, and without shared
// ones it is as it was before there were any.
func TestFilesOfAPlan(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile("../../config/testdata/good/minimal.yaml")
	assert.NilError(t, err)
	files.Write(t, filepath.Join(dir, "minimal.yaml"), string(text))
	load := func() *config.Cluster {
		c, err := config.Load(filepath.Join(dir, "minimal.yaml"))
		assert.NilError(t, err)
		return c
	}
	before, err := Files(load())
	assert.NilError(t, err)
	assert.Assert(t, before.Shared == nil && before.File != "" && before.Hub == "")
	files.Write(t, filepath.Join(dir, "_dev.yaml"), "protect: true\n")
	with, err := Files(load())
	assert.NilError(t, err)
	assert.Equal(t, len(with.Shared), 1)
	assert.Equal(t, with.File, before.File)
	files.Write(t, filepath.Join(dir, "_dev.yaml"), "protect: false\n")
	other, err := Files(load())
	assert.NilError(t, err)
	assert.Assert(t, other.Shared["_dev.yaml"] != with.Shared["_dev.yaml"])
}
