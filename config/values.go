package config

import (
	"maps"
	"slices"

	"tombolo/config/strict"
	"tombolo/config/values"
)

// References are all places whose values are read from elsewhere, in the order of the
// file's keys.
func (c *Cluster) References() []values.Reference {
	var out []values.Reference
	for _, key := range slices.Sorted(maps.Keys(c.Values)) {
		if s, ok := c.Values[key].Source(); ok {
			out = append(out, values.Reference{Source: s, Path: strict.Path("values").Key(key)})
		}
	}
	for i, s := range c.Services {
		at := strict.Path("services").Index(i).Field("values")
		values.EachReference(at, s.Values, func(at strict.Path, keys map[string]any) {
			out = append(out, values.Reference{Source: values.SourceOf(keys), Path: at, Service: s.Name})
		})
	}
	return out
}

// ValueTexts are the keys that the file adds to the infra ConfigMap, with what was read
// in the place of each reference: numbers and booleans as YAML writes them.
func (c *Cluster) ValueTexts(read map[values.Source]any) map[string]string {
	return values.Texts(c.Values, read)
}
