package config

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config/secret"
	"tombolo/tests/files"
)

// TestNamedFile: a cluster file cannot have a file of somebody else's sent anywhere, not
// by a link either. Who runs the program can allow a directory.
func TestNamedFile(t *testing.T) {
	root, outside, allowed := filepath.Join(t.TempDir(), "project"), t.TempDir(), t.TempDir()
	for _, dir := range []string{"clusters", ".git", "secrets"} {
		assert.NilError(t, os.MkdirAll(filepath.Join(root, dir), 0o700))
	}
	for _, file := range []string{
		filepath.Join(root, "Pulumi.yaml"), filepath.Join(root, "secrets", "token"), filepath.Join(root, ".git", "config"),
		filepath.Join(outside, "token"), filepath.Join(allowed, "token"),
	} {
		write(t, filepath.Dir(file), filepath.Base(file), "name: tombolo\n")
	}
	assert.NilError(t, os.Symlink(filepath.Join(outside, "token"), filepath.Join(root, "clusters", "link")))
	assert.NilError(t, os.Symlink(outside, filepath.Join(root, "clusters", "dir")))
	assert.NilError(t, os.Symlink(filepath.Join(outside, "token"), filepath.Join(allowed, "link")))
	t.Setenv(secret.SecretDirs, allowed+string(os.PathListSeparator)+".")
	cluster := filepath.Join(root, "clusters", "demo.yaml")
	for name, want := range map[string]bool{
		"../secrets/token":                true,
		"../secrets/absent":               true,
		filepath.Join(allowed, "token"):   true,
		filepath.Join(allowed, "link"):    false,
		filepath.Join(outside, "token"):   false,
		"../../token":                     false,
		"link":                            false,
		"dir/token":                       false,
		"dir/absent":                      false,
		"../.git/config":                  false,
		"../secrets/../../project/../etc": false,
	} {
		_, err := secret.NamedFile(cluster, name)
		assert.Check(t, is.Equal(err == nil, want), "%s: %v", name, err)
	}
}

// TestLinkedClusterFile: a change cannot have another file of the machine read.
func TestLinkedClusterFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "elsewhere", files.Read(t, baseFile))
	link := filepath.Join(dir, "base.yaml")
	assert.NilError(t, os.Symlink(filepath.Join(dir, "elsewhere"), link))
	_, err := Load(link)
	assert.Check(t, is.ErrorContains(err, "is not a regular file"))
	_, err = LoadDir(dir)
	assert.Check(t, is.ErrorContains(err, "is not a regular file"))
}
