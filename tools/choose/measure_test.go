package main

import (
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/files"
)

// TestRecordRun: tests that passed have the times of the run, and their part of its CPU; others
// keep what they have.
func TestRecordRun(t *testing.T) {
	t.Chdir(t.TempDir())
	run := filepath.Join(t.TempDir(), "run.json")
	files.Write(t, run, `{"Action":"run","Package":"tombolo/tests/lab","Test":"A"}
{"Action":"pass","Package":"tombolo/tests/lab","Test":"A/sub","Elapsed":20}
{"Action":"pass","Package":"tombolo/tests/lab","Test":"A","Elapsed":29.5}
{"Action":"skip","Package":"tombolo/tests/lab","Test":"B","Elapsed":0}
{"Action":"pass","Package":"tombolo/automation","Test":"C","Elapsed":10}
{"Action":"pass","Package":"tombolo/tests/lab","Elapsed":300}
`)
	entries := append(of(60, "A", "B"), entry{Package: "automation", Test: "C", Tier: short, CPU: 1, Short: 1, Wall: 1})
	files.Write(t, list, "")
	assert.NilError(t, recordRun(entries, run, 79))
	got, err := read(list)
	assert.NilError(t, err)
	want := append([]entry{{Package: "automation", Test: "C", Tier: short, CPU: 20, Short: 20, Wall: 10}}, of(60, "A", "B")...)
	want[1].CPU, want[1].Wall = 59, 30
	assert.DeepEqual(t, got, want)
	assert.Check(t, is.ErrorContains(recordRun(entries, "none.json", 0), "reading the run: "))
}

func TestWorked(t *testing.T) {
	got, err := workedOf("cpu  100 20 30 4000 500 6 7 0 0 0\ncpu0 1 2 3\n")
	assert.NilError(t, err)
	assert.Equal(t, got, 1630*time.Millisecond)
	_, err = workedOf("intr 1")
	assert.Check(t, is.ErrorContains(err, "/proc/stat has another form"))
}

// TestSet: a part of a test in the short tier is measured apart.
func TestSet(t *testing.T) {
	e := entry{Tier: part, CPU: 100, Short: 10}
	e.set(20, true)
	e.set(90, false)
	assert.DeepEqual(t, e, entry{Tier: part, CPU: 90, Short: 20})
}
