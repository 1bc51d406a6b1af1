package controlplane

import (
	"testing"

	"gotest.tools/v3/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
)

// TestEstablish changes the definitions whose names are accepted and that are
// not served, and leaves them as they were.
func TestEstablish(t *testing.T) {
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{definitions: "CustomResourceDefinitionList"},
		definition("served", "True", "True"), definition("left", "True", "False"), definition("refused", "False", "False"))
	assert.NilError(t, establish(t.Context(), client))
	var patched []string
	for _, a := range client.Actions() {
		if p, ok := a.(interface{ GetPatch() []byte }); ok {
			patched = append(patched, string(p.GetPatch()))
		}
	}
	assert.DeepEqual(t, patched, []string{
		`{"metadata":{"annotations":{"tombolo.lab/touched":""}}}`,
		`{"metadata":{"annotations":{"tombolo.lab/touched":null}}}`,
	})
	left, err := client.Tracker().Get(definitions, "", "left")
	assert.NilError(t, err)
	assert.Equal(t, len(left.(*unstructured.Unstructured).GetAnnotations()), 0)
}

func definition(name, accepted, established string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": name},
		"status": map[string]any{"conditions": []any{
			map[string]any{"type": "NamesAccepted", "status": accepted},
			map[string]any{"type": "Established", "status": established},
		}},
	}}
}
