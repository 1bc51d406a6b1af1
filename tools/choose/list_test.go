package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

// What the short tier takes in the lab, in seconds of CPU: at most, and what was last decided. A
// tenth more than that is another decision, which is written down here.
const (
	most    = 1320
	decided = 1210
)

// TestTheShortTierKeepsItsBudget: `make test` takes a quarter of an hour on two processors.
func TestTheShortTierKeepsItsBudget(t *testing.T) {
	sum := 0
	for _, e := range listed(t) {
		sum += e.Short
	}
	assert.Check(t, sum <= most, "the short tier takes %d s of CPU, and may take %d: leave a test to the long one", sum, most)
	assert.Check(t, sum <= decided*11/10, "the short tier takes %d s of CPU, and %d were decided: make it cheaper, or decide anew", sum, decided)
}

// TestEachTestIsInATier: each test of the lab says by its first statement which tier it is in,
// and why, and the list has it there, with what it takes.
func TestEachTestIsInATier(t *testing.T) {
	tests, err := scan("../..")
	assert.NilError(t, err)
	assert.Assert(t, len(tests) > 60, "%d tests were found: the test sees nothing", len(tests))
	entries := map[string]entry{}
	for _, e := range listed(t) {
		entries[e.Package+" "+e.Test] = e
	}
	for _, f := range tests {
		name := f.Package + " " + f.Test
		known := f.Tier == short || f.Tier == part || f.Tier == long
		assert.Check(t, known && f.Calls == 1, "%s: begin it with one of tier.Short, tier.Part and tier.Long", name)
		assert.Check(t, len(strings.Fields(f.Why)) >= 4, "%s does not say why it is in its tier: %q", name, f.Why)
		assert.Check(t, is.Equal(entries[name].Tier, f.Tier), "%s in tools/choose/tests.txt", name)
		delete(entries, name)
	}
	for name := range entries {
		t.Errorf("tools/choose/tests.txt has %s, which is no test", name)
	}
}

// TestTheLongestBeginFirst: of parallel tests Go begins the first one in the order of the files, and
// then the last ones, because closing a channel wakes the last that waits on it first (closechan in
// runtime/chan.go). A long test that begins late is alone at the end of `make test-all`.
func TestTheLongestBeginFirst(t *testing.T) {
	tests, err := scan("../..")
	assert.NilError(t, err)
	tests = slices.DeleteFunc(tests, func(f found) bool { return f.Package != "tests/lab" })
	entries := slices.DeleteFunc(listed(t), func(e entry) bool { return e.Package != "tests/lab" })
	slices.SortFunc(entries, func(a, b entry) int { return b.Wall - a.Wall })
	longest := []string{entries[0].Test, entries[1].Test}
	for _, f := range []found{tests[0], tests[len(tests)-1]} {
		assert.Check(t, slices.Contains(longest, f.Test), "%s begins before one of %v: have their files be the first and the last of %s", f.Test, longest, f.Package)
	}
}

// TestTheListIsWhole: each test takes something, in its tier, and what touches it is there.
func TestTheListIsWhole(t *testing.T) {
	for _, e := range listed(t) {
		assert.Check(t, e.CPU > 0 && e.Wall > 0, "%+v takes nothing", e)
		switch e.Tier {
		case short:
			assert.Check(t, is.Equal(e.Short, e.CPU), e.Test)
			assert.Check(t, is.Len(e.Paths, 0), "%s is run for every change", e.Test)
		case part:
			assert.Check(t, e.Short > 0 && e.Short < e.CPU, "%+v", e)
		default:
			assert.Check(t, is.Equal(e.Short, 0), e.Test)
		}
		for _, path := range e.Paths {
			at, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(path)) + "*")
			assert.Check(t, err == nil && len(at) > 0, "%s is touched by %s, of which there is nothing", e.Test, path)
		}
	}
}

// TestWrite: what is written is what was read.
func TestWrite(t *testing.T) {
	before := files.Read(t, "tests.txt")
	again := filepath.Join(t.TempDir(), "tests.txt")
	assert.NilError(t, write(again, listed(t)))
	assert.Equal(t, files.Read(t, again), before)
}

// TestScan: a test that says nothing, or too much, is found.
func TestScan(t *testing.T) {
	root := t.TempDir()
	const source = `//go:build lab

package x

func TestMain(m *testing.M) {}
func TestA(t *testing.T) { tier.Long(t, "it takes an hour", more()) }
func TestB(t *testing.T) { run(t); tier.Short(t, "too late") }
func TestC(t *testing.T) { tier.Short(t, "one"); tier.Long(t, "two") }
func TestD(t *testing.T) {}
func help(t *testing.T)  {}
`
	files.Write(t, filepath.Join(root, "lab", "x_test.go"), source)
	files.Write(t, filepath.Join(root, "lab", "testdata", "x_test.go"), source)
	files.Write(t, filepath.Join(root, "lab", "unit_test.go"), strings.TrimPrefix(source, "//go:build lab\n"))
	got, err := scan(root)
	assert.NilError(t, err)
	const at = "lab/x_test.go"
	assert.DeepEqual(t, got, []found{
		{"lab", "TestA", at, long, "it takes an hour", 1},
		{"lab", "TestB", at, "", "", 1},
		{"lab", "TestC", at, short, "one", 2},
		{"lab", "TestD", at, "", "", 0},
	})
}

func listed(t *testing.T) []entry {
	t.Helper()
	entries, err := read("tests.txt")
	assert.NilError(t, err)
	return entries
}
