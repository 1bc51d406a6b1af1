package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestThreatsHaveTests holds the table of threats to the tests that it names: each
// row has one at least, and each is there.
func TestThreatsHaveTests(t *testing.T) {
	page, err := os.ReadFile("../docs/guide/security.md")
	assert.NilError(t, err)
	there := testNames(t)
	named := regexp.MustCompile("`([^`]+)`")
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "| T") || len(cells) != 4 {
			continue
		}
		rows++
		tests := named.FindAllStringSubmatch(cells[3], -1)
		if len(tests) == 0 {
			t.Errorf("no test: %s", line)
		}
		for _, test := range tests {
			if !there[test[1]] {
				t.Errorf("there is no test %s, of the threat %s", test[1], cells[0])
			}
		}
	}
	if rows < 20 {
		t.Errorf("the table has %d threats, and 20 were found", rows)
	}
}

// testNames are the tests of the whole project, and its scripts by their file names.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != ".." && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".txtar"):
			names[d.Name()] = true
		case strings.HasSuffix(path, "_test.go"):
			return addTests(names, path)
		}
		return nil
	})
	assert.NilError(t, err)
	return names
}

func addTests(names map[string]bool, path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
			names[f.Name.Name] = true
		}
	}
	return nil
}
