// Package teardown empties a cluster before it is destroyed, and searches the
// cloud for what is left over of it. It keeps Flux from making things again,
// deletes what controllers have made cloud resources for, waits until they have
// given those back, and tells what a cloud resource that is left over is, whose
// it is, and whether it holds data that is to be kept.
package teardown

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"tombolo/automation/kube"
)

// Cluster is a cluster that is emptied.
type Cluster struct{ kube.Cluster }

// object is an object of the cluster, with the client of its resource.
type object struct {
	*unstructured.Unstructured
	resource dynamic.ResourceInterface
}

// String names the object for people.
func (o object) String() string { return nameOf(o.Unstructured) }

func nameOf(o *unstructured.Unstructured) string {
	if o.GetNamespace() == "" {
		return o.GetKind() + " " + o.GetName()
	}
	return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
}

func (o object) deleting() bool { return o.GetDeletionTimestamp() != nil }

// list lists the objects of a kind; none when the cluster does not know it.
func (c Cluster) list(ctx context.Context, mapper meta.RESTMapper, kind schema.GroupKind) ([]object, error) {
	resources, items, err := c.ListKind(ctx, mapper, kind)
	if err != nil {
		return nil, err
	}
	out := make([]object, 0, len(items))
	for i := range items {
		o := object{Unstructured: &items[i], resource: resources}
		if ns := o.GetNamespace(); ns != "" {
			o.resource = resources.Namespace(ns)
		}
		out = append(out, o)
	}
	return out, nil
}

// delete deletes the object that was seen, and what it owns in the
// background. One that is gone, or was replaced, is left for the next
// look.
func (o object) delete(ctx context.Context) error {
	uid, background := o.GetUID(), metav1.DeletePropagationBackground
	err := o.resource.Delete(ctx, o.GetName(), metav1.DeleteOptions{
		PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &uid},
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("delete %s: %w", o, err)
	}
	return nil
}

// most is how many objects are named; the others are counted.
const most = 5

// manager is the field manager of what a teardown sets on objects.
const manager = "tombolo-teardown"

// unfinalize removes the finalizers from the object that was seen.
func (o object) unfinalize(ctx context.Context) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": o.GetUID(), "finalizers": nil}})
	if err != nil {
		return fmt.Errorf("take the finalizers off %s: %w", o, err)
	}
	_, err = o.resource.Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("take the finalizers off %s: %w", o, err)
	}
	return nil
}
