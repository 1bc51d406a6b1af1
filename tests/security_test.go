package tests

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestThreatsHaveTests holds the table of threats to the tests that it names: each
// row has one at least, and each is there.
func TestThreatsHaveTests(t *testing.T) {
	rows := rowsOf(t, "../docs/guide/security.md", "T", 4)
	for _, r := range rows {
		assert.Check(t, len(r.tests) > 0, "no test and no reason: %s", r.cells)
	}
	assert.Check(t, len(rows) >= 20, "the table has %d threats, and 20 were found", len(rows))
}

// TestFindingsHaveTests holds the tables of findings to the tests that they name: each is
// there, and a finding without one says that it stays.
func TestFindingsHaveTests(t *testing.T) {
	const page = "../docs/guide/real.md"
	rows := slices.Concat(rowsOf(t, page, "A", 5), rowsOf(t, page, "C", 5))
	found := map[string]bool{}
	for _, r := range rows {
		found[r.cells[0]] = true
		if mend := r.cells[3]; len(r.tests) == 0 && !strings.HasPrefix(mend, "not yet: ") {
			t.Errorf("no test and no reason: %s", r.cells)
		}
	}
	for i := range 12 {
		assert.Check(t, found[fmt.Sprintf("A%d", i+1)], "A%d is not in the table", i+1)
	}
	for i := range 8 {
		assert.Check(t, found[fmt.Sprintf("C%d", i+1)], "C%d is not in the table", i+1)
	}
}

// TestDetailsHaveTests holds the table of details to the tests that it names: each is there,
// and a detail without one says why.
func TestDetailsHaveTests(t *testing.T) {
	rows := rowsOf(t, "../docs/guide/scope.md", "P", 4)
	assert.Check(t, len(rows) >= 16, "the table has %d details", len(rows))
	for _, r := range rows {
		if why, _, _ := strings.Cut(r.cells[2], ":"); len(r.tests) == 0 && why != "not yet" && why != "yours" {
			t.Errorf("no test and no reason: %s", r.cells)
		}
	}
}

// row of a table in a page: its cells, and the tests that the last one names.
type row struct{ cells, tests []string }

var quoted = regexp.MustCompile("`([^`]+)`")

// rowsOf are the rows of a page's tables that begin with a letter and a number. The tests
// that they name have to be there.
func rowsOf(t *testing.T, page, letter string, columns int) []row {
	t.Helper()
	text, err := os.ReadFile(page)
	assert.NilError(t, err)
	there, begins := testNames(t), regexp.MustCompile(`^\| `+letter+`\d+\b`)
	var rows []row
	for line := range strings.Lines(string(text)) {
		if !begins.MatchString(line) {
			continue
		}
		r := row{}
		for _, cell := range strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			r.cells = append(r.cells, strings.TrimSpace(cell))
		}
		assert.Assert(t, len(r.cells) == columns, "%d cells: %s", len(r.cells), line)
		for _, test := range quoted.FindAllStringSubmatch(r.cells[columns-1], -1) {
			r.tests = append(r.tests, test[1])
			assert.Check(t, there[test[1]], "there is no test %s, of %s in %s", test[1], r.cells[0], page)
		}
		rows = append(rows, r)
	}
	return rows
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
		if ok && f.Recv == nil && (strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Fuzz")) {
			names[f.Name.Name] = true
		}
	}
	return nil
}
