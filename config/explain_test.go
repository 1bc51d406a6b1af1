package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

// What is explained is a cluster file of the same meaning.
func TestExplainedFileMeansTheSame(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "good", "*.yaml"))
	assert.NilError(t, err)
	assert.Assert(t, len(files) > 5)
	dir := filepath.Join(t.TempDir(), "clusters")
	assert.NilError(t, os.Mkdir(dir, 0o700))
	write(t, filepath.Dir(dir), "Pulumi.yaml", "name: tombolo\n") // files are in the project
	t.Setenv("TOMBOLO_SECRET_DIRS", filepath.Join(dir, "..", "secrets"))
	for _, file := range files {
		explained, err := Explain(file)
		assert.NilError(t, err)
		assert.NilError(t, os.WriteFile(filepath.Join(dir, filepath.Base(file)), explained, 0o600))
	}
	for _, file := range files {
		want := loadFile(t, file)
		got := loadFile(t, filepath.Join(dir, filepath.Base(file)))
		got.File, got.Warnings = want.File, want.Warnings // they name places in the file
		assert.DeepEqual(t, got, want)
	}
}

func TestExplain(t *testing.T) {
	for _, name := range []string{"minimal", "spoke", "full", "azure-minimal", "azure-full", "azure-network", "azure-existing"} {
		explained, err := Explain(filepath.Join("testdata", "good", name+".yaml"))
		assert.NilError(t, err)
		golden.Assert(t, string(explained), filepath.Join("explained", name+".yaml"))
	}
}

// Lines fit into 80 columns, but for a value that is longer by itself.
func TestExplainFits(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "good", "*.yaml"))
	assert.NilError(t, err)
	for _, file := range files {
		explained, err := Explain(file)
		assert.NilError(t, err)
		for line := range strings.Lines(string(explained)) {
			value, comment, beside := strings.Cut(strings.TrimRight(line, "\n"), " # ")
			if len(line) > 81 && (beside || strings.HasPrefix(strings.TrimSpace(value), "#")) {
				t.Errorf("%s: %d characters, with the comment %q: %s", file, len(line)-1, comment, line)
			}
		}
		again, err := Explain(file)
		assert.NilError(t, err)
		assert.Equal(t, string(again), string(explained))
	}
}

func TestExplainAWrongFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "wrong.yaml")
	assert.NilError(t, os.WriteFile(file, []byte("version: 1\nnam: wrong\n"), 0o600))
	_, err := Explain(file)
	assert.ErrorContains(t, err, "did you mean \"name\"?")
}
