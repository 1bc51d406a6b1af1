package standin

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"google.golang.org/protobuf/types/known/structpb"
)

// Props are properties as plain values: string, float64, bool, []any, props as
// map[string]any, and unknown in a preview.
type Props map[string]any

// Unknown stands for a value that only an update will know.
type Unknown struct{}

// Clone copies properties with all that is in them.
func (p Props) Clone() Props {
	out, _ := cloneValue(map[string]any(p)).(map[string]any)
	return out
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case Props:
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

// Str returns a text, empty when there is none.
func (p Props) Str(key string) string { s, _ := p[key].(string); return s }

// Integer returns a number without its fraction, 0 when there is none.
func (p Props) Integer(key string) int { f, _ := p[key].(float64); return int(f) }

// Boolean returns a truth value, false when there is none.
func (p Props) Boolean(key string) bool { b, _ := p[key].(bool); return b }

// Has reports whether a property is there.
func (p Props) Has(key string) bool { _, ok := p[key]; return ok }

// Sub returns a nested object, empty when there is none.
func (p Props) Sub(key string) Props {
	switch v := p[key].(type) {
	case map[string]any:
		return v
	case Props:
		return v
	default:
		return Props{}
	}
}

// List returns the strings of a list.
func (p Props) List(key string) []string { return stringsOf(p[key]) }

// Objects returns the objects of a list.
func (p Props) Objects(key string) []Props {
	list, _ := p[key].([]any)
	var out []Props
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// Strs returns a map of strings.
func (p Props) Strs(key string) map[string]string {
	out := map[string]string{}
	for k, v := range p.Sub(key) {
		if s, ok := v.(string); ok {
			out[k] = s
		}
	}
	return out
}

// SetDefault sets a property that is missing.
func (p Props) SetDefault(key string, value any) {
	if !p.Has(key) {
		p[key] = value
	}
}

// SetDefaults sets the properties that are missing.
func (p Props) SetDefaults(defaults Props) {
	for key, value := range defaults {
		p.SetDefault(key, value)
	}
}

// keep takes over a property that others have.
func (p Props) keep(key string, others Props) {
	if value, has := others[key]; has {
		p[key] = value
	}
}

// At returns what a path of keys leads to: strings at the end of nested objects
// and lists.
func (p Props) At(path ...string) []string {
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
	case Props:
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

// Values makes a list of properties.
func Values[T any](values ...T) []any {
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

// HasUnknown reports whether a value or a part of it is unknown.
func HasUnknown(value any) bool {
	switch v := value.(type) {
	case Unknown:
		return true
	case []any:
		return slices.ContainsFunc(v, HasUnknown)
	case map[string]any:
		for _, e := range v {
			if HasUnknown(e) {
				return true
			}
		}
	case Props:
		return HasUnknown(map[string]any(v))
	}
	return false
}

// Unmarshal turns what the engine sends into props. Secrets arrive as plain
// values, because the provider does not accept them: the engine marks them
// again in what it gets back.
func Unmarshal(s *structpb.Struct, label string) (Props, error) {
	m, err := plugin.UnmarshalProperties(s, plugin.MarshalOptions{
		Label: label, KeepUnknowns: true, SkipNulls: true, SkipInternalKeys: true, RejectAssets: true,
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", label, err)
	}
	out := Props{}
	for k, v := range m {
		out[string(k)] = plain(v)
	}
	return out, nil
}

// reader reads several properties, and keeps the first error.
type reader struct{ err error }

func (r *reader) read(s *structpb.Struct, label string) Props {
	out, err := Unmarshal(s, label)
	r.err = cmp.Or(r.err, err)
	return out
}

func plain(v resource.PropertyValue) any {
	switch {
	case v.IsComputed(), v.IsOutput() && !v.OutputValue().Known:
		return Unknown{}
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

// Marshal turns properties into what the engine is sent.
func Marshal(p Props, label string) (*structpb.Struct, error) {
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
	case Unknown:
		return resource.MakeComputed(resource.NewProperty(""))
	case int:
		return resource.NewProperty(float64(v))
	case Props:
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

// Normal brings properties to the types that JSON has, as they are after a
// restart.
func Normal(v any) any {
	switch v := v.(type) {
	case int:
		return float64(v)
	case Props:
		return Normal(map[string]any(v))
	case map[string]any:
		for k, e := range v {
			v[k] = Normal(e)
		}
		return v
	case []any:
		for i, e := range v {
			v[i] = Normal(e)
		}
		return v
	case []string:
		return Values(v...)
	case map[string]string:
		return object(v)
	default:
		return v
	}
}

// Equal compares two values.
func Equal(a, b any) bool { return reflect.DeepEqual(a, b) }

// SortedKeys are the keys of a map in order.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Number reads a number from a text.
func Number(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}
