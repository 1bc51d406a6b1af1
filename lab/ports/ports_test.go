package ports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lab", "ports.json")
	b, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]string{}
	for _, name := range []string{"a", "b", "c"} {
		port, err := b.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if other := seen[port]; other != "" || port < first || port >= last {
			t.Errorf("port %d of %s is %s's too, or out of range", port, name, other)
		}
		seen[port] = name
	}
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for port, name := range seen {
		if got, err := again.Get(name); err != nil || got != port {
			t.Errorf("%s has port %d after opening again (%v), was %d", name, got, err, port)
		}
	}
}

func TestOpenFailsOnADamagedBook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ports.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path)
	if err == nil || !strings.Contains(err.Error(), "run `tombolo lab down`, then `tombolo lab up`") {
		t.Errorf("error %v", err)
	}
}
