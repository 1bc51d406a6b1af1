//go:build !windows

package pulumicli

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestVersionIsKept: a program that told its version is not run to tell it again, and the
// one that takes its place is.
func TestVersionIsKept(t *testing.T) {
	p := script(t, "echo v3.999.0")
	path, err := LookPath("pulumi", p.Getenv("PATH"))
	assert.NilError(t, err)
	// It is no script, and cannot run.
	put := func(text string, size int64) {
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o755))
		assert.NilError(t, os.Truncate(path, size))
	}
	put("\x7fELF of a test", leastSize)
	file, known := programAt(path)
	assert.Check(t, known)
	keepTold(filepath.Join(p.WorkDir, versionFile), told{program: file, Version: "v3.998.0"})

	command, err := New(p.Options).Program(t.Context())
	assert.NilError(t, err)
	assert.Equal(t, command.Version().String(), "3.998.0")

	put("\x7fELF of another test", leastSize+1)
	_, err = New(p.Options).Program(t.Context())
	assert.Check(t, is.ErrorContains(err, "does not run"))
}

// TestVersionIsAskedFor: what may run one CLI today and another tomorrow is asked each time.
func TestVersionIsAskedFor(t *testing.T) {
	p := script(t, "echo v3.999.0")
	_, err := p.Program(t.Context())
	assert.NilError(t, err)
	_, err = os.Stat(filepath.Join(p.WorkDir, versionFile))
	assert.Check(t, os.IsNotExist(err), "a script's version is kept")

	dir := t.TempDir()
	manager, link := filepath.Join(dir, "manager"), filepath.Join(dir, "pulumi")
	assert.NilError(t, os.WriteFile(manager, []byte("\x7fELF of a version manager"), 0o755))
	assert.NilError(t, os.Truncate(manager, leastSize))
	assert.NilError(t, os.Symlink(manager, link))
	_, known := programAt(link)
	assert.Check(t, !known, "a link to another program is taken for the CLI")

	small := filepath.Join(t.TempDir(), "pulumi")
	assert.NilError(t, os.WriteFile(small, []byte("\x7fELF of a version manager"), 0o755))
	_, known = programAt(small)
	assert.Check(t, !known, "a small program is taken for the CLI")
}
