package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/rogpeppe/go-internal/txtar"
	"gotest.tools/v3/golden"

	"tombolo/config/strict"
)

// baseFile is the cluster file that wrong ones are edits of. It is right.
const baseFile = "testdata/base.yaml"

// TestBadFiles loads wrong cluster files and compares what is said about them.
// An archive in testdata/bad has those of one subject. A case in it is two files:
//
//	-- zone-twice.edit --      how it differs from testdata/base.yaml
//	-- zone-twice.problems --  what Load says about it
//
// In an edit, lines with a minus go and lines with a plus come; a line with a
// space says where. Lines with a plus before any other are put at the end of the
// file. A case that is no edit of the base is a whole file, zone-twice.yaml.
//
// To add a case, write its edit and run go test ./config -run TestBadFiles
// -update, which writes the problems of all cases.
func TestBadFiles(t *testing.T) {
	if _, err := Load(baseFile); err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, archive := range badArchives(t) {
		t.Run(strings.TrimSuffix(filepath.Base(archive), ".txtar"), func(t *testing.T) {
			cases := badCases(t, archive)
			count += len(cases)
			dir := t.TempDir() // for all, as a cluster may be the hub of another one
			for _, c := range cases {
				write(t, dir, c.name+".yaml", string(c.content))
			}
			got, err := txtar.ParseFile(archive)
			if err != nil {
				t.Fatal(err)
			}
			got.Files = nil
			for _, c := range cases {
				said := strings.ReplaceAll(loadBad(t, filepath.Join(dir, c.name+".yaml")), dir+string(filepath.Separator), "")
				got.Files = append(got.Files, c.source, txtar.File{Name: c.name + ".problems", Data: []byte(said + "\n")})
			}
			golden.Assert(t, string(txtar.Format(got)), filepath.Join("bad", filepath.Base(archive)))
		})
	}
	if count < 203 {
		t.Errorf("testdata/bad has %d cases; expected 203 or more", count)
	}
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
	source  txtar.File // as it is in the archive
	content []byte     // the cluster file that it makes
}

func badArchives(t testing.TB) []string {
	t.Helper()
	archives, err := filepath.Glob("testdata/bad/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	return archives
}

func badCases(t testing.TB, archive string) []badCase {
	t.Helper()
	files, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	base, err := os.ReadFile(baseFile)
	if err != nil {
		t.Fatal(err)
	}
	var cases []badCase
	for _, f := range files.Files {
		ext := filepath.Ext(f.Name)
		c := badCase{name: strings.TrimSuffix(f.Name, ext), source: f, content: f.Data}
		switch ext {
		case ".edit":
			c.content = edited(t, f, string(base))
			cases = append(cases, c)
		case ".yaml":
			cases = append(cases, c)
		}
	}
	return cases
}

// edited is the base with an edit.
func edited(t testing.TB, edit txtar.File, base string) []byte {
	t.Helper()
	rest, out, end := slices.Collect(strings.Lines(base)), []string{}, []string{}
	for line := range strings.Lines(string(edit.Data)) {
		mark, text := line[0], line[1:]
		at := slices.Index(rest, text)
		switch {
		case mark == '+' && len(out) == 0 && len(rest) == strings.Count(base, "\n"):
			end = append(end, text)
		case mark == '+':
			out = append(out, text)
		case mark != '-' && mark != ' ' || at < 0:
			t.Fatalf("%s: %q is not in what follows in %s", edit.Name, line, baseFile)
		default:
			out = append(out, rest[:at]...)
			if mark == ' ' {
				out = append(out, text)
			}
			rest = rest[at+1:]
		}
	}
	return []byte(strings.Join(slices.Concat(out, rest, end), ""))
}

// TestEncodings loads files that are not UTF-8.
func TestEncodings(t *testing.T) {
	base, err := os.ReadFile(baseFile)
	if err != nil {
		t.Fatal(err)
	}
	utf16File := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(string(base))) {
		utf16File = append(utf16File, byte(unit), byte(unit>>8))
	}
	dir := t.TempDir()
	for name, tt := range map[string]struct{ content, want string }{
		"latin1.yaml": {strings.Replace(string(base), "demo", "demo # f\xfcr alle", 1), "2:15: holds a byte that is not UTF-8; save the file as UTF-8"},
		"utf16.yaml":  {string(utf16File), "1:1: is encoded in UTF-16; save it as UTF-8"},
	} {
		write(t, dir, name, tt.content)
		file := filepath.Join(dir, name)
		if got, want := loadBad(t, file), file+":"+tt.want; got != want {
			t.Errorf("Load says %s; expected %s", got, want)
		}
	}
}
