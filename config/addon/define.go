package addon

import (
	"fmt"
	"reflect"

	"tombolo/config/field"
)

// definition is the part of an addon that depends on its options, of type O.
type definition[O any] struct {
	// Fields of the options.
	Fields field.Set
	// Needs in the cloud. Nil for none.
	Needs func(Input[O]) Needs
	// Keys of the infra ConfigMap.
	Keys []key[O]
	// Unpublished names keys that a cluster with these options is without. Nil for none.
	Unpublished func(O) []string
	// Values for the chart. Nil when it needs none from the infrastructure.
	Values func(Input[O], Outputs) map[string]any
	// Check finds problems that involve several options, or other addons.
	Check func(O, Selection) []Problem
}

// key is a Key with its value.
type key[O any] struct {
	Name, Description, Example string
	Value                      func(Input[O], Outputs) string
}

// Input is the input of a definition's functions.
type Input[O any] struct {
	Facts
	// Options of the cluster file, with defaults.
	Options O
}

// none is the type of the options of an addon without options.
type none struct{}

// register puts an addon into the catalogue. Files do it in the declaration of a
// package-level variable, so that one file is one addon.
func register[O any](a Addon, d definition[O]) *Addon {
	if catalogue[a.Name] != nil {
		panic("addon " + a.Name + " is in the catalogue twice")
	}
	input := func(f Facts, options any) Input[O] { return Input[O]{Facts: f, Options: *options.(*O)} }
	a.fields, a.options = d.Fields, reflect.TypeFor[O]()
	a.needs = func(f Facts, options any) Needs {
		if d.Needs == nil {
			return Needs{}
		}
		return d.Needs(input(f, options))
	}
	a.check = func(options any, all Selection) []Problem {
		if d.Check == nil {
			return nil
		}
		return d.Check(*options.(*O), all)
	}
	a.unpublished = func(options any) []string {
		if d.Unpublished == nil {
			return nil
		}
		return d.Unpublished(*options.(*O))
	}
	if d.Values != nil {
		a.values = func(f Facts, options any, out Outputs) map[string]any { return d.Values(input(f, options), out) }
	}
	for _, k := range d.Keys {
		a.keys = append(a.keys, Key{
			Name: k.Name, Description: k.Description, Example: k.Example,
			value: func(f Facts, options any, out Outputs) string { return k.Value(input(f, options), out) },
		})
	}
	catalogue[a.Name] = &a
	return &a
}

// at is the path of an item of a list within options.
func at(list string, i int, field string) string {
	if field == "" {
		return fmt.Sprintf("%s[%d]", list, i)
	}
	return fmt.Sprintf("%s[%d].%s", list, i, field)
}
