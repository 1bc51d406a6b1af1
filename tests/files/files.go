// Package files writes files for tests.
package files

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// Write gives a file its content, and makes its directory.
func Write(t *testing.T, file, content string) {
	t.Helper()
	assert.NilError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	assert.NilError(t, os.WriteFile(file, []byte(content), 0o644))
}
