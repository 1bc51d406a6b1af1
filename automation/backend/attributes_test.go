package backend

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A CLI that is killed while it writes a file's attributes leaves them empty.
func TestUnfinishedAttributesAreRemoved(t *testing.T) {
	b := newBench(t)
	write := func(content string, path ...string) string {
		file := filepath.Join(append([]string{b.dir, ".pulumi"}, path...)...)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
		return file
	}
	broken := []string{
		write("", "stacks", "tombolo", "demo-core.json.attrs"),
		write(`{"user.cache_control":"`, "stacks", "tombolo", "demo-core.json.bak.attrs"),
	}
	kept := []string{
		write(`{"md5":"xIk="}`, "meta.yaml.attrs"),
		write("{}", "stacks", "tombolo", "demo-core.json"),
		write("", "stacks", "tombolo", "other-core.json.attrs"),
	}
	if err := b.ReleaseLocks(t.Context(), "demo-core"); err != nil {
		t.Fatal(err)
	}
	for _, file := range broken {
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", file, err)
		}
	}
	for _, file := range kept {
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%s was touched: %v", file, err)
		}
	}
	want := []string{
		"note demo-core: recovered: removed attributes of demo-core.json that were not written to their end",
		"note demo-core: recovered: removed attributes of demo-core.json.bak that were not written to their end",
	}
	if diff := cmp.Diff(want, b.notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}
