//go:build lab

package engines

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	k8syaml "k8s.io/apimachinery/pkg/util/yaml"

	"tombolo/tests/tier"
)

// update writes the definitions from the manifests that the lab installs.
var update = flag.Bool("update-definitions", false, "write check/definition/*.json")

// kept are the parts of a definition that check holds objects to.
var kept = []string{
	"additionalProperties", "default", "enum", "items", "maxLength", "minItems", "minLength", "pattern", "properties", "required", "type",
	"x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations",
}

// definitions of a manifest that the lab installs, by API version and kind.
func definitions(t *testing.T, manifest string) map[string]map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", ".tools", "share", manifest))
	assert.NilError(t, err)
	out := map[string]map[string]any{}
	for decoder := k8syaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		var o struct {
			Kind string
			Spec struct {
				Group    string
				Names    struct{ Kind string }
				Versions []struct {
					Name   string
					Schema struct{ OpenAPIV3Schema map[string]any }
				}
			}
		}
		err := decoder.Decode(&o)
		if errors.Is(err, io.EOF) {
			return out
		}
		assert.NilError(t, err)
		for _, v := range o.Spec.Versions {
			if o.Kind == "CustomResourceDefinition" {
				out[o.Spec.Group+"/"+v.Name+"/"+o.Spec.Names.Kind] = v.Schema.OpenAPIV3Schema
			}
		}
	}
}

// without is a schema with the parts that are kept; names of properties are none of its parts, and defaults and rules are
// kept as they are.
func without(v any, names bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			switch {
			case !names && key == "default":
				out[key] = value
			case !names && key == "x-kubernetes-validations":
				out[key] = rules(value)
			case names || slices.Contains(kept, key):
				out[key] = without(value, key == "properties" && !names)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = without(item, false)
		}
		return out
	}
	return v
}

// rules are those of a definition in the form that check evaluates. They are in the Common Expression Language; those that
// there are read as expressions of Go, once quotes are double and type is no word of Go's.
func rules(all any) any {
	var out []any
	for _, one := range all.([]any) {
		r := one.(map[string]any)
		e, err := parser.ParseExpr(strings.NewReplacer("'", `"`, "self.type", "self.type_").Replace(r["rule"].(string)))
		if err != nil {
			panic(fmt.Sprintf("%v: %v", r, err)) // a rule of a new kind: let check evaluate it
		}
		out = append(out, map[string]any{"message": r["message"], "holds": lists(e)})
	}
	return out
}

// lists is an expression as lists of an operator and what it is applied to.
func lists(e ast.Expr) any {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return lists(e.X)
	case *ast.UnaryExpr:
		return []any{e.Op.String(), lists(e.X)}
	case *ast.BinaryExpr:
		return []any{e.Op.String(), lists(e.X), lists(e.Y)}
	case *ast.CallExpr:
		return []any{e.Fun.(*ast.Ident).Name, fieldOf(e.Args[0])}
	case *ast.SelectorExpr:
		return []any{"field", fieldOf(e)}
	case *ast.BasicLit:
		var value any
		if err := json.Unmarshal([]byte(e.Value), &value); err != nil {
			panic(fmt.Sprintf("%s: %v", e.Value, err))
		}
		return value
	}
	panic(fmt.Sprintf("a rule has a %T: let check evaluate it", e))
}

// fieldOf is the path of a field below self.
func fieldOf(e ast.Expr) string {
	of := e.(*ast.SelectorExpr)
	name := strings.TrimSuffix(of.Sel.Name, "_")
	if _, isSelf := of.X.(*ast.Ident); isSelf {
		return name
	}
	return fieldOf(of.X) + "." + name
}

// TestDefinitionsOfFlux: the definitions that check has are those of the Flux that the lab installs.
func TestDefinitionsOfFlux(t *testing.T) {
	tier.Short(t, "check knows the definitions of the Flux that the lab installs")
	compareDefinitions(t, "flux.json", definitions(t, "flux-install.yaml"), 11)
}

// TestDefinitionsOfArgoCD: the definitions that check has are those of the Argo CD that the lab installs.
func TestDefinitionsOfArgoCD(t *testing.T) {
	tier.Short(t, "check knows the definitions of the Argo CD that the lab installs")
	compareDefinitions(t, "argocd.json", definitions(t, "argocd-install.yaml"), 3)
}

// definitionsFile is a file of check/definition: what several definitions have is shared.
type definitionsFile struct {
	Definitions map[string]any `json:"definitions"`
	Kinds       map[string]any `json:"kinds"`
}

// compareDefinitions compares those of a file that are served, or writes them.
func compareDefinitions(t *testing.T, name string, served map[string]map[string]any, least int) {
	t.Helper()
	path := filepath.Join("..", "..", "check", "definition", name)
	text, err := os.ReadFile(path)
	assert.NilError(t, err)
	var known definitionsFile
	assert.NilError(t, json.Unmarshal(text, &known))
	compared := 0
	for key := range known.Kinds {
		known.Kinds[key] = known.whole(known.Kinds[key])
		schema, ok := served[key]
		if !ok {
			continue // of a controller that the lab does not install
		}
		wanted := without(schema, false).(map[string]any)
		delete(wanted["properties"].(map[string]any), "status")
		compared++
		if *update {
			known.Kinds[key] = wanted
			continue
		}
		assert.Check(t, is.DeepEqual(known.Kinds[key], wanted), "%s: run the test with -update-definitions, and look at the change", key)
	}
	assert.Check(t, compared >= least, "%d definitions are compared", compared)
	if *update {
		assert.NilError(t, os.WriteFile(path, known.share().text(t), 0o644))
	}
}

const sharedDefinition = "#/definitions/"

// whole is a schema without references.
func (f definitionsFile) whole(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if name, ok := v["$ref"].(string); ok {
			return f.whole(f.Definitions[strings.TrimPrefix(name, sharedDefinition)])
		}
		for key := range v {
			v[key] = f.whole(v[key])
		}
	case []any:
		for i := range v {
			v[i] = f.whole(v[i])
		}
	}
	return v
}

// share makes references of the larger schemas that are there twice.
func (f definitionsFile) share() definitionsFile {
	sh := sharing{map[string]int{}, map[string]any{}}
	out := definitionsFile{sh.shared, map[string]any{}}
	for _, schema := range f.Kinds {
		sh.count(schema)
	}
	for key, schema := range f.Kinds {
		out.Kinds[key] = sh.inside(schema)
	}
	return out
}

// sharing knows how often a schema is there, and which ones are shared, by a name of their text.
type sharing struct {
	times  map[string]int
	shared map[string]any
}

func (sh sharing) count(v any) {
	text := oneLine(v)
	sh.times[text]++
	if sh.times[text] == 1 { // what is in a shared one is there once
		below(v, func(v any) any { sh.count(v); return v })
	}
}

func (sh sharing) replace(v any) any {
	text := oneLine(v)
	if sh.times[text] < 2 || len(text) < 150 {
		return sh.inside(v)
	}
	name := fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:8]
	if sh.shared[name] == nil {
		sh.shared[name] = sh.inside(v)
	}
	return map[string]any{"$ref": sharedDefinition + name}
}

func (sh sharing) inside(v any) any { return below(v, sh.replace) }

// below is a schema with other schemas for those of its fields and items.
func below(v any, other func(any) any) any {
	schema, ok := v.(map[string]any)
	if !ok {
		return v
	}
	schema = maps.Clone(schema)
	for _, key := range []string{"items", "additionalProperties"} {
		if of, ok := schema[key].(map[string]any); ok {
			schema[key] = other(of)
		}
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		properties = maps.Clone(properties)
		for key := range properties {
			properties[key] = other(properties[key])
		}
		schema["properties"] = properties
	}
	return schema
}

func oneLine(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // it came from JSON
	}
	return string(text)
}

// text has one definition a line.
func (f definitionsFile) text(t *testing.T) []byte {
	t.Helper()
	var parts []string
	for name, all := range map[string]map[string]any{"definitions": f.Definitions, "kinds": f.Kinds} {
		var lines []string
		for _, key := range slices.Sorted(maps.Keys(all)) {
			lines = append(lines, fmt.Sprintf("%q: %s", key, oneLine(all[key])))
		}
		parts = append(parts, fmt.Sprintf("%q: {\n%s\n}", name, strings.Join(lines, ",\n")))
	}
	slices.Sort(parts)
	return []byte("{" + strings.Join(parts, ", ") + "}\n")
}
