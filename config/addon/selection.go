package addon

import (
	"maps"
	"reflect"
	"slices"

	"tombolo/config/field"
	"tombolo/config/strict"
)

// Selection is the addons that a cluster file turns on: pointers to their
// options, by name.
type Selection map[string]any

// Enabled is an addon that is turned on, with its options.
type Enabled struct {
	*Addon
	// Options is a pointer to the addon's options.
	Options any
}

// Enabled are the addons that are turned on, by stage and then by name. Names
// that the catalogue does not have are left out.
func (s Selection) Enabled() []Enabled {
	var out []Enabled
	for _, a := range All() {
		if options, ok := s[a.Name]; ok {
			out = append(out, Enabled{Addon: a, Options: options})
		}
	}
	return out
}

// Fields are the keys of a selection: the catalogue's names. A file's addons are
// read by them.
func (s Selection) Fields() []strict.Field {
	var out []strict.Field
	for _, a := range All() {
		out = append(out, strict.Field{Name: a.Name, Type: reflect.PointerTo(a.options)})
	}
	return out
}

// Names of the addons that are turned on, sorted.
func (s Selection) Names() []string { return slices.Sorted(maps.Keys(s)) }

// SetDefaults fills in what the options leave out, by the defaults of their rules.
func (s Selection) SetDefaults() {
	for _, a := range s.Enabled() {
		a.fields.SetDefaults(field.AWS, a.Options)
	}
}

// NewOptions returns a pointer to new options of the addon.
func (a *Addon) NewOptions() any { return reflect.New(a.options).Interface() }
