package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		if got := len(g.back()); got != tt.back || g.arrows() != len(tt.edges) {
			t.Errorf("%s: %d of %d go back, want %d of %d", name, got, g.arrows(), tt.back, len(tt.edges))
		}
	}
}

// TestMeasure: functions, methods and fields count, what is local does not, and
// neither do tests.
func TestMeasure(t *testing.T) {
	got, err := structure(t, map[string]string{
		"a.go":      "package room\n\ntype A struct{ n int }\n\nfunc (a A) Get() int { return help(a.n) }\n",
		"b.go":      "package room\n\nfunc help(n int) int { m := n; return m }\n",
		"c.go":      "package room\n\nfunc Use(a A) int { return a.Get() + a.n }\n",
		"a_test.go": "package room\n\nvar _ = help\n",
	})
	if want := "| tombolo | 3 | 11 | 3 | 2 | 0 |\n"; err != nil || !strings.Contains(got, want) {
		t.Errorf("got\n%s\n%v, want\n%s", got, err, want)
	}
}

// TestList: of a circle, the arrow that is alone against two others is written.
func TestList(t *testing.T) {
	got, err := structure(t, map[string]string{
		"a.go": "package room\n\nfunc a(n int) int { return b(n) + c(n) }\n\ntype deep struct{ n int }\n",
		"b.go": "package room\n\nfunc b(n int) int { return c(n) }\n",
		"c.go": "package room\n\nfunc c(n int) int { return a(deep{n}.n) }\n",
	}, "-list")
	if want := "| in all | 3 | 11 | 0 | 4 | 1 |\n\ntombolo\n  c.go → a.go: a, deep, n\n"; err != nil || !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\n%v, want it to end\n%s", got, err, want)
	}
}

func TestWhatDoesNotCompile(t *testing.T) {
	_, err := structure(t, map[string]string{"a.go": "package room\n\nvar a = b\n"})
	if err == nil || err.Error() != "loading packages: some do not compile" {
		t.Errorf("error %v", err)
	}
}

// structure is what the command writes of a module of one package.
func structure(t *testing.T, files map[string]string, args ...string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module tombolo\n\ngo 1.26\n"
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var out bytes.Buffer
	err := run(args, &out)
	return out.String(), err
}
