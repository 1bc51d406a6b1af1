package ports

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// TestClaim: a port of another lab that is there is left to it, whether something listens on
// it or not.
func TestClaim(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir()) // the cache of other systems is below it
	open := func() (*Book, string) {
		path := filepath.Join(t.TempDir(), "ports.json")
		b, err := Open(path)
		assert.NilError(t, err)
		return b, path
	}
	ours, path := open()
	theirs, _ := open()
	port, err := ours.Get("a")
	assert.NilError(t, err)
	assert.Check(t, !theirs.claim(port), "a port of another lab is taken")
	assert.Check(t, ours.claim(port))
	assert.NilError(t, os.Remove(path))
	assert.Check(t, theirs.claim(port), "the port of a lab that is gone is kept for it")
	assert.Check(t, ours.claim(port), "the book that claimed it does not list it")

	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	assert.Check(t, theirs.claim(port), "no port is had where no notes can be kept")
}
