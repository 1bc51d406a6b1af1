package definition

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tools/upstream/facts"
)

// TestStructural: an API server takes every definition that the facts give.
func TestStructural(t *testing.T) {
	all, err := facts.All()
	assert.NilError(t, err)
	found := 0
	for _, c := range all {
		for name, fields := range c.Definitions {
			found++
			_, err := Structural(fields)
			assert.Check(t, err, "%s of %s %s", name, c.Name, c.Version)
		}
	}
	assert.Check(t, found > 5)
}

// TestRefusals: unknown fields, other types and missing fields are refused, and
// what a definition takes as it is is not looked into.
func TestRefusals(t *testing.T) {
	fields := facts.Fields{
		"spec": "object!", "spec/name": "string!", "spec/any": "any", "spec/map": "map", "spec/list": "list",
		"spec/tags": "map", "spec/tags/{}": "string", "spec/items": "list", "spec/items/[]": "object", "spec/items/[]/n": "integer!",
	}
	for name, tt := range map[string]struct {
		spec any
		want []string
	}{
		"all fields": {spec: map[string]any{
			"name": "x", "any": map[string]any{"a": int64(1)}, "map": map[string]any{"a": "b"}, "list": []any{"x", int64(1)},
			"tags": map[string]any{"a": "b"}, "items": []any{map[string]any{"n": int64(1)}},
		}},
		"no spec":          {want: []string{".spec in body is required"}},
		"a missing field":  {spec: map[string]any{}, want: []string{"spec.name in body is required"}},
		"an unknown field": {spec: map[string]any{"name": "x", "nam": "y"}, want: []string{"unknown field spec.nam"}},
		"below a list": {
			spec: map[string]any{"name": "x", "items": []any{map[string]any{"m": int64(1)}}},
			want: []string{"spec.items[0].n in body is required", "unknown field spec.items[0].m"},
		},
		"another type": {
			spec: map[string]any{"name": "x", "tags": map[string]any{"a": int64(1)}},
			want: []string{`spec.tags.a in body must be of type string: "integer"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			object := map[string]any{"apiVersion": "example.com/v1", "kind": "Demo", "metadata": map[string]any{"name": "demo"}, "status": map[string]any{"a": "b"}}
			if tt.spec != nil {
				object["spec"] = tt.spec
			}
			got, err := Refusals(fields, object)
			assert.NilError(t, err)
			assert.Check(t, is.DeepEqual(got, tt.want))
		})
	}
}
