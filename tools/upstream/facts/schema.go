package facts

import (
	"maps"
	"slices"
	"strings"
)

// Schema is a JSON schema of the values that the chart takes: any other key is
// refused, and so is another type. A map, and the values of a dependency without
// facts, take any key. Null is taken everywhere: in Helm it removes a default.
func (c Chart) Schema() (map[string]any, error) {
	values, err := c.taken()
	if err != nil {
		return nil, err
	}
	schema := objectSchema(byParent(values), "")
	schema["$schema"] = "http://json-schema.org/draft-07/schema#"
	return schema, nil
}

// taken are the chart's values with those of its dependencies, and global, which
// Helm adds and the dependencies read too.
func (c Chart) taken() (map[string]string, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	out := maps.Clone(c.Values)
	for _, name := range c.Dependencies {
		i := slices.IndexFunc(all, func(d Chart) bool { return d.Name == name })
		if i < 0 {
			out[name] = Map
			continue
		}
		out[name] = Object
		for path, kind := range all[i].Values {
			join(out, name+"/"+path, kind)
		}
	}
	if len(c.Dependencies) > 0 || out["global"] != Object {
		out["global"] = Map
	}
	if c.Name == "alloy" || c.Name == "promtail" {
		out["global/loki"] = Map // read by the tree's own templates, which both charts evaluate by tpl
	}
	if out["grafana/grafana.ini"] != "" {
		out["grafana/grafana.ini"] = Map // its template grafana.ini writes every section and key that is there
	}
	return out, nil
}

// join adds a value that two charts read, each in its own way.
func join(values map[string]string, path, kind string) {
	switch have := values[path]; {
	case have == "":
		values[path] = kind
	case have != kind:
		values[path] = Any
	}
}

// objectSchema is the schema of the values below a path. The values come by the
// path of their parent.
func objectSchema(values map[string]map[string]string, at string) map[string]any {
	properties := map[string]any{}
	for key, kind := range values[at] {
		properties[key] = map[string]any{}
		switch kind {
		case Any:
		case Object:
			properties[key] = objectSchema(values, strings.TrimPrefix(at+"/"+key, "/"))
		case Map:
			properties[key] = ofType("object")
		case List:
			properties[key] = ofType("array")
		default:
			properties[key] = ofType(kind)
		}
	}
	out := ofType("object")
	out["properties"], out["additionalProperties"] = properties, false
	return out
}

func ofType(kind string) map[string]any { return map[string]any{"type": []string{kind, "null"}} }

// byParent are the types by the parent's path and the key.
func byParent(values map[string]string) map[string]map[string]string {
	out := map[string]map[string]string{}
	for path, kind := range values {
		parent, key := split(path)
		if out[parent] == nil {
			out[parent] = map[string]string{}
		}
		out[parent][key] = kind
	}
	return out
}

// split a path into its parent's and its key.
func split(path string) (parent, key string) {
	if i := strings.LastIndex(path, "/"); i >= 0 {
		return path[:i], path[i+1:]
	}
	return "", path
}
