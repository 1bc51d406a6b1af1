package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"helm.sh/helm/v3/pkg/chart"

	"tombolo/tools/upstream/facts"
)

// sample writes a chart into a new directory.
func sample(t *testing.T, template string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"Chart.yaml":  "apiVersion: v2\nname: demo\nversion: 0.0.0\ndependencies: [{name: db, version: 1.0.0}]\n",
		"values.yaml": "replicas: 1\nname: \"\"\npodAnnotations: {a: b}\nserver: {image: {tag: v1}, extra: []}\n",
		"templates/all.yaml": "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: demo}\n---\n" +
			"apiVersion: v1\nkind: Secret\nmetadata: {name: demo}\nstringData:\n  x: {{ .Values.server.given | quote }}\n  y: " + template + "\n---\n" +
			"apiVersion: v1\nkind: Pod\nmetadata: {name: demo}\nspec:\n  containers: [{name: a, image: 'demo:{{ .Values.server.image.tag }}'}]\n",
		"crds/stacks.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: stacks.example.com}
spec:
  group: example.com
  names: {kind: Stack}
  versions:
    - name: v1
      served: true
      schema:
        openAPIV3Schema:
          properties:
            spec:
              type: object
              required: [name]
              properties:
                name: {type: string}
                any: {type: object, x-kubernetes-preserve-unknown-fields: true}
                tags: {type: object, additionalProperties: {type: string}}
                list: {type: array, items: {type: object, required: [k], properties: {k: {type: integer}}}}
`,
	} {
		file := filepath.Join(dir, name)
		assert.NilError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		assert.NilError(t, os.WriteFile(file, []byte(content), 0o644))
	}
	return dir
}

func TestRead(t *testing.T) {
	dir := sample(t, "fixed")
	got, err := read(dir, pin{Version: "1.2.3", URL: "https://charts.example.com"})
	assert.NilError(t, err)
	assert.Check(t, strings.HasPrefix(got.Digest, "sha256:"))
	got.Digest = ""
	assert.Check(t, is.DeepEqual(got, facts.Chart{
		Name: "demo", Version: "1.2.3", Source: "https://charts.example.com", Dependencies: []string{"db"},
		Values: map[string]string{
			"replicas": "integer", "name": "any", "podAnnotations": "map", "server": "object", "server/image": "object",
			"server/image/tag": "string", "server/extra": "list", "server/given": "any",
		},
		ServiceAccounts: []string{"demo"}, Images: []string{"demo:v1"}, Generators: map[string][]string{},
		Definitions: map[string]facts.Fields{"Stack.example.com/v1": {
			"spec": "object", "spec/name": "string!", "spec/any": "any", "spec/tags": "map", "spec/tags/{}": "string",
			"spec/list": "list", "spec/list/[]": "object", "spec/list/[]/k": "integer!",
		}},
	}))
}

// TestGenerators finds calls, and neither a value's name, a text nor a comment.
func TestGenerators(t *testing.T) {
	for template, want := range map[string][]string{
		"{{ randAlphaNum 20 | b64enc }}":                         {"randAlphaNum"},
		`{{- $ca := genCA "a" 1 }} {{ (lookup "v1" "" "" "") }}`: {"genCA", "lookup"},
		`{{ .Values.now }} {{ "lookup" }} {{/* uuidv4 */}} now`:  nil,
	} {
		c := &chart.Chart{Templates: []*chart.File{{Name: "templates/a.yaml", Data: []byte(template)}}}
		assert.Check(t, is.DeepEqual(generators(c)["templates/a.yaml"], want), template)
	}
}

// TestRenderedTwice names the object with a random value, and no other.
func TestRenderedTwice(t *testing.T) {
	differ, err := renderedTwice(sample(t, "fixed"), nil)
	assert.NilError(t, err)
	assert.Check(t, is.Len(differ, 0))
	differ, err = renderedTwice(sample(t, "{{ randAlphaNum 20 }}"), nil)
	assert.NilError(t, err)
	assert.Check(t, is.DeepEqual(differ, []string{"Secret demo"}))
}

// TestStandInDefinitions: the lab's definitions have no field that upstream's do
// not, none in another type, and require what upstream's require.
func TestStandInDefinitions(t *testing.T) {
	for _, chart := range []string{"karpenter-crd", "external-secrets"} {
		standIn, err := read(filepath.Join("../../lab/charts", chart), pin{Values: map[string]any{"createOperator": false}})
		assert.NilError(t, err)
		assert.Check(t, len(standIn.Definitions) > 0, "%s: %s", chart, standIn.Unrendered)
		for name, fields := range standIn.Definitions {
			upstream, ok, err := facts.Definition(name)
			assert.NilError(t, err)
			assert.Assert(t, ok, name)
			for _, path := range slices.Sorted(maps.Keys(fields)) {
				given, want := strings.TrimSuffix(fields[path], "!"), strings.TrimSuffix(upstream[path], "!")
				if want == "" || given != want && given != facts.Any && want != facts.Any {
					t.Errorf("%s: the stand-in has %s as %q, upstream as %q", name, path, given, want)
				}
			}
			for path, kind := range upstream {
				parent := path[:max(strings.LastIndex(path, "/"), 0)]
				if strings.HasSuffix(kind, "!") && fields[parent] == facts.Object && !strings.HasSuffix(fields[path], "!") {
					t.Errorf("%s: upstream requires %s, the stand-in does not", name, path)
				}
			}
		}
	}
}
