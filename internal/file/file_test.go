package file

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "page.html")
	for _, tt := range []struct {
		content string
		mode    os.FileMode
	}{{"first", 0o600}, {"second", 0o644}, {"", 0o755}} {
		assert.NilError(t, Replace(path, []byte(tt.content), tt.mode))
		content, err := os.ReadFile(path)
		assert.Check(t, err == nil && string(content) == tt.content, "the file holds %q, %v; expected %q", content, err, tt.content)
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != tt.mode {
			t.Errorf("the file's mode is %v, %v; expected %v", info.Mode(), err, tt.mode)
		}
	}
	alone(t, dir, "page.html")
}

// TestReplaceFails: a file that cannot be replaced leaves nothing beside it.
func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	assert.NilError(t, os.MkdirAll(filepath.Join(taken, "inside"), 0o755))
	assert.Check(t, Replace(taken, nil, 0o644) != nil, "it replaces a directory")
	alone(t, dir, "taken")
	if err := Replace(filepath.Join(dir, "nowhere", "page.html"), nil, 0o644); !os.IsNotExist(err) {
		t.Errorf("without the directory, it fails with %v", err)
	}
}

// TestCreate makes a file once, and leaves one that is there.
func TestCreate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "demo.yaml")
	assert.NilError(t, Create(path, []byte("first"), 0o600))
	assert.ErrorIs(t, Create(path, []byte("second"), 0o600), fs.ErrExist)
	content, err := os.ReadFile(path)
	assert.NilError(t, err)
	assert.Equal(t, string(content), "first")
	alone(t, dir, "demo.yaml")
	assert.ErrorIs(t, Create(filepath.Join(dir, "nowhere", "demo.yaml"), nil, 0o600), fs.ErrNotExist)
}

// alone expects a directory to hold one thing.
func alone(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	assert.Check(t, err == nil && len(entries) == 1 && entries[0].Name() == name, "the directory holds %v, %v; expected %s alone", entries, err, name)
}
