package ports

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestBook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lab", "ports.json")
	b, err := Open(path)
	assert.NilError(t, err)
	seen := map[int]string{}
	for _, name := range []string{"a", "b", "c"} {
		port, err := b.Get(name)
		assert.NilError(t, err)
		if other := seen[port]; other != "" || port < first || port >= last {
			t.Errorf("port %d of %s is %s's too, or out of range", port, name, other)
		}
		seen[port] = name
	}
	again, err := Open(path)
	assert.NilError(t, err)
	for port, name := range seen {
		if got, err := again.Get(name); err != nil || got != port {
			t.Errorf("%s has port %d after opening again (%v), was %d", name, got, err, port)
		}
	}
}

func TestOpenFailsOnADamagedBook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ports.json")
	assert.NilError(t, os.WriteFile(path, []byte("{"), 0o600))
	_, err := Open(path)
	assert.Check(t, is.ErrorContains(err, "run `tombolo lab down`, then `tombolo lab up`"))
}
