package file

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
)

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
