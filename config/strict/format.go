// Package strict reads YAML files into Go values and reports all that is wrong
// with a file at once: each problem with its line, its column and what to do
// about it.
package strict

import (
	"maps"
	"reflect"

	"gopkg.in/yaml.v3"
)

// Format is what files of one kind hold to beside the Go type that they are read
// into.
type Format struct {
	// Rule is the rule of a struct's field, "Cluster.Name", or of a struct
	// type, "SecretRef"; the zero Rule where there is none.
	Rule func(name string) Rule
	// Omit says why the files have no key for a field of a struct type, by its name and tag,
	// or for an entry of a Catalogue, by its name, where others of the same Go type have one;
	// nil for a key that they have. A nil Omit omits none.
	Omit func(owner reflect.Type, name string, tag reflect.StructTag) *Omission
	// Empty is the remedy for a file with nothing in it.
	Empty string
	// Partial says that other files have the rest: nothing is required, and null is a value.
	Partial bool
	// Several is the remedy for a file of several YAML documents.
	Several string
}

// Omission is why files of a format have no key for a field.
type Omission struct {
	// Message says so of the key, and Remedy what to do.
	Message, Remedy string
	// Instead is the key that such a file has in its place, of the same mapping; "" for
	// none.
	Instead string
}

// Decode reads content into the struct that into points to, and reports into
// doc. What content does not have comes from the shared files under it, the nearest first. It
// returns false when nothing was read that could be judged further.
func (f Format) Decode(doc *Document, content []byte, into any, under ...*Shared) bool {
	root := f.parse(doc, content)
	return root != nil && f.decode(doc, root, into, under...)
}

func (f Format) decode(doc *Document, root *yaml.Node, into any, under ...*Shared) bool {
	d := &decoder{
		Format: f, doc: doc, open: map[*yaml.Node]bool{}, under: under,
		merged: map[*yaml.Node][]*yaml.Node{},
	}
	for _, s := range under {
		maps.Copy(doc.broken, s.broken)
	}
	d.decode(nil, d.layered(root), "", reflect.ValueOf(into).Elem(), Rule{})
	return !doc.broken[""]
}

// Require reports a key as missing that no rule of the type requires, and that
// is neither there nor known to be wrong.
func (f Format) Require(doc *Document, parent Path, required Field) {
	at := parent.Field(required.Name)
	if !doc.Has(at) && doc.Sound(at) {
		f.reportMissing(doc, doc.Position(parent), at, required)
	}
}

// reportMissing reports a required key at the place that should have it, or where null has taken it away.
func (f Format) reportMissing(doc *Document, at Position, p Path, required Field) {
	if null, is := doc.takenAway[p]; is {
		doc.unreadable(null, p, "is required, and null takes it away", "write a value in its place, or remove the key")
		return
	}
	doc.unreadable(at, p, "is required and missing", f.howToAdd(required))
}
