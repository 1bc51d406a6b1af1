package backend

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// A CLI that is killed while it writes a file's attributes leaves them empty.
func TestUnfinishedAttributesAreRemoved(t *testing.T) {
	b := newBench(t)
	write := func(content string, path ...string) string {
		file := filepath.Join(append([]string{b.dir, ".pulumi"}, path...)...)
		assert.NilError(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600)))
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
	assert.NilError(t, b.ReleaseLocks(t.Context(), "demo-core"))
	for _, file := range broken {
		_, err := os.Stat(file)
		assert.Check(t, errors.Is(err, fs.ErrNotExist), "%s is still there: %v", file, err)
	}
	for _, file := range kept {
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%s was touched: %v", file, err)
		}
	}
	assert.DeepEqual(t, b.notes, []string{
		"note demo-core: recovered: removed attributes of demo-core.json that were not written to their end",
		"note demo-core: recovered: removed attributes of demo-core.json.bak that were not written to their end",
	})
}
