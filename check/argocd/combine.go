package argocd

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"dario.cat/mergo"
)

// nested are the generators of a matrix or merge.
type nested struct {
	Generators []generator `json:"generators"`
	MergeKeys  []string    `json:"mergeKeys"`
}

// matrix are the parameters of two generators, each of the first with each of the second.
func (g generation) matrix(raw json.RawMessage, at []string) ([]map[string]any, bool) {
	var m nested
	if err := json.Unmarshal(raw, &m); err != nil || len(m.Generators) != 2 {
		g.refuse(fmt.Sprintf("its matrix has %d generators", len(m.Generators)), "give a matrix two generators: one of them may be a matrix")
		return nil, true
	}
	at = append(slices.Clip(at), "generators", "[]")
	first, ok := g.parameters(m.Generators[0], at, nil)
	if !ok {
		return nil, false
	}
	var out []map[string]any
	for _, a := range first {
		second, ok := g.parameters(m.Generators[1], at, a)
		if !ok {
			return nil, false
		}
		for _, b := range second {
			both, err := g.joined(a, b)
			if err != nil {
				g.refuse("the generators of its matrix do not go together: "+err.Error(), "give the parameters other names, or set goTemplate: true")
				return nil, true
			}
			out = append(out, both)
		}
	}
	return out, true
}

// joined are the parameters of a matrix: those of the first generator win with goTemplate, and
// must not differ without.
func (g generation) joined(first, second map[string]any) (map[string]any, error) {
	out := map[string]any{}
	if g.set.Spec.GoTemplate {
		if err := mergo.Merge(&out, copied(second), mergo.WithOverride); err != nil {
			return nil, err
		}
		return out, mergo.Merge(&out, copied(first), mergo.WithOverride)
	}
	for _, parameters := range []map[string]any{first, second} {
		for key, value := range parameters {
			text := fmt.Sprint(value)
			if other, ok := out[key]; ok && other != text {
				return nil, fmt.Errorf("both give %s, %q and %q", key, other, text)
			}
			out[key] = text
		}
	}
	return out, nil
}

// copied is a copy of parameters as deep as mergo writes into them.
func copied(parameters map[string]any) map[string]any {
	out := maps.Clone(parameters)
	for key, value := range out {
		if below, ok := value.(map[string]any); ok {
			out[key] = copied(below)
		}
	}
	return out
}

// merge are the parameters of the first generator, with those of the others over them that have the
// same values of the merge keys.
func (g generation) merge(raw json.RawMessage, at []string) ([]map[string]any, bool) {
	var m nested
	if err := json.Unmarshal(raw, &m); err != nil || len(m.Generators) < 2 || len(m.MergeKeys) == 0 {
		g.refuse(fmt.Sprintf("its merge has %d generators and %d mergeKeys", len(m.Generators), len(m.MergeKeys)), "give a merge two generators or more, and mergeKeys")
		return nil, true
	}
	at = append(slices.Clip(at), "generators", "[]")
	var keys []string
	base := map[string]map[string]any{}
	for i, of := range m.Generators {
		g.overrides = g.overrides || i > 0
		all, ok := g.parameters(of, at, nil)
		if !ok {
			return nil, false
		}
		met := map[string]bool{}
		for _, parameters := range all {
			key := mergeKey(m.MergeKeys, parameters)
			if met[key] {
				g.refuse(fmt.Sprintf("generator %d of its merge gives two sets of parameters with the same mergeKeys %s", i+1, key),
					"choose mergeKeys that tell the parameters apart; with goTemplate they are names at the top, as in name")
				return nil, true
			}
			met[key] = true
			switch below, ok := base[key]; {
			case i == 0:
				keys, base[key] = append(keys, key), copied(parameters)
			case ok && !g.set.Spec.GoTemplate:
				maps.Copy(below, parameters)
			case ok:
				if err := mergo.Merge(&below, copied(parameters), mergo.WithOverride); err != nil {
					g.refuse("the generators of its merge do not go together: "+err.Error(), "give the parameters the same types")
					return nil, true
				}
				base[key] = below
			}
		}
	}
	out := make([]map[string]any, len(keys))
	for i, key := range keys {
		out[i] = base[key]
	}
	return out, true
}

// mergeKey is what parameters have of the merge keys, which are looked for at the top alone.
func mergeKey(keys []string, parameters map[string]any) string {
	of := map[string]any{}
	for _, key := range keys {
		of[key] = parameters[key]
	}
	text, err := json.Marshal(of)
	if err != nil {
		panic(err) // it came out of JSON
	}
	return string(text)
}
