package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestEveryMutationFits: the text that a mutation takes out is in its file once, and its test is
// there: or it would show nothing.
func TestEveryMutationFits(t *testing.T) {
	all, err := read("../..")
	assert.NilError(t, err)
	assert.Check(t, len(all) >= 50, "there are %d mutations", len(all))
	row := regexp.MustCompile(`^[A-EX][1-9][0-9]?$`)
	for _, m := range all {
		assert.Check(t, row.MatchString(m.Row) && m.What != "" && m.File != "" && m.Test != "", "%+v", m)
		assert.Check(t, hasTest(t, filepath.Join("../..", m.Package), m.Test), "%s of %s is not in %s", m.Test, m.Row, m.Package)
	}
}

func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	assert.NilError(t, err)
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		return strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)")
	})
}

func TestOutcomes(t *testing.T) {
	ended, broken, err := outcomes(strings.NewReader(`{"Action":"start","Package":"p"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p"}
`))
	assert.NilError(t, err)
	assert.DeepEqual(t, ended, map[string]string{"TestA": "fail", "TestB": "pass"})
	assert.Equal(t, broken, "")
	// A package that does not compile has caught nothing.
	_, broken, err = outcomes(strings.NewReader(`{"ImportPath":"p","Action":"build-output","Output":"p.go:1: wrong\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"fail","Package":"p","FailedBuild":"p"}
`))
	assert.Check(t, err == nil && broken == "p.go:1: wrong\n", broken)
}

func TestTable(t *testing.T) {
	m := mutation{Row: "A1", What: "w", File: "f.go", Test: "TestF"}
	text := string(tableOf([]result{{m, true, nil}, {m, false, nil}, {m, false, os.ErrNotExist}}))
	for _, end := range []string{"yes", "no", "not known"} {
		assert.Check(t, strings.Contains(text, "| A1 | w | `f.go` | `TestF` | "+end+" |\n"), text)
	}
}

func TestChoose(t *testing.T) {
	all := []mutation{{Row: "A1"}, {Row: "A2", Lab: true}, {Row: "B1"}}
	for _, test := range []struct {
		only, want string
		lab        bool
	}{
		{"", "A1 B1", false}, {"", "A1 A2 B1", true}, {"B1,A2", "B1", false}, {"A2 B1", "A2 B1", true},
	} {
		chosen, err := choose(all, test.only, test.lab)
		assert.NilError(t, err)
		var rows []string
		for _, m := range chosen {
			rows = append(rows, m.Row)
		}
		assert.Equal(t, strings.Join(rows, " "), test.want)
	}
	_, err := choose(all, "X1", false)
	assert.ErrorContains(t, err, "row X1 has none")
	_, err = choose(all, "A2", false)
	assert.ErrorContains(t, err, "LAB=1")
}
