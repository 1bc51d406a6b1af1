// Package facts has what upstream's charts take and define, as data that
// tools/upstream reads from the charts themselves. Tests hold the platform
// trees, the catalogue, and the lab's stand-in charts against it.
package facts

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Types of values and fields. A value of type Any, Map or List is not looked into.
const (
	String  = "string"
	Integer = "integer"
	Number  = "number"
	Boolean = "boolean"
	Object  = "object"
	Map     = "map"
	List    = "list"
	Any     = "any"
)

// Chart has the facts of one version of a chart.
type Chart struct {
	Name    string `json:"chart"`
	Version string `json:"version"`
	// AppVersion is what Chart.yaml says of the software: of definitions, their
	// release.
	AppVersion string `json:"appVersion,omitempty"`
	// Digest is the SHA-256 of the chart's files, without Chart.yaml and the
	// charts that it depends on: packing a chart changes those.
	Digest string `json:"digest"`
	// Source is where the files were read: the address of a chart repository, or
	// of a Git repository with its revision and directory.
	Source string `json:"source"`
	// Dependencies are the names, in values, of the charts that it depends on.
	// Their values are those charts' facts.
	Dependencies []string `json:"dependencies,omitempty"`
	// Values are the types of the values that it takes, by their keys with
	// slashes between them. The types come from the defaults; a value that only
	// templates name has type Any.
	Values map[string]string `json:"values"`
	// ServiceAccounts and Images are those of the chart rendered with its
	// defaults, as a release of its own name.
	ServiceAccounts []string `json:"serviceAccounts,omitempty"`
	Images          []string `json:"images,omitempty"`
	// Unrendered says why there are none: a chart read from sources may lack its
	// dependencies.
	Unrendered string `json:"unrendered,omitempty"`
	// Generators are functions of the chart's templates that may give something
	// else each time, by the template's file: random text, certificates, times,
	// and lookup, which finds nothing without a cluster.
	Generators map[string][]string `json:"generators,omitempty"`
	// Definitions are the fields of custom resources, by <kind>.<group>/<version>.
	Definitions map[string]Fields `json:"definitions,omitempty"`
}

// Fields are the types of a custom resource's fields, by their keys with slashes
// between them. A list's items are at [], a map's values at {}. A type ends in !
// when its field is required.
type Fields map[string]string

// All are the facts of all charts, by chart and version.
func All() ([]Chart, error) { return all() }

var all = sync.OnceValues(load)

// Find returns the facts of a chart's version, and whether there are any.
func Find(name, version string) (Chart, bool, error) {
	all, err := All()
	for _, c := range all {
		if c.Name == name && c.Version == version {
			return c, true, nil
		}
	}
	return Chart{}, false, err
}

// Definition returns the fields of a custom resource, by <kind>.<group>/<version>.
func Definition(name string) (Fields, bool, error) {
	all, err := All()
	for _, c := range all {
		if f, ok := c.Definitions[name]; ok {
			return f, true, nil
		}
	}
	return nil, false, err
}

// CheckValues says which of the values the chart does not take, or in another
// type. A dependency's values count when there are facts of that chart.
func (c Chart) CheckValues(values map[string]any) ([]string, error) {
	taken, err := c.taken()
	if err != nil {
		return nil, err
	}
	c.Values = taken
	return c.checkValues(values, ""), nil
}

func (c Chart) checkValues(values map[string]any, at string) []string {
	var problems []string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		path := strings.TrimPrefix(at+"/"+key, "/")
		kind, known := c.Values[path]
		inner, isMap := values[key].(map[string]any)
		switch {
		case !known:
			problems = append(problems, fmt.Sprintf("%s: the chart %s %s has no such value", path, c.Name, c.Version))
		case values[key] == nil: // removes a default
		case kind == Object && isMap:
			problems = append(problems, c.checkValues(inner, path)...)
		case kind == Object || !fits(kind, values[key]):
			problems = append(problems, fmt.Sprintf("%s is %v, the chart %s %s takes %s", path, values[key], c.Name, c.Version, kind))
		}
	}
	return problems
}

// Check says what in an object is not as its definition has it: unknown fields,
// other types, and required fields that are missing.
func (f Fields) Check(object map[string]any) []string {
	rest := maps.Clone(object)
	for _, key := range []string{"apiVersion", "kind", "metadata", "status"} {
		delete(rest, key)
	}
	return f.object(rest, "")
}

func (f Fields) object(object map[string]any, at string) []string {
	var problems []string
	for _, key := range slices.Sorted(maps.Keys(object)) {
		path := strings.TrimPrefix(at+"/"+key, "/")
		if _, known := f[path]; !known {
			problems = append(problems, path+": the definition has no such field")
			continue
		}
		problems = append(problems, f.value(object[key], path)...)
	}
	for _, path := range slices.Sorted(maps.Keys(f)) {
		parent, key := split(path)
		if parent == at && strings.HasSuffix(f[path], "!") && !has(object, key) {
			problems = append(problems, path+": the definition requires it")
		}
	}
	return problems
}

func has(object map[string]any, key string) bool {
	_, ok := object[key]
	return ok
}

func (f Fields) value(value any, path string) []string {
	kind := strings.TrimSuffix(f[path], "!")
	inner, isMap := value.(map[string]any)
	items, isList := value.([]any)
	var problems []string
	switch {
	case value == nil:
	case kind == Object && isMap:
		return f.object(inner, path)
	case kind == Map && isMap && f[path+"/{}"] != "":
		for _, key := range slices.Sorted(maps.Keys(inner)) {
			problems = append(problems, f.value(inner[key], path+"/{}")...)
		}
	case kind == List && isList && f[path+"/[]"] != "":
		for _, item := range items {
			problems = append(problems, f.value(item, path+"/[]")...)
		}
	case kind == Object || !fits(kind, value):
		return []string{fmt.Sprintf("%s is %v, the definition takes %s", path, value, kind)}
	}
	return problems
}

// fits says whether a value, as YAML or JSON gives it, has a type. Nil fits any:
// in Helm it removes a default.
func fits(kind string, value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return kind == String || kind == Any
	case bool:
		return kind == Boolean || kind == Any
	case int, int64:
		return kind == Integer || kind == Number || kind == Any
	case float64:
		return kind == Number || kind == Any || kind == Integer && value == float64(int64(value))
	case []any:
		return kind == List || kind == Any
	case map[string]any:
		return kind == Map || kind == Any
	}
	return false
}
