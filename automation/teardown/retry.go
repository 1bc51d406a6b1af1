package teardown

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"tombolo/internal/names"
)

// RetryDeletions has the cluster try again to delete those of its definitions of custom resources
// and of its namespaces that ours says are to go, each time that the pause has passed and they are
// not gone, until the context ends.
//
// Before either goes, Kubernetes lists what it holds. Since 1.31 the list is refused while the
// API server's cache of it is not filled ("storage is (re)initializing"), as for definitions
// that have just been touched. Kubernetes comes back later and later: after 80 s, and then after
// 160 s. A change of the object has it come back at once. Sources: k8s.io/apiserver's
// pkg/storage/cacher/cacher.go, k8s.io/apiextensions-apiserver's
// pkg/controller/finalizer/crd_finalizer.go, k8s.io/kubernetes'
// pkg/controller/namespace/namespace_controller.go, https://kep.k8s.io/4568.
func (c Cluster) RetryDeletions(ctx context.Context, pause time.Duration, ours func(kind, name string) bool) {
	// What fails here only takes longer, and the deletion itself reports what keeps it.
	_ = wait.PollUntilContextCancel(ctx, pause, false, func(ctx context.Context) (bool, error) {
		_ = c.retryDeletions(ctx, pause, ours)
		return false, nil
	})
}

// retryDeletions annotates what has been there for the pause since it was deleted.
func (c Cluster) retryDeletions(ctx context.Context, pause time.Duration, ours func(kind, name string) bool) error {
	mapper, err := c.Mapper()
	if err != nil {
		return err
	}
	now := time.Now()
	change, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"annotations": map[string]string{names.RetriedAnnotation: now.UTC().Format(time.RFC3339Nano)},
	}})
	if err != nil {
		return fmt.Errorf("write an annotation: %w", err)
	}
	var failed error
	for _, kind := range []schema.GroupKind{{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, {Kind: "Namespace"}} {
		all, err := c.list(ctx, mapper, kind)
		failed = errors.Join(failed, err)
		for _, o := range all {
			if !o.deleting() || !ours(kind.Kind, o.GetName()) || now.Sub(o.GetDeletionTimestamp().Time) < pause {
				continue
			}
			_, err := o.resource.Patch(ctx, o.GetName(), types.MergePatchType, change, metav1.PatchOptions{FieldManager: manager})
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
