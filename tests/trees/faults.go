package trees

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// fault is a mistake that people make in a line of a file. edit says what the line becomes, which may be
// several or none.
type fault struct {
	name string
	// in is what the line has to have.
	in   *regexp.Regexp
	edit func(m *maker, line string, at []int) string
}

// Faults are the names of all kinds of faults.
func Faults() []string {
	var out []string
	for _, f := range faults {
		out = append(out, f.name)
	}
	return append(out, missingFile, copiedFile)
}

// What is done to whole files.
const (
	missingFile = "a file is missing"
	copiedFile  = "a file is there twice"
)

// deleted is a line that goes.
const deleted = "\x00"

// faults in a line. The first group of each expression is what changes.
var faults = []fault{
	{"a variable is misspelt", regexp.MustCompile(`(?:\$\{|\{\{ ?\.?)(\w+)`), misspell},
	{"a name is misspelt", regexp.MustCompile(`\bname: ([a-zA-Z0-9-]+)$`), misspell},
	{"a namespace is misspelt", regexp.MustCompile(`\bnamespace: ([a-z0-9-]+)$`), misspell},
	{"a kind is misspelt", regexp.MustCompile(`\bkind: (\w+)$`), misspell},
	{"a key is misspelt", regexp.MustCompile(`^[ -]*(\w+):`), misspell},
	{"a path is misspelt", regexp.MustCompile(`(?:path|chart): .*/(\w+)$`), misspell},
	{"a file's name is misspelt", regexp.MustCompile(`^  - (\w+)\.yaml$`), misspell},
	{"a version is another", regexp.MustCompile(`apiVersion: (?:.*/)?(v\d\w*)$`), func(m *maker, line string, at []int) string {
		return replaced(line, at, one(m, "v1beta1", "v1beta2", "v2", "v1alpha1", "1"))
	}},
	{"a source or generator is of another kind", regexp.MustCompile(`(?:kind: |- )(GitRepository|git|list|clusters)\b`), func(m *maker, line string, at []int) string {
		others := map[string][]string{"git": {"list", "gti"}, "list": {"git", "lists"}, "clusters": {"cluster", "list"}}[line[at[2]:at[3]]]
		if others == nil {
			others = []string{"Bucket", "OCIRepository", "HelmRepository", "GitRepo"}
		}
		return replaced(line, at, one(m, others...))
	}},
	{"a kind is another", regexp.MustCompile(`kind: (ConfigMap|Secret)$`), func(_ *maker, line string, at []int) string {
		return replaced(line, at, map[string]string{"ConfigMap": "Secret", "Secret": "ConfigMap"}[line[at[2]:at[3]]])
	}},
	{"text loses its quotes", regexp.MustCompile(`[ :]("[^"]*")`), func(_ *maker, line string, at []int) string {
		return replaced(line, at, strings.Trim(line[at[2]:at[3]], `"`))
	}},
	{"a number has quotes", regexp.MustCompile(`: (\d+|true|false)$`), func(_ *maker, line string, at []int) string {
		return replaced(line, at, `"`+line[at[2]:at[3]]+`"`)
	}},
	{"text is a number or a boolean", regexp.MustCompile(`\w: ([a-z][\w.-]*)$`), func(m *maker, line string, at []int) string {
		return replaced(line, at, one(m, "12", "yes", "true", "1.5", "012", "null", "1e3", "on"))
	}},
	{"a quote is missing", regexp.MustCompile(`[^"]"[^"]*(")`), func(_ *maker, line string, at []int) string { return replaced(line, at, "") }},
	{"an indent is too deep", regexp.MustCompile(`^()\s*\S`), func(m *maker, line string, at []int) string { return replaced(line, at, one(m, " ", "  ")) }},
	{"an indent is too small", regexp.MustCompile(`^( {1,2})\s*\S`), func(_ *maker, line string, at []int) string { return replaced(line, at, "") }},
	{"an indent is a tab", regexp.MustCompile(`^(  )\s*\S`), func(_ *maker, line string, at []int) string { return replaced(line, at, "\t") }},
	{"a line is there twice", regexp.MustCompile(`^\s*\w+: \S()`), func(_ *maker, line string, _ []int) string { return line + "\n" + line }},
	{"a line is missing", regexp.MustCompile(`\S()`), func(*maker, string, []int) string { return deleted }},
	{"a comma is missing", regexp.MustCompile(`[\[{].*(,)`), func(_ *maker, line string, at []int) string { return replaced(line, at, "") }},
	{"a bracket is missing", regexp.MustCompile(`[\[{].*([\]}])`), func(_ *maker, line string, at []int) string { return replaced(line, at, "") }},
	{"a dash is missing", regexp.MustCompile(`^\s*(- )`), func(_ *maker, line string, at []int) string { return replaced(line, at, "  ") }},
	{"a dash is too many", regexp.MustCompile(`^\s+()\w`), func(_ *maker, line string, at []int) string { return replaced(line, at, "- ") }},
	{"a space after a colon is missing", regexp.MustCompile(`\w:( )\S`), func(_ *maker, line string, at []int) string { return replaced(line, at, "") }},
	{"a value is missing", regexp.MustCompile(`\w:( \S.*)$`), func(_ *maker, line string, at []int) string { return replaced(line, at, "") }},
	{"a value is a list", regexp.MustCompile(`\w: (\w+)$`), func(_ *maker, line string, at []int) string { return replaced(line, at, "["+line[at[2]:at[3]]+"]") }},
	{"a letter is a capital", regexp.MustCompile(`: ([a-z])[\w-]+$`), func(_ *maker, line string, at []int) string {
		return replaced(line, at, strings.ToUpper(line[at[2]:at[3]]))
	}},
}

// replaced is the line with another text in place of the expression's group.
func replaced(line string, at []int, with string) string { return line[:at[2]] + with + line[at[3]:] }

// misspell drops a letter, or doubles the last one of a short word.
func misspell(m *maker, line string, at []int) string {
	word := line[at[2]:at[3]]
	if len(word) < 3 {
		return replaced(line, at, word+word[len(word)-1:])
	}
	drop := 1 + m.IntN(len(word)-1)
	return replaced(line, at, word[:drop]+word[drop+1:])
}

// spoil puts one fault into the tree. Kinds of faults take turns, so that all occur.
func (m *maker) spoil(turn int) {
	kinds := Faults()
	for try := range len(kinds) {
		kind := kinds[(turn+try)%len(kinds)]
		if m.spoilBy(kind) {
			m.tree.Fault = kind
			return
		}
	}
}

func (m *maker) spoilBy(kind string) bool {
	switch kind {
	case missingFile:
		name := one(m, m.tree.names()...)
		delete(m.tree.Files, name)
		m.tree.Where = name
		return true
	case copiedFile:
		name := one(m, m.tree.names()...)
		m.tree.Where = path.Join(path.Dir(name), "copy-"+path.Base(name))
		m.tree.Files[m.tree.Where] = m.tree.Files[name]
		return true
	}
	f := faults[slices.IndexFunc(faults, func(f fault) bool { return f.name == kind })]
	type place struct {
		file string
		line int
	}
	var places []place
	for _, name := range m.tree.names() {
		for i, line := range strings.Split(m.tree.Files[name], "\n") {
			if f.in.MatchString(line) && !strings.HasSuffix(name, "/"+chartTemplate) {
				places = append(places, place{name, i})
			}
		}
	}
	if len(places) == 0 {
		return false
	}
	at := one(m, places...)
	lines := strings.Split(m.tree.Files[at.file], "\n")
	became := f.edit(m, lines[at.line], f.in.FindStringSubmatchIndex(lines[at.line]))
	m.tree.Where = fmt.Sprintf("%s:%d: %s -> %s", at.file, at.line+1, strings.TrimSpace(lines[at.line]), strings.Trim(became, "\x00 "))
	lines[at.line] = became
	if became == deleted {
		lines = slices.Delete(lines, at.line, at.line+1)
	}
	m.tree.Files[at.file] = strings.Join(lines, "\n")
	return true
}
