package record

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/tests/files"
)

// TestRecord: a test has passed with the inputs with which it passed, for two weeks.
func TestRecord(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	r, err := Of("TestX", "a", "b")
	assert.NilError(t, err)
	_, ok := r.Passed()
	assert.Check(t, !ok, "it has passed before it ran")
	assert.NilError(t, r.Keep())
	at, ok := r.Passed()
	assert.Check(t, ok && time.Since(at) < time.Minute, "passed %t, at %s", ok, at)

	for _, inputs := range [][]string{{"a"}, {"a", "c"}, {"b", "a"}} {
		other, err := Of("TestX", inputs...)
		assert.NilError(t, err)
		_, ok = other.Passed()
		assert.Check(t, !ok, "it has passed with %v", inputs)
	}
	other, err := Of("TestY", "a", "b")
	assert.NilError(t, err)
	_, ok = other.Passed()
	assert.Check(t, !ok, "another test has passed")

	r.now = func() time.Time { return time.Now().Add(age + time.Minute) }
	_, ok = r.Passed()
	assert.Check(t, !ok, "it counts for ever")
	later := other
	later.now = r.now
	assert.NilError(t, later.Keep())
	_, err = os.Stat(filepath.Join(r.dir, r.key))
	assert.Check(t, os.IsNotExist(err), "an old record stays: %v", err)
}

// TestBrokenRecord: what cannot be read is no record.
func TestBrokenRecord(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	r, err := Of("TestX")
	assert.NilError(t, err)
	for _, text := range []string{"", "TestX", "TestX yesterday", "TestY " + time.Now().UTC().Format(time.RFC3339)} {
		files.Write(t, filepath.Join(r.dir, r.key), text)
		_, ok := r.Passed()
		assert.Check(t, !ok, "%q is a record", text)
	}
}

// TestInputs: a change of a program, a tree, a tool or the package's data is another input;
// what no test of the lab reads is none.
func TestInputs(t *testing.T) {
	root := t.TempDir()
	t.Chdir(filepath.Join(mkdir(t, root, "tests", "lab")))
	inputs := func() string {
		t.Helper()
		got, err := Inputs(root)
		assert.NilError(t, err)
		return got
	}
	before := inputs()
	for _, name := range []string{"bin/tombolo", "platform/flux/a.yaml", "clusters/demo.yaml", "tests/lab/testdata/a.yaml", "cmd/program/main.go"} {
		files.Write(t, filepath.Join(root, filepath.FromSlash(name)), "one")
		with := inputs()
		assert.Check(t, with != before, "%s is no input", name)
		files.Write(t, filepath.Join(root, filepath.FromSlash(name)), "another")
		before = inputs()
		assert.Check(t, with != before, "the content of %s is no input", name)
	}
	tool := filepath.Join(mkdir(t, root, ".tools", "bin"), "pulumi")
	for _, key := range []string{"pulumi-1", "pulumi-2"} {
		_ = os.Remove(tool)
		assert.NilError(t, os.Symlink(filepath.Join("cache", key, "bin", "pulumi"), tool))
		assert.Check(t, inputs() != before, key)
		before = inputs()
	}
	for _, name := range []string{"README.md", "clusters/Pulumi.demo-core.yaml", "platform/tree_test.go", ".tools/bin/golangci-lint"} {
		files.Write(t, filepath.Join(root, filepath.FromSlash(name)), "one")
		assert.Equal(t, inputs(), before, name)
	}
}

func mkdir(t *testing.T, parts ...string) string {
	t.Helper()
	dir := filepath.Join(parts...)
	assert.NilError(t, os.MkdirAll(dir, 0o755))
	return dir
}
