package teardown

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"tombolo/internal/names"
)

// definitionKind is that of definitions of custom resources.
var definitionKind = schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}

// RetryDefinitions has the API server try again to delete definitions of custom resources, each
// time that the pause has passed and it could not, until the context ends.
//
// Before such a definition goes, the server lists its instances. Since Kubernetes 1.31 the list is
// refused while the server's cache of them is not filled ("storage is (re)initializing"), and the
// server comes back later and later: after 80 s, and then after 160 s. A change of the
// definition has it come back at once. Sources: k8s.io/apiserver's pkg/storage/cacher/cacher.go,
// k8s.io/apiextensions-apiserver's pkg/controller/finalizer/crd_finalizer.go,
// https://kep.k8s.io/4568.
func (c Cluster) RetryDefinitions(ctx context.Context, pause time.Duration) {
	// What fails here only takes longer, and the deletion itself reports what keeps it.
	_ = wait.PollUntilContextCancel(ctx, pause, false, func(ctx context.Context) (bool, error) {
		_ = c.retryDefinitions(ctx)
		return false, nil
	})
}

func (c Cluster) retryDefinitions(ctx context.Context) error {
	mapper, err := c.Mapper()
	if err != nil {
		return err
	}
	all, err := c.list(ctx, mapper, definitionKind)
	if err != nil {
		return err
	}
	change, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"annotations": map[string]string{names.RetriedAnnotation: time.Now().UTC().Format(time.RFC3339Nano)},
	}})
	if err != nil {
		return fmt.Errorf("write an annotation: %w", err)
	}
	for _, o := range all {
		if !o.deleting() || !instancesUnlisted(o.Unstructured) {
			continue
		}
		if _, err := o.resource.Patch(ctx, o.GetName(), types.MergePatchType, change, metav1.PatchOptions{FieldManager: manager}); err != nil {
			return fmt.Errorf("annotate %s: %w", o, err)
		}
	}
	return nil
}

// instancesUnlisted says that the server could not delete the instances, and tries that again.
func instancesUnlisted(o *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		is, _ := c.(map[string]any)
		if is["type"] == "Terminating" && is["reason"] == "InstanceDeletionFailed" {
			return true
		}
	}
	return false
}
