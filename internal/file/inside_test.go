package file

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

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
		if got := leaves(dir + "/" + path); got != want {
			t.Errorf("%s leaves its project: %v", path, got)
		}
	}
	t.Chdir(filepath.Join(dir, "p", "out"))
	assert.Assert(t, !leaves("x"))
	t.Setenv("PWD", filepath.Join(dir, "p", "out"))
	assert.Assert(t, !leaves("x"))
	assert.Assert(t, leaves("../p/out"))
}
