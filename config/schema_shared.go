package config

import (
	"encoding/json"
	"fmt"
	"strings"
)

// SharedSchema is the schema of files that share settings, and of cluster files that have some of
// theirs from them: Schema without required keys, where null takes a value away. Items of lists
// stay as they are: a list is replaced as a whole.
func SharedSchema() ([]byte, error) {
	var document map[string]any
	if err := json.Unmarshal(schema, &document); err != nil {
		return nil, fmt.Errorf("read the embedded schema: %w", err)
	}
	s := partial{types: document["$defs"].(map[string]any), seen: map[string]bool{}}
	byCloud := map[string]any{"if": document["if"], "then": document["then"], "else": document["else"]}
	s.visit(document)
	s.visit(byCloud)
	// Without a provider the file is for any cloud, and another file says for which.
	document["if"] = map[string]any{
		"required":   []string{"cloud"},
		"properties": map[string]any{"cloud": map[string]any{"type": "object", "required": []string{"provider"}}},
	}
	document["then"] = byCloud
	delete(document, "else")
	document["title"] = strings.Replace(fmt.Sprint(document["title"]), "cluster file", "cluster file with settings that files share", 1)
	return json.MarshalIndent(document, "", "  ")
}

// partial makes types of the schema partial, once each.
type partial struct {
	types map[string]any
	seen  map[string]bool
}

// visit follows a schema to the types of its mappings, and not to those of its lists' items.
func (s partial) visit(schema any) {
	of, ok := schema.(map[string]any)
	if !ok {
		return
	}
	if name, ok := of["$ref"].(string); ok {
		s.visitType(strings.TrimPrefix(name, "#/$defs/"))
	}
	s.visit(of["then"])
	s.visit(of["else"])
	if more, ok := of["additionalProperties"].(map[string]any); ok {
		s.visit(more)
		of["additionalProperties"] = orNull(more)
	}
	for _, one := range asList(of["anyOf"]) {
		s.visit(one)
	}
}

func (s partial) visitType(name string) {
	of, ok := s.types[name].(map[string]any)
	if !ok || s.seen[name] {
		return
	}
	s.seen[name] = true
	delete(of, "required")
	properties, _ := of["properties"].(map[string]any)
	for key, property := range properties {
		s.visit(property)
		if about, ok := property.(map[string]any); ok { // false where a cloud does not have the key
			properties[key] = orNull(about)
		}
	}
}

// orNull is the schema of a value that may be taken away.
func orNull(of map[string]any) map[string]any {
	out := map[string]any{"anyOf": []any{of, map[string]any{"type": "null"}}}
	if words, ok := of["description"]; ok {
		out["description"] = words // where editors look for it
		delete(of, "description")
	}
	return out
}

func asList(v any) []any { list, _ := v.([]any); return list }
