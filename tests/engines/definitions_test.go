//go:build lab

package engines

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
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
	"sigs.k8s.io/yaml"

	"tombolo/tests/tier"
)

// update writes the definitions of Flux's kinds from the manifest that the lab installs.
var update = flag.Bool("update-definitions", false, "write check/flux/definition/definitions.json")

// kept are the parts of a definition that check holds objects to.
var kept = []string{"additionalProperties", "enum", "items", "pattern", "properties", "required", "type", "x-kubernetes-preserve-unknown-fields"}

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

// without is a schema with the parts that are kept; names of properties are none of its parts.
func without(v any, names bool) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			if names || slices.Contains(kept, key) {
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

// TestDefinitionsOfFlux: the definitions that check has are those of the Flux that the lab installs.
func TestDefinitionsOfFlux(t *testing.T) {
	tier.Short(t, "check knows the definitions of the Flux that the lab installs")
	file := filepath.Join("..", "..", "check", "flux", "definition", "definitions.json")
	text, err := os.ReadFile(file)
	assert.NilError(t, err)
	var known map[string]map[string]any
	assert.NilError(t, json.Unmarshal(text, &known))
	served, compared := definitions(t, "flux-install.yaml"), 0
	for key := range known {
		schema, ok := served[key]
		if !ok {
			continue // of a controller that the lab does not install
		}
		wanted := without(schema, false).(map[string]any)
		delete(wanted["properties"].(map[string]any), "status")
		compared++
		if *update {
			known[key] = wanted
			continue
		}
		assert.Check(t, is.DeepEqual(known[key], wanted), "%s: run the test with -update-definitions, and look at the change", key)
	}
	assert.Check(t, compared >= 11, "%d definitions are compared", compared)
	if *update {
		write(t, file, known)
	}
}

// write keeps one definition a line.
func write(t *testing.T, file string, known map[string]map[string]any) {
	t.Helper()
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(known)) {
		text, err := json.Marshal(known[key])
		assert.NilError(t, err)
		lines = append(lines, fmt.Sprintf("%q: %s", key, text))
	}
	assert.NilError(t, os.WriteFile(file, []byte("{\n"+strings.Join(lines, ",\n")+"\n}\n"), 0o644))
}

// TestFieldsOfArgoCD: the fields that check knows are those of the Argo CD that the lab installs.
func TestFieldsOfArgoCD(t *testing.T) {
	tier.Short(t, "check knows the fields of the Argo CD that the lab installs")
	text, err := os.ReadFile(filepath.Join("..", "..", "check", "argocd", "fields.yaml"))
	assert.NilError(t, err)
	var known map[string]any
	assert.NilError(t, yaml.Unmarshal(text, &known))
	served := definitions(t, "argocd-install.yaml")
	for kind, fields := range known {
		if schema, ok := served["argoproj.io/v1alpha1/"+kind]; ok {
			spec := schema["properties"].(map[string]any)["spec"].(map[string]any)
			sameFields(t, kind+".spec", fields, spec)
		}
	}
	for _, kind := range []string{"Application", "ApplicationSet", "AppProject"} {
		assert.Check(t, known[kind] != nil && served["argoproj.io/v1alpha1/"+kind] != nil, "%s is not compared", kind)
	}
}

// typesOfFields are the words of fields.yaml for types of definitions; a field without a word is text.
var typesOfFields = map[any]string{nil: "string", "bool": "boolean", "number": "integer", "list": "array", "map": "object"}

func sameFields(t *testing.T, at string, known any, schema map[string]any) {
	t.Helper()
	if known == "any" {
		return
	}
	fields, nested := known.(map[string]any)
	if !nested {
		assert.Check(t, is.Equal(schema["type"], typesOfFields[known]), at)
		return
	}
	if items, ok := schema["items"].(map[string]any); ok {
		schema = items
	}
	properties, _ := schema["properties"].(map[string]any)
	assert.Check(t, is.DeepEqual(slices.Sorted(maps.Keys(fields)), slices.Sorted(maps.Keys(properties))), at)
	for name, below := range fields {
		if of, ok := properties[name].(map[string]any); ok {
			sameFields(t, at+"."+name, below, of)
		}
	}
}
