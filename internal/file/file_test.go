package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
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
	err := Replace(filepath.Join(dir, "nowhere", "page.html"), nil, 0o644)
	assert.Check(t, os.IsNotExist(err), "without the directory, it fails with %v", err)
}

// TestCreate makes a file once, and leaves one that is there.
func TestCreate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "demo.yaml")
	assert.NilError(t, Create(path, []byte("first"), 0o600))
	assert.ErrorIs(t, Create(path, []byte("second"), 0o600), fs.ErrExist)
	assert.Equal(t, files.Read(t, path), "first")
	alone(t, dir, "demo.yaml")
	assert.ErrorIs(t, Create(filepath.Join(dir, "nowhere", "demo.yaml"), nil, 0o600), fs.ErrNotExist)
}

// alone expects a directory to hold one thing.
func alone(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	assert.Check(t, err == nil && len(entries) == 1 && entries[0].Name() == name, "the directory holds %v, %v; expected %s alone", entries, err, name)
}

// TestInside: links stay in the project that they are in; those of the machine and those to
// where somebody stands are not looked at.
func TestInside(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"p/.git", "p/sub/.git", "p/a/b", "other/x", "plain"} {
		assert.NilError(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	for link, to := range map[string]string{
		"p/out": "../other", "p/in": "a", "p/sub/up": "../a", "p/git": ".git", "p/chain": "out", "p/a/abs": dir + "/other", "p/a/back": dir + "/p/a",
		"to-p": "p", "plain/out": "../other", "p/none": "nowhere",
	} {
		assert.NilError(t, os.Symlink(to, filepath.Join(dir, link)))
	}
	leaves := func(path string) bool {
		var l *LeavesError
		err := Inside(path)
		assert.Check(t, err == nil || errors.As(err, &l), "%s: %v", path, err)
		return err != nil
	}
	for path, want := range map[string]bool{
		"p/out": true, "p/out/x": true, "p/in/b": false, "p/sub/up": true, "p/git": true, "p/git/config": true, "p/chain": true, "p/a/abs": true,
		"p/a/back/abs/x": true, "p/a/back": false, "to-p/a": false, "to-p/out": true, "plain/out": false, "p/none": false, "p/none/x": false, "p/.git": false,
		"p/in/../out": true, "p/in/../../plain": false,
	} {
		assert.Check(t, is.Equal(leaves(dir+"/"+path), want), path)
	}
	t.Chdir(filepath.Join(dir, "p", "out"))
	assert.Assert(t, !leaves("x"))
	t.Setenv("PWD", filepath.Join(dir, "p", "out"))
	assert.Assert(t, !leaves("x"))
	assert.Assert(t, leaves("../p/out"))
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path, pipe := filepath.Join(dir, "text"), filepath.Join(dir, "pipe")
	assert.NilError(t, os.WriteFile(path, []byte("1234"), 0o600))
	assert.NilError(t, syscall.Mkfifo(pipe, 0o600))
	text, err := Read(path, 4)
	assert.NilError(t, err)
	assert.Equal(t, string(text), "1234")
	for name, want := range map[string]string{
		path:        "text has over 3 bytes",
		pipe:        "pipe is not a regular file",
		dir:         "is not a regular file",
		"/dev/zero": "/dev/zero is not a regular file",
	} {
		_, err := Read(name, 3)
		assert.ErrorContains(t, err, want)
	}
	_, err = ReadAny("/dev/zero", 3)
	assert.Error(t, err, "zero has over 3 bytes")
	text, err = ReadAny(path, 4)
	assert.NilError(t, err)
	assert.Equal(t, string(text), "1234")
}

// TestMatching: a directory whose name looks like a pattern is found, and what cannot be read is no empty one.
func TestMatching(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[1]*")
	assert.NilError(t, os.MkdirAll(dir, 0o755))
	for _, name := range []string{"b.yaml", "a.yaml", "c.json"} {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	got, err := Matching(filepath.Join(dir, "*.yaml"))
	assert.NilError(t, err)
	assert.DeepEqual(t, got, []string{filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.yaml")})
	got, err = Matching(filepath.Join(dir, "none", "*"))
	assert.Check(t, err == nil && got == nil, "%v, %v", got, err)
	_, err = Matching(filepath.Join(dir, "a.yaml", "*"))
	assert.ErrorContains(t, err, "not a directory")
}
