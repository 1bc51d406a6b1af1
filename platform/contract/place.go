package contract

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// place is where something is in the tree; line 0 is unknown.
type place struct {
	file         string
	line, column int
}

func byPlace(a, b place) int {
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
}

// wanted is a value that an object has, to be found in the files.
type wanted struct {
	object manifest
	// path of the value, with [] for an item of a list.
	path []string
	// value is what it is after substitution.
	value string
	// besides are keys next to it, with their values.
	besides map[string]string
}

// field finds a value: in the object's own document first, then in patches.
func (f *files) field(read []string, w wanted, evaluate func(string) string) (place, bool) {
	var patched []place
	for _, name := range read {
		for _, d := range f.documents(name) {
			if d.kind != "" && d.kind != w.object.Kind {
				continue
			}
			at, ok := d.find(w, evaluate)
			if !ok {
				continue
			}
			at.file = name
			if d.kind != "" && evaluate(d.name) == w.object.Metadata.Name {
				return at, true
			}
			patched = append(patched, at)
		}
	}
	if len(patched) == 0 {
		return place{}, false
	}
	return patched[0], true
}

// find returns where a document has a value.
func (d document) find(w wanted, evaluate func(string) string) (at place, found bool) {
	d.each(func(v value) {
		if found || v.isKey || !slices.Equal(v.path, w.path) || evaluate(v.node.Value) != w.value {
			return
		}
		for key, want := range w.besides {
			if n := child(v.parent, key); n == nil || evaluate(n.Value) != want {
				return
			}
		}
		at, found = place{line: d.line + v.node.Line, column: d.column + v.node.Column}, true
	})
	return at, found
}

// inText are the places in a file that is no manifest: one that a generator
// puts into a ConfigMap as it is, with what looks like a comment.
func (f *files) inText(name string, find finder) []place {
	text, err := f.read(name)
	object := func(d document) bool { return d.kind != "" }
	if err != nil || isKustomizationFile(name) || slices.ContainsFunc(f.documents(name), object) {
		return nil
	}
	return placesIn(string(text), name, 0, find(string(text)))
}

// occurrences are the places of a file where something is used in a value or
// key of a document that is substituted.
func (f *files) occurrences(name string, find finder) []place {
	text, err := f.read(name)
	if err != nil {
		return nil
	}
	offsets := lineOffsets(string(text))
	var out []place
	for _, d := range f.documents(name) {
		if d.disabled {
			continue
		}
		d.each(func(v value) {
			n := len(find(v.node.Value))
			if n == 0 || v.isPatch() {
				return
			}
			start := offset(string(text), offsets, d.line+v.node.Line, d.column+v.node.Column)
			hits := find(string(text)[start:])
			out = append(out, placesIn(string(text), name, start, hits[:min(n, len(hits))])...)
		})
	}
	return out
}

// finder returns the byte offsets of what it looks for.
type finder func(text string) []int

// variableFinder looks for a variable between ${ and }.
func variableFinder(variable string, escaped bool) finder {
	opening := regexp.MustCompile(`\$\{#?` + regexp.QuoteMeta(variable))
	return func(text string) []int {
		var out []int
		for _, at := range opening.FindAllStringIndex(text, -1) {
			next, _ := utf8.DecodeRuneInString(text[at[1]:])
			if !isName(next) && (escaped || !isEscaped(text, at[0])) {
				out = append(out, at[0])
			}
		}
		return out
	}
}

// badFinder looks for ${…} that is no variable.
func badFinder(text string) []int {
	var out []int
	for from := 0; ; {
		at := strings.Index(text[from:], "${")
		if at < 0 {
			return out
		}
		at += from
		from = at + 2
		piece := text[at:]
		if end := strings.IndexAny(piece, "}\n"); end >= 0 {
			piece = strings.TrimSuffix(piece[:end+1], "\n")
		}
		// What is nested has more } than the piece; it is not looked into.
		if _, err := uses(piece); err != nil && !isEscaped(text, at) && strings.Count(piece, "${") == 1 {
			out = append(out, at)
		}
	}
}

// isName says whether a rune goes on with a variable's name.
func isName(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

// isEscaped says whether the $ at an offset belongs to the $$ before it.
func isEscaped(text string, at int) bool {
	before := len(text[:at]) - len(strings.TrimRight(text[:at], "$"))
	return before%2 == 1
}

func lineOffsets(text string) []int {
	out := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			out = append(out, i+1)
		}
	}
	return out
}

// offset of a position in a text, in bytes.
func offset(text string, lines []int, line, column int) int {
	if line < 1 || line > len(lines) {
		return 0
	}
	at := lines[line-1]
	for range column - 1 {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// placesIn turns offsets after a start into places.
func placesIn(text, name string, start int, hits []int) []place {
	out := make([]place, 0, len(hits))
	for _, hit := range hits {
		before := text[:start+hit]
		line := strings.LastIndexByte(before, '\n') + 1
		out = append(out, place{name, 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[line:])})
	}
	return out
}
