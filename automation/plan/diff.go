package plan

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"sigs.k8s.io/yaml"

	"tombolo/automation/value"
)

// diffs are the properties of a resource that change, by path.
func diffs(m apitype.StepEventMetadata, op Op) []Diff {
	var out []Diff
	for _, path := range changedPaths(m, op) {
		parsed, err := resource.ParsePropertyPath(path)
		if err != nil {
			continue
		}
		before, after := values(m, parsed)
		for _, d := range compare(path, before, after) {
			d.ForcesReplace = forces(m, path)
			d.Published = publishes(m, parsed, d.Path)
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b Diff) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// changedPaths are the paths that the provider says change, else the top-level
// properties that it names; of what is new, or goes, all of its inputs.
func changedPaths(m apitype.StepEventMetadata, op Op) []string {
	paths := slices.Sorted(maps.Keys(m.DetailedDiff))
	if len(paths) == 0 {
		paths = slices.Sorted(slices.Values(m.Diffs))
	}
	if m.New != nil && m.Old != nil && !m.New.Custom { // no provider compares a component
		paths = keysOf(m.Old.Inputs, m.New.Inputs)
		paths = slices.DeleteFunc(paths, func(key string) bool { return reflect.DeepEqual(m.Old.Inputs[key], m.New.Inputs[key]) })
	}
	if op != Update && op != Replace {
		paths = nil
		for _, state := range []*apitype.StepEventStateMetadata{m.Old, m.New} {
			if state != nil {
				paths = slices.Sorted(maps.Keys(state.Inputs))
			}
		}
		paths = slices.DeleteFunc(paths, func(path string) bool { return inType(m.Type, path) })
	}
	return slices.DeleteFunc(paths, func(path string) bool { return strings.HasPrefix(path, "__") })
}

// inType says whether the type of a Kubernetes object says the property already.
func inType(token, path string) bool {
	return strings.HasPrefix(token, "kubernetes:") && (path == "apiVersion" || path == "kind")
}

// values at a path: what the program wanted, and wants. A mark of a secret on
// either side counts for both.
func values(m apitype.StepEventMetadata, path resource.PropertyPath) (before, after any) {
	at := func(s *apitype.StepEventStateMetadata) (any, bool) {
		if s == nil {
			return nil, false
		}
		found, secret := value.At(s.Inputs, path)
		if found == nil {
			return value.At(s.Outputs, path)
		}
		_, made := value.At(s.Outputs, path)
		return found, secret || made
	}
	was, secret := at(m.Old)
	has, hidden := at(m.New)
	hidden = hidden || secret || value.HidesContent(m.Type, path)
	return value.Shown(was, hidden), value.Shown(has, hidden)
}

func forces(m apitype.StepEventMetadata, path string) bool {
	switch m.DetailedDiff[path].Kind {
	case apitype.DiffAddReplace, apitype.DiffDeleteReplace, apitype.DiffUpdateReplace:
		return true
	}
	return slices.Contains(m.Keys, path)
}

// compare lists what differs in two values, down to what has no parts. Texts
// that are YAML or JSON are taken apart too.
func compare(path string, before, after any) []Diff {
	if reflect.DeepEqual(before, after) && before != value.Masked {
		return nil
	}
	was, had := parts(before)
	has, have := parts(after)
	if had && have || had && after == nil || have && before == nil {
		var out []Diff
		for _, key := range keysOf(was, has) {
			out = append(out, compare(join(path, key, before, after), was[key], has[key])...)
		}
		return out
	}
	return []Diff{{Path: path, Before: before, After: after}}
}

// parts of a value, by key or index; false for one that has none.
func parts(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case []any:
		out := make(map[string]any, len(v))
		for i, child := range v {
			out[fmt.Sprintf("[%03d]", i)] = child
		}
		return out, true
	case string:
		return document(v)
	}
	return nil, false
}

// document takes a text apart that is an object of YAML or JSON.
func document(text string) (map[string]any, bool) {
	if !strings.HasPrefix(text, "{") && !strings.Contains(text, "\n") {
		return nil, false
	}
	var out map[string]any
	if yaml.Unmarshal([]byte(text), &out) != nil || len(out) == 0 {
		return nil, false
	}
	return out, true
}

func join(path, key string, before, after any) string {
	_, was := before.(string)
	_, has := after.(string)
	var index int
	switch n, _ := fmt.Sscanf(key, "[%d]", &index); {
	case n == 1 && strings.HasSuffix(key, "]"):
		return fmt.Sprintf("%s[%d]", path, index)
	case was || has:
		return path + arrow + key
	case strings.ContainsAny(key, `.[/`):
		return fmt.Sprintf("%s[%q]", path, key)
	}
	return path + "." + key
}

// keysOf are the keys of two maps, sorted.
func keysOf(a, b map[string]any) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}
