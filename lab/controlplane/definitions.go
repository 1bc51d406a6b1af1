package controlplane

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// touched is put on a definition and taken off again: the two changes are what is wanted.
const touched = "tombolo.lab/touched"

// establish has the API server serve the definitions that its predecessor left
// half made. An API server takes a definition up when the definition changes,
// and looks at unchanged ones every five minutes: one that ends between the
// acceptance of the names and the establishing leaves it unserved for so long
// (updateCustomResourceDefinition and New in
// k8s.io/apiextensions-apiserver/pkg/apiserver, v0.36). A managed control plane
// has a second API server, which sees the change; the lab's has none.
func (m *Manager) establish(ctx context.Context, cluster string) error {
	config, err := m.admin(cluster)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	return establish(ctx, client)
}

func establish(ctx context.Context, client dynamic.Interface) error {
	list, err := client.Resource(definitions).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the definitions: %w", err)
	}
	for _, d := range list.Items {
		if !holds(d, "NamesAccepted") || holds(d, "Established") {
			continue
		}
		for _, value := range []string{`""`, "null"} {
			patch := []byte(`{"metadata":{"annotations":{"` + touched + `":` + value + `}}}`)
			if _, err := client.Resource(definitions).Patch(ctx, d.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
				return fmt.Errorf("touch the definition %s: %w", d.GetName(), err)
			}
		}
	}
	return nil
}

// holds reports whether a condition of a definition is true.
func holds(definition unstructured.Unstructured, condition string) bool {
	conditions, _, _ := unstructured.NestedSlice(definition.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == condition {
			return c["status"] == "True"
		}
	}
	return false
}
