package tree

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"tombolo/check/manifest"
)

// Place is where something is in the tree. Lines and columns start at 1, columns
// count characters; line 0 is unknown.
type Place struct {
	File         string
	Line, Column int
}

func byPlace(a, b Place) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// Wanted is a value that an object has, to be found in the files.
type Wanted struct {
	// Object that has it; its kind and name count.
	Object manifest.Object
	// Path of the value, with [] for an item of a list.
	Path []string
	// Value is what it is after substitution.
	Value string
	// Besides are keys next to it, with their values.
	Besides map[string]string
}

// Field finds a value in the files that were read: in the object's own document first, then in patches. The place
// is that of the platform tree.
func (f *Files) Field(read []string, w Wanted, evaluate func(string) string) (Place, bool) {
	var patched []Place
	for _, name := range read {
		for _, d := range f.Documents(name) {
			if d.kind != "" && d.kind != w.Object.Kind {
				continue
			}
			at, ok := d.find(w, evaluate)
			if !ok {
				continue
			}
			at.File = name
			if d.kind != "" && evaluate(d.name) == w.Object.Metadata.Name {
				return f.Origin(at), true
			}
			patched = append(patched, at)
		}
	}
	if len(patched) == 0 {
		return Place{}, false
	}
	return f.Origin(patched[0]), true
}

// find returns where a document has a value.
func (d Document) find(w Wanted, evaluate func(string) string) (at Place, found bool) {
	d.Each(func(v Value) {
		if found || v.IsKey || !slices.Equal(v.Path, w.Path) || evaluate(v.Node.Value) != w.Value {
			return
		}
		for key, want := range w.Besides {
			if n := Child(v.parent, key); n == nil || evaluate(n.Value) != want {
				return
			}
		}
		at.Line, at.Column = d.At(v)
		found = true
	})
	return at, found
}

// Occurrences are the places in the files where something is used in a value or
// key that is substituted, or else in their text; sorted, and those of the platform tree.
func (f *Files) Occurrences(names []string, find Finder) []Place {
	var places, texts, parts []Place
	for _, name := range names {
		if own := f.inParts(name, find); len(own) > 0 {
			parts = append(parts, own...)
			continue
		}
		places = append(places, f.inValues(name, find)...)
		texts = append(texts, f.inText(name, find)...)
	}
	if len(places)+len(parts) == 0 {
		places = texts
	}
	slices.SortFunc(places, byPlace)
	return append(f.origins(slices.Compact(places)), parts...)
}

// Text is where a file first has a text.
func (f *Files) Text(name, text string) (Place, bool) {
	content, err := f.Read(name)
	at := strings.Index(string(content), text)
	if err != nil || text == "" || at < 0 {
		return Place{}, false
	}
	return placesIn(string(content), name, 0, []int{at})[0], true
}

// inText are the places in a file that is no manifest: one that a generator
// puts into a ConfigMap as it is, with what looks like a comment.
func (f *Files) inText(name string, find Finder) []Place {
	text, err := f.Read(name)
	object := func(d Document) bool { return d.kind != "" }
	if err != nil || IsKustomization(name) || slices.ContainsFunc(f.Documents(name), object) {
		return nil
	}
	return placesIn(string(text), name, 0, find(string(text)))
}

// inValues are the places of a file where something is used in a value or
// key of a document that is substituted.
func (f *Files) inValues(name string, find Finder) []Place {
	text, err := f.Read(name)
	if err != nil {
		return nil
	}
	offsets := lineOffsets(string(text))
	var out []Place
	for _, d := range f.Documents(name) {
		if d.disabled {
			continue
		}
		d.Each(func(v Value) {
			n := len(find(v.Node.Value))
			if n == 0 || v.isPatch() {
				return
			}
			line, column := d.At(v)
			start := offset(string(text), offsets, line, column)
			hits := find(string(text)[start:])
			out = append(out, placesIn(string(text), name, start, hits[:min(n, len(hits))])...)
		})
	}
	return out
}

// Finder returns the byte offsets of what it looks for.
type Finder func(text string) []int

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
func placesIn(text, name string, start int, hits []int) []Place {
	out := make([]Place, 0, len(hits))
	for _, hit := range hits {
		before := text[:start+hit]
		line := strings.LastIndexByte(before, '\n') + 1
		out = append(out, Place{name, 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[line:])})
	}
	return out
}
