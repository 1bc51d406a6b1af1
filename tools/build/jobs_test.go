package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
	"tombolo/tools/archive"
)

// TestPackJobs: one archive has what jobs run, with its checksum, under a name that has the version
// alone; without one of its groups there is none.
func TestPackJobs(t *testing.T) {
	to, list := t.TempDir(), []released(nil)
	for _, g := range sets()["jobs"] {
		list = append(list, released{Group: g.name, Name: g.name + ".tar.gz"})
		dir := t.TempDir()
		assert.NilError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o755))
		assert.NilError(t, os.WriteFile(filepath.Join(dir, "bin", g.name), []byte(g.name), 0o755))
		entries, err := archive.Directory(dir, "")
		assert.NilError(t, err)
		file, err := os.Create(filepath.Join(to, g.name+".tar.gz"))
		assert.NilError(t, err)
		assert.NilError(t, archive.Compressed(file, entries, time.Unix(0, 0)))
		assert.NilError(t, file.Close())
	}
	assert.NilError(t, packJobs(list[1:], to, "v1.2.3", "linux/amd64"))
	made, err := filepath.Glob(filepath.Join(to, "tombolo-tools*"))
	assert.NilError(t, err)
	assert.Check(t, is.Len(made, 0))

	assert.NilError(t, packJobs(list, to, "v1.2.3", "linux/amd64"))
	const name = "tombolo-tools_1.2.3_linux_amd64.tar.gz"
	first := files.Read(t, filepath.Join(to, name+".sha256"))
	assert.Check(t, is.Regexp("^[0-9a-f]{64}  "+name+"\n$", first))
	dir := t.TempDir()
	assert.NilError(t, unpack(filepath.Join(to, name), dir))
	for _, r := range list {
		text, err := os.ReadFile(filepath.Join(dir, "bin", r.Group))
		assert.Check(t, err == nil && string(text) == r.Group, "%s: %q, error %v", r.Group, text, err)
	}
	assert.NilError(t, packJobs(list, to, "v1.2.3", "linux/amd64"))
	assert.Equal(t, files.Read(t, filepath.Join(to, name+".sha256")), first)
}
