package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

// TestProgram builds the program of a checkout, and says what was built, and why not.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	files.Write(t, filepath.Join(dir, "go.mod"), "module tombolo\n\ngo 1.26\n")
	main := filepath.Join(dir, "cmd", "tombolo", "main.go")
	files.Write(t, main, program)
	for _, name := range []string{"tombolo-lab", "lab-aws"} {
		files.Write(t, filepath.Join(dir, "cmd", name, "main.go"), program)
	}
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	assert.NilError(t, err)
	defer said.Close()

	assert.NilError(t, run(t.Context(), []string{"-for", "program"}, said))
	assert.Equal(t, files.Read(t, filepath.Join(dir, ".tools", "goflags")), os.Getenv("GOFLAGS")+"\n")
	for _, name := range []string{"tombolo", "tombolo-lab", "lab-aws", "tombolo-program"} {
		assert.NilError(t, exec.Command(filepath.Join(dir, "bin", name)).Run())
	}
	assert.Check(t, is.Regexp(`(?s)^► building bin/tombolo\n.*✔ built bin/tombolo in \d+s\n$`, files.Read(t, said.Name())))

	files.Write(t, main, "package main\n\nfunc main() { missing() }\n")
	err = run(t.Context(), []string{"-for", "program"}, said)
	assert.Check(t, is.ErrorContains(err, "building bin/tombolo: go: exit status 1"))
	assert.Check(t, is.ErrorContains(err, "undefined: missing"))
}
