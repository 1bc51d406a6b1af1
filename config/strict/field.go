package strict

import (
	"fmt"
	"reflect"
	"strings"

	"tombolo/internal/wording"
)

// Field is a key that a mapping may have.
type Field struct {
	Name string
	// Type of the value in Go.
	Type     reflect.Type
	Rule     Rule
	Required bool
	// Index of the field in its struct.
	Index int
}

// Catalogue is a map whose keys are no fields of a Go type, and yet known. It is
// read like a struct that has them.
type Catalogue interface {
	// Fields are the keys; the types of their values are pointers.
	Fields() []Field
}

// OrText is a pointer to a struct in whose place a file may have a text.
type OrText interface{ SetText(text string) }

var catalogueType = reflect.TypeFor[Catalogue]()

// Fields are the keys of a struct type, by its yaml tags, or of a Catalogue. A
// field of a struct without omitempty is required.
func (f Format) Fields(t reflect.Type) []Field {
	if t.Implements(catalogueType) {
		return reflect.Zero(t).Interface().(Catalogue).Fields()
	}
	var out []Field
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if name == "-" {
			continue
		}
		out = append(out, Field{
			Name:     name,
			Type:     field.Type,
			Rule:     f.Rule(t.Name() + "." + field.Name),
			Required: options != "omitempty",
			Index:    i,
		})
	}
	return out
}

// someKeys names the required keys of a mapping, or the first few of all.
func someKeys(known []Field) string {
	var names []string
	for _, f := range known {
		if f.Required {
			names = append(names, f.Name)
		}
	}
	if len(names) == 0 {
		names = namesOf(known[:min(len(known), 3)])
	}
	return strings.Join(names, ", ") + " as keys"
}

func namesOf(fields []Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// howToAdd shows what a missing key looks like.
func (f Format) howToAdd(missing Field) string {
	rule := missing.Rule
	switch {
	case missing.Type.Kind() == reflect.Struct:
		return "add it, with " + someKeys(f.Fields(missing.Type)) + " below it"
	case missing.Type.Kind() == reflect.Slice && rule.Example != "":
		return fmt.Sprintf("add it, for example %s: [%s]", missing.Name, rule.Example)
	case rule.Example != "":
		return fmt.Sprintf("add it, for example %s: %s", missing.Name, rule.Example)
	case len(rule.Allowed) > 0:
		return "add it: " + wording.Or(rule.Allowed)
	}
	return "add it"
}
