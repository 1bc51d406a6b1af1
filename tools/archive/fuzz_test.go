package archive

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/tests/bounded"
)

// FuzzExtract extracts any archive: nothing is made outside of the directory.
func FuzzExtract(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"))
	f.Fuzz(func(t *testing.T, text []byte) {
		above := t.TempDir()
		dir := filepath.Join(above, "dir")
		assert.NilError(t, os.Mkdir(dir, 0o755))
		bounded.Read(t, func() { _ = Extract(bytes.NewReader(text), dir) })
		entries, err := os.ReadDir(above)
		assert.NilError(t, err)
		assert.Equal(t, len(entries), 1)
	})
}
