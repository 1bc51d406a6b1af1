package apimodel

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tombolo/lab/standin"
)

// Check finds inputs of a type that azure-native refuses before it asks Azure: without what is
// required, of another length or pattern, or out of their range. Unknown values are passed
// over. Source of the words:
// https://github.com/pulumi/pulumi-azure-native/blob/006a62afe453b416e5d5c98d2d91c4c7281f52f9/provider/pkg/provider/provider.go
func Check(token string, in standin.Props) []standin.Problem {
	c := checkOf(token, in)
	return c.problems
}

// Fault is a value that Azure refuses.
type Fault struct {
	// Path is that of the input; ARM the one in what is sent, with the envelopes.
	Path, ARM string
	// Value that is given, and those that are allowed; none for another reason.
	Value   string
	Allowed []string
	// Reason in words.
	Reason string
	// Code of the property's own; empty for what its resource provider has for all.
	Code string
}

// Faults finds inputs of a type with values that Azure does not have in this version of the
// API, and such that can only be read. azure-native sends them.
func Faults(token string, in standin.Props) []Fault {
	return checkOf(token, in).faults
}

// Unmapped are the paths of inputs that the API does not have.
func Unmapped(token string, in standin.Props) []string { return checkOf(token, in).unmapped }

type check struct {
	model
	problems []standin.Problem
	faults   []Fault
	unmapped []string
}

// place is where a value is: as an input, in the API, and as an input without indices.
type place struct{ path, arm, plain string }

func (p place) in(key, arm string) place {
	return place{join(p.path, key), join(p.arm, arm), join(p.plain, key)}
}

func (p place) at(index string) place { return place{p.path + index, p.arm + index, p.plain} }

func checkOf(token string, in standin.Props) *check {
	m, known := modelOf(token)
	c := &check{model: m}
	if !known {
		c.unmapped = []string{token}
		return c
	}
	of, body := c.Resources[m.Resource], maps.Clone(map[string]any(in))
	for _, unsent := range slices.Concat(m.Parameters, m.Unsent) {
		delete(body, unsent)
	}
	if name := m.named(); in.Str(name) != "" {
		c.length(of.Name, place{path: name}, in.Str(name))
	}
	c.object(c.Objects[of.Body], place{}, body)
	return c
}

func (c *check) object(object map[string]property, at place, in map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(in)) {
		plain := join(at.plain, key)
		p, arm, found := c.member(object, plain, key)
		if !found {
			c.unmapped = append(c.unmapped, plain)
			continue
		}
		c.value(p, at.in(key, arm), in[key])
	}
	c.required(object, at, in)
}

// required finds what is missing in an object, with what azure-native shows of its envelope. It
// fills in a location by itself.
func (c *check) required(object map[string]property, at place, in map[string]any) {
	all := maps.Clone(object)
	if !c.Whole {
		maps.Copy(all, c.Objects[object[envelope].Object])
		delete(all, envelope)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		key := c.shown(at.plain, name)
		if _, given := in[key]; all[name].Required && !given && key != "location" {
			path := join(at.path, key)
			c.refuse(path, "missing required property '%s'", path)
		}
	}
}

func (c *check) value(p property, at place, v any) {
	if p.ReadOnly {
		c.fault(at, Fault{Reason: fmt.Sprintf("The property '%s' can only be read.", at.arm)})
		return
	}
	switch v := v.(type) {
	case standin.Props:
		c.value(p, at, map[string]any(v))
	case map[string]any:
		c.entries(p, at, v)
	case []any:
		c.items(p, at, len(v))
		for i, e := range v {
			if p.Items != nil {
				c.value(*p.Items, at.at(fmt.Sprintf("[%d]", i)), e)
			}
		}
	case string:
		c.text(p, at, v)
	case float64:
		c.number(p, at, v)
	}
}

// items holds a list to its length, which azure-native does not.
func (c *check) items(p property, at place, n int) {
	low, high := p.MinItems != nil && n < int(*p.MinItems), p.MaxItems != nil && n > int(*p.MaxItems)
	if low || high {
		c.fault(at, Fault{Reason: fmt.Sprintf("The list has too %s items, %d. Path '%s'.", map[bool]string{true: "few", false: "many"}[low], n, at.arm)})
	}
}

// entries checks an object, or what is in a map.
func (c *check) entries(p property, at place, v map[string]any) {
	if p.Object != "" {
		c.object(c.Objects[p.Object], at, v)
		return
	}
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if p.Values != nil {
			c.value(*p.Values, place{at.path + "." + key, at.arm + "." + key, at.plain}, v[key])
		}
	}
}

func (c *check) text(p property, at place, v string) {
	c.length(p, at, v)
	if _, open := c.Open[at.plain]; len(p.Enum) > 0 && !open && !slices.Contains(p.Enum, v) {
		c.fault(at, Fault{Value: v, Allowed: p.Enum, Reason: fmt.Sprintf("Error converting value \"%s\" to one of %s. Path '%s'.", v, strings.Join(p.Enum, ", "), at.arm)})
	}
}

// length holds a text to its length and its pattern.
func (c *check) length(p property, at place, v string) {
	n := float64(len(v)) // of bytes, as azure-native has it
	if p.MinLength != nil && n < *p.MinLength {
		c.refuse(at.path, "'%s' is too short (%d): at least %.0f characters required", at.path, len(v), *p.MinLength)
	}
	if p.MaxLength != nil && n > *p.MaxLength {
		c.refuse(at.path, "'%s' is too long (%d): at most %.0f characters allowed", at.path, len(v), *p.MaxLength)
	}
	if expression := pattern(p.Pattern); expression != nil && !expression.MatchString(v) {
		c.refuse(at.path, "'%s' does not match expression '%s'", at.path, p.Pattern)
	}
}

func (c *check) number(p property, at place, v float64) {
	if p.Min != nil && v < *p.Min {
		c.refuse(at.path, "'%s' is too low (%f < %f)", at.path, v, *p.Min)
	}
	if p.Max != nil && v > *p.Max {
		c.refuse(at.path, "'%s' is too high (%f > %f)", at.path, v, *p.Max)
	}
}

func (c *check) refuse(path, format string, args ...any) {
	c.problems = append(c.problems, standin.Problem{Path: path, Reason: fmt.Sprintf(format, args...)})
}

func (c *check) fault(at place, f Fault) {
	f.Path, f.ARM, f.Code = at.path, at.arm, c.Codes[at.plain]
	c.faults = append(c.faults, f)
}
