package apimodel

import (
	"maps"
	"slices"
	"strings"
)

// Limit is one thing that the API holds a value to.
type Limit struct {
	// Path of the input: agentPoolProfiles[].mode, with [] behind a list and {} behind a map.
	Path string
	// Kind is enum, pattern, minLength, maxLength, min, max, minItems, maxItems, required or readOnly.
	Kind string
	// Bound of a length, a number or a list.
	Bound float64
	// Allowed values, or the pattern.
	Allowed []string
	// Code of the property's own with which Azure refuses; empty for its resource provider's.
	Code string
}

// Limits are all that the API has of the inputs of a type, in the order of their paths. An
// object within itself has its limits once.
func Limits(token string) []Limit {
	m, _ := modelOf(token)
	l := &limits{model: m, within: map[string]bool{}}
	of := m.Resources[m.Resource]
	name := of.Name
	name.Enum = nil // is a path that there is not
	l.property(name, m.named())
	l.object(of.Body, "")
	return l.list
}

// indices that the path of a limit has, and a plain one has not.
var indices = strings.NewReplacer("[]", "", "{}", "")

type limits struct {
	model
	list   []Limit
	within map[string]bool
}

func (l *limits) object(name, path string) {
	if l.within[name] {
		return
	}
	l.within[name] = true
	defer delete(l.within, name)
	members := l.Objects[name]
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if path == "" && slices.Contains(slices.Concat(l.Parameters, l.Unsent), key) {
			continue
		}
		if key == envelope && members[key].Object != "" && !l.Whole {
			l.object(members[key].Object, path)
			continue
		}
		l.property(members[key], join(path, l.shown(indices.Replace(path), key)))
	}
}

func (l *limits) property(p property, path string) {
	add := func(kind string, bound *float64, allowed ...string) {
		limit := Limit{Path: path, Kind: kind, Allowed: allowed, Code: l.Codes[indices.Replace(path)]}
		if bound != nil {
			limit.Bound = *bound
		}
		l.list = append(l.list, limit)
	}
	if p.ReadOnly {
		add("readOnly", nil)
		return
	}
	if p.Required {
		add("required", nil)
	}
	if len(p.Enum) > 0 {
		add("enum", nil, p.Enum...)
	}
	if p.Pattern != "" {
		add("pattern", nil, p.Pattern)
	}
	for _, of := range []struct {
		kind  string
		bound *float64
	}{{"minLength", p.MinLength}, {"maxLength", p.MaxLength}, {"min", p.Min}, {"max", p.Max}, {"minItems", p.MinItems}, {"maxItems", p.MaxItems}} {
		if of.bound != nil {
			add(of.kind, of.bound)
		}
	}
	switch {
	case p.Object != "":
		l.object(p.Object, path)
	case p.Items != nil:
		l.property(*p.Items, path+"[]")
	case p.Values != nil:
		l.property(*p.Values, path+"{}")
	}
}
