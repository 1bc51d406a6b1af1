package aws

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"google.golang.org/protobuf/types/known/structpb"
)

// props are properties as plain values: string, float64, bool, []any, props as
// map[string]any, and unknown in a preview.
type props map[string]any

// unknown stands for a value that only an update will know.
type unknown struct{}

func (p props) clone() props {
	out, _ := cloneValue(map[string]any(p)).(map[string]any)
	return out
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case props:
		return cloneValue(map[string]any(v))
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = cloneValue(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = cloneValue(e)
		}
		return out
	default:
		return v
	}
}

func (p props) str(key string) string { s, _ := p[key].(string); return s }

func (p props) integer(key string) int { f, _ := p[key].(float64); return int(f) }

func (p props) boolean(key string) bool { b, _ := p[key].(bool); return b }

func (p props) has(key string) bool { _, ok := p[key]; return ok }

// sub returns a nested object, empty when there is none.
func (p props) sub(key string) props {
	switch v := p[key].(type) {
	case map[string]any:
		return v
	case props:
		return v
	default:
		return props{}
	}
}

// list returns the strings of a list.
func (p props) list(key string) []string { return stringsOf(p[key]) }

// objects returns the objects of a list.
func (p props) objects(key string) []props {
	list, _ := p[key].([]any)
	var out []props
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// strs returns a map of strings.
func (p props) strs(key string) map[string]string {
	out := map[string]string{}
	for k, v := range p.sub(key) {
		if s, ok := v.(string); ok {
			out[k] = s
		}
	}
	return out
}

// setDefault sets a property that is missing.
func (p props) setDefault(key string, value any) {
	if !p.has(key) {
		p[key] = value
	}
}

// at returns what a path of keys leads to: strings at the end of nested objects
// and lists.
func (p props) at(path ...string) []string {
	var value any = map[string]any(p)
	return collect(value, path)
}

func collect(value any, path []string) []string {
	if list, ok := value.([]any); ok && len(path) > 0 {
		var out []string
		for _, e := range list {
			out = append(out, collect(e, path)...)
		}
		return out
	}
	if len(path) == 0 {
		return stringsOf(value)
	}
	switch m := value.(type) {
	case map[string]any:
		return collect(m[path[0]], path[1:])
	case props:
		return collect(m[path[0]], path[1:])
	default:
		return nil
	}
}

func stringsOf(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return out
	default:
		return nil
	}
}

// anys makes a list of properties.
func anys[T any](values ...T) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

// object makes a map of properties from strings.
func object(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// hasUnknown reports whether a value or a part of it is unknown.
func hasUnknown(value any) bool {
	switch v := value.(type) {
	case unknown:
		return true
	case []any:
		return slices.ContainsFunc(v, hasUnknown)
	case map[string]any:
		for _, e := range v {
			if hasUnknown(e) {
				return true
			}
		}
	case props:
		return hasUnknown(map[string]any(v))
	}
	return false
}

// unmarshal turns what the engine sends into props. Secrets arrive as plain
// values, because the provider does not accept them: the engine marks them
// again in what it gets back.
func unmarshal(s *structpb.Struct, label string) (props, error) {
	m, err := plugin.UnmarshalProperties(s, plugin.MarshalOptions{
		Label: label, KeepUnknowns: true, SkipNulls: true, SkipInternalKeys: true, RejectAssets: true,
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", label, err)
	}
	out := props{}
	for k, v := range m {
		out[string(k)] = plain(v)
	}
	return out, nil
}

func plain(v resource.PropertyValue) any {
	switch {
	case v.IsComputed(), v.IsOutput() && !v.OutputValue().Known:
		return unknown{}
	case v.IsOutput():
		return plain(v.OutputValue().Element)
	case v.IsSecret():
		return plain(v.SecretValue().Element)
	case v.IsResourceReference():
		id, _ := v.ResourceReferenceValue().IDString()
		return id
	case v.IsArray():
		out := make([]any, len(v.ArrayValue()))
		for i, e := range v.ArrayValue() {
			out[i] = plain(e)
		}
		return out
	case v.IsObject():
		out := map[string]any{}
		for k, e := range v.ObjectValue() {
			if !e.IsNull() {
				out[string(k)] = plain(e)
			}
		}
		return out
	default:
		return v.V
	}
}

func marshal(p props, label string) (*structpb.Struct, error) {
	m := resource.PropertyMap{}
	for k, v := range p {
		m[resource.PropertyKey(k)] = property(v)
	}
	s, err := plugin.MarshalProperties(m, plugin.MarshalOptions{Label: label, KeepUnknowns: true, SkipNulls: true})
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", label, err)
	}
	return s, nil
}

func property(v any) resource.PropertyValue {
	switch v := v.(type) {
	case unknown:
		return resource.MakeComputed(resource.NewProperty(""))
	case int:
		return resource.NewProperty(float64(v))
	case props:
		return property(map[string]any(v))
	case map[string]any:
		m := resource.PropertyMap{}
		for k, e := range v {
			m[resource.PropertyKey(k)] = property(e)
		}
		return resource.NewProperty(m)
	case []any:
		list := make([]resource.PropertyValue, len(v))
		for i, e := range v {
			list[i] = property(e)
		}
		return resource.NewProperty(list)
	default:
		return resource.NewPropertyValue(v)
	}
}

// normal brings properties to the types that JSON has, as they are after a
// restart.
func normal(v any) any {
	switch v := v.(type) {
	case int:
		return float64(v)
	case props:
		return normal(map[string]any(v))
	case map[string]any:
		for k, e := range v {
			v[k] = normal(e)
		}
		return v
	case []any:
		for i, e := range v {
			v[i] = normal(e)
		}
		return v
	case []string:
		return anys(v...)
	case map[string]string:
		return object(v)
	default:
		return v
	}
}

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func number(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}
