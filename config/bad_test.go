package config

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/rogpeppe/go-internal/txtar"
	"gotest.tools/v3/golden"

	"gotest.tools/v3/assert"

	"tombolo/config/strict"
	"tombolo/tests/files"
)

// baseFile and azureBaseFile are the cluster files that wrong ones are edits of, for each
// cloud. They are right.
const (
	baseFile      = "testdata/base.yaml"
	azureBaseFile = "testdata/azure-base.yaml"
)

// baseOf is the file that the cases of an archive are edits of.
func baseOf(archive string) string {
	if strings.HasPrefix(filepath.Base(archive), string(Azure)) {
		return azureBaseFile
	}
	return baseFile
}

// TestBadFiles loads wrong cluster files and compares what is said about them.
// An archive in testdata/bad has those of one subject. A case in it is an edit of
// testdata/base.yaml, or in an archive azure….txtar of testdata/azure-base.yaml, and what
// Load says about the file that it makes:
//
//	-- zone-twice --
//	~  zones: [eu-central-1a, eu-central-1a]
//	> 10:26: network.zones[1]: "eu-central-1a" is already used at line 10; …
//
// The first character of a line says what the line does:
//
//	~  replaces the next line with the same key
//	-  removes the next such line, and what is nested below it
//	+  adds a line; before any other mark, at the end of the file
//	   a space: finds the next such line, for lines to be added after it
//	>  is a problem
//
// A case whose name ends in .yaml is a whole file.
//
// To add a case, write its edit and run go test ./config -run TestBadFiles
// -update, which writes the problems of all cases.
func TestBadFiles(t *testing.T) {
	for _, base := range []string{baseFile, azureBaseFile} {
		if _, err := Load(base); err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	for _, archive := range badArchives(t) {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar"), func(t *testing.T) {
			cases := badCases(t, archive)
			count += len(cases)
			dir := t.TempDir() // for all, as a cluster may be the hub of another one
			for _, c := range cases {
				write(t, dir, c.file(), string(c.content))
			}
			got, err := txtar.ParseFile(archive)
			assert.NilError(t, err)
			for i, c := range cases {
				said := strings.ReplaceAll(loadBad(t, filepath.Join(dir, c.file())), dir+string(filepath.Separator), "")
				got.Files[i].Data = []byte(c.source)
				for line := range strings.Lines(said + "\n") {
					got.Files[i].Data = append(got.Files[i].Data, "> "+strings.TrimPrefix(line, c.file()+":")...)
				}
			}
			golden.Assert(t, string(txtar.Format(got)), filepath.Join("bad", filepath.Base(archive)))
		})
	}
	assert.Check(t, count >= 203, "testdata/bad has %d cases; expected 203 or more", count)
}

// loadBad loads a file that is wrong, and returns its problems.
func loadBad(t *testing.T, file string) string {
	t.Helper()
	_, err := Load(file)
	var problems strict.Problems
	if !errors.As(err, &problems) {
		t.Errorf("Load(%s) = %v; expected problems", filepath.Base(file), err)
		return ""
	}
	checkComplete(t, problems)
	return problems.Error()
}

// checkComplete expects every problem to have a place and a remedy.
func checkComplete(t *testing.T, problems strict.Problems) {
	t.Helper()
	for _, p := range problems {
		if p.File == "" || p.Line < 1 || p.Column < 1 || p.Message == "" || p.Remedy == "" {
			t.Errorf("problem lacks something: %#v", p)
		}
	}
}

// badCase is a wrong cluster file.
type badCase struct {
	name    string
	source  string // as it is in the archive, without the problems
	content []byte // the cluster file that it makes
}

// file is the name of the case's cluster file.
func (c badCase) file() string { return strings.TrimSuffix(c.name, ".yaml") + ".yaml" }

func badArchives(t testing.TB) []string {
	t.Helper()
	archives, err := filepath.Glob("testdata/bad/*.txtar")
	assert.NilError(t, err)
	return archives
}

func badCases(t testing.TB, archive string) []badCase {
	t.Helper()
	parsed, err := txtar.ParseFile(archive)
	assert.NilError(t, err)
	base := files.Read(t, baseOf(archive))
	var cases []badCase
	for _, f := range parsed.Files {
		c := badCase{name: f.Name}
		for line := range strings.Lines(string(f.Data)) {
			if line[0] != '>' {
				c.source += line
			}
		}
		c.content = []byte(c.source)
		if c.file() != c.name {
			c.content = edited(t, c, base)
		}
		cases = append(cases, c)
	}
	return cases
}

// edited is the base with a case's edit.
func edited(t testing.TB, c badCase, base string) []byte {
	t.Helper()
	all := slices.Collect(strings.Lines(base))
	rest, out, end := all, []string{}, []string{}
	for line := range strings.Lines(c.source) {
		mark, text := line[0], line[1:]
		switch {
		case mark == '+' && len(rest) == len(all):
			end = append(end, text)
			continue
		case mark == '+':
			out = append(out, text)
			continue
		}
		at := slices.IndexFunc(rest, func(l string) bool { return l == text || mark == '~' && key(l) == key(text) })
		assert.Assert(t, at >= 0 && strings.ContainsRune("~- ", rune(mark)), "%s: %q is not in what follows in its base", c.name, line)
		out, rest = append(out, rest[:at]...), rest[at+1:]
		if mark != '-' {
			out = append(out, text)
			continue
		}
		for len(rest) > 0 && indentation(rest[0]) > indentation(text) {
			rest = rest[1:]
		}
	}
	return []byte(strings.Join(slices.Concat(out, rest, end), ""))
}

// key is a line up to its colon.
func key(line string) string { return strings.SplitN(line, ":", 2)[0] }

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// TestEncodings loads files that are not UTF-8.
func TestEncodings(t *testing.T) {
	base := files.Read(t, baseFile)
	utf16File := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(base)) {
		utf16File = append(utf16File, byte(unit), byte(unit>>8))
	}
	dir := t.TempDir()
	for name, tt := range map[string]struct{ content, want string }{
		"latin1.yaml": {strings.Replace(base, "demo", "demo # f\xfcr alle", 1), "2:15: contains a byte that is not UTF-8; save the file as UTF-8"},
		"utf16.yaml":  {string(utf16File), "1:1: is encoded in UTF-16; save it as UTF-8"},
	} {
		write(t, dir, name, tt.content)
		file := filepath.Join(dir, name)
		if got, want := loadBad(t, file), file+":"+tt.want; got != want {
			t.Errorf("Load says %s; expected %s", got, want)
		}
	}
}
