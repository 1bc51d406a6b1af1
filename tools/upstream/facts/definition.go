package facts

import "strings"

// Schema is the definition's schema, as apiextensions.k8s.io/v1 has it in
// openAPIV3Schema: an API server refuses other types and missing fields, and under
// strict validation fields that it does not have. Status takes anything.
func (f Fields) Schema() map[string]any {
	schema := f.objectSchema("")
	properties, _ := schema["properties"].(map[string]any)
	for _, key := range []string{"apiVersion", "kind"} {
		properties[key] = map[string]any{"type": "string"}
	}
	properties["metadata"] = map[string]any{"type": "object"}
	properties["status"] = map[string]any{"type": "object", preserve: true}
	return schema
}

// preserve takes any field.
const preserve = "x-kubernetes-preserve-unknown-fields"

func (f Fields) objectSchema(at string) map[string]any {
	properties := map[string]any{}
	var required []any
	for path, kind := range f {
		parent, key := split(path)
		if parent != at || key == "[]" || key == "{}" {
			continue
		}
		properties[key] = f.fieldSchema(path)
		if strings.HasSuffix(kind, "!") {
			required = append(required, key)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

func (f Fields) fieldSchema(path string) map[string]any {
	items, values := path+"/[]", path+"/{}"
	switch kind := strings.TrimSuffix(f[path], "!"); {
	case kind == Object:
		return f.objectSchema(path)
	case kind == Map && f[values] != "":
		return map[string]any{"type": "object", "additionalProperties": f.fieldSchema(values)}
	case kind == Map:
		return map[string]any{"type": "object", preserve: true}
	case kind == List && f[items] != "":
		return map[string]any{"type": "array", "items": f.fieldSchema(items)}
	case kind == List:
		return map[string]any{"type": "array", "items": map[string]any{preserve: true}}
	case kind == Any:
		return map[string]any{preserve: true}
	default:
		return map[string]any{"type": kind}
	}
}
