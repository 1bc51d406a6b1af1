package lab

import (
	"os"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/tests/files"
)

// TestFlagsOfGo: what is compiled in the lab has the flags of the checkout, unless the user has set some.
func TestFlagsOfGo(t *testing.T) {
	t.Setenv("GOFLAGS", "") // put back afterwards
	assert.NilError(t, os.Unsetenv("GOFLAGS"))
	p := Open(t.TempDir()).paths()
	assert.Equal(t, p.flagsOfGo(), "")
	files.Write(t, p.compilerFlags(), "-trimpath '-gcflags=all=-dwarf=false -l'\n")
	assert.Equal(t, p.flagsOfGo(), "-trimpath '-gcflags=all=-dwarf=false -l'")
	t.Setenv("GOFLAGS", "-mod=readonly")
	assert.Equal(t, p.flagsOfGo(), "")
}
