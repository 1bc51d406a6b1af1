package strict

import (
	"fmt"
	"reflect"
	"slices"
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
// field of a struct without omitempty is required. Fields that the format omits are not
// among them.
func (f Format) Fields(t reflect.Type) []Field {
	if t.Implements(catalogueType) {
		entries := reflect.Zero(t).Interface().(Catalogue).Fields()
		return slices.DeleteFunc(entries, func(e Field) bool { return f.omits(t, e.Name, "") != nil })
	}
	var out []Field
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if name == "-" || f.omits(t, field.Name, field.Tag) != nil {
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

func (f Format) omits(owner reflect.Type, name string, tag reflect.StructTag) *Omission {
	if f.Omit == nil {
		return nil
	}
	return f.Omit(owner, name, tag)
}

// Omission is why the format has no key in a struct type or a Catalogue; nil for a key that
// it has, and for one that no format has.
func (f Format) Omission(t reflect.Type, key string) *Omission {
	if t.Implements(catalogueType) {
		return f.omits(t, key, "")
	}
	for field := range t.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("yaml"), ","); name == key && name != "-" {
			return f.omits(t, field.Name, field.Tag)
		}
	}
	return nil
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
