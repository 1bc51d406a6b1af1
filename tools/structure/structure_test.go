package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestBack(t *testing.T) {
	for name, tt := range map[string]struct {
		size  int
		edges [][2]int
		back  int
	}{
		"nothing":                  {size: 3},
		"a line":                   {size: 3, edges: [][2]int{{2, 1}, {1, 0}, {2, 0}}},
		"a circle":                 {size: 3, edges: [][2]int{{0, 1}, {1, 2}, {2, 0}}, back: 1},
		"two that need each other": {size: 2, edges: [][2]int{{0, 1}, {1, 0}}, back: 1},
		"one in the way":           {size: 4, edges: [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {2, 3}, {3, 0}}, back: 1},
		"two circles":              {size: 4, edges: [][2]int{{0, 1}, {1, 0}, {2, 3}, {3, 2}, {0, 2}, {1, 3}}, back: 2},
	} {
		g := newGraph(tt.size)
		for _, e := range tt.edges {
			g.add(e[0], e[1])
		}
		if got := g.back(); got != tt.back || g.arrows() != len(tt.edges) {
			t.Errorf("%s: %d of %d go back, want %d of %d", name, got, g.arrows(), tt.back, len(tt.edges))
		}
	}
}

// TestMeasure: functions, methods and fields count, what is local does not, and
// neither do tests.
func TestMeasure(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module tombolo\n\ngo 1.26\n",
		"a.go":      "package room\n\ntype A struct{ n int }\n\nfunc (a A) Get() int { return help(a.n) }\n",
		"b.go":      "package room\n\nfunc help(n int) int { m := n; return m }\n",
		"c.go":      "package room\n\nfunc Use(a A) int { return a.Get() + a.n }\n",
		"a_test.go": "package room\n\nvar _ = help\n",
	} {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	t.Chdir(dir)
	var out bytes.Buffer
	assert.NilError(t, run(nil, &out))
	const want = "| tombolo | 3 | 11 | 3 | 2 | 0 |\n"
	if !strings.Contains(out.String(), want) {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestWhatDoesNotCompile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module tombolo\n\ngo 1.26\n", "a.go": "package room\n\nvar a = b\n"} {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	t.Chdir(dir)
	assert.Check(t, is.Error(run(nil, new(bytes.Buffer)), "loading packages: some do not compile"))
}
