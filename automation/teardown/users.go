package teardown

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// stopUsers deletes whatever runs pods with claims. A claim stays as long as a
// pod uses it, and a StatefulSet makes both again: so the pod's owner goes, or
// that one's owner, such as an operator's resource.
// Only those that are ours go on a cluster that others own.
func (c Cluster) stopUsers(ctx context.Context, mapper meta.RESTMapper, ours *Ours) error {
	pods, err := c.list(ctx, mapper, schema.GroupKind{Kind: "Pod"})
	if err != nil {
		return err
	}
	stopped := map[string]bool{}
	for _, pod := range pods {
		if !mountsClaim(pod.Unstructured) || ours != nil && !ours.uses(pod.Unstructured) {
			continue
		}
		owner, err := c.topmost(ctx, mapper, pod)
		if err != nil {
			return err
		}
		if stopped[owner.String()] || owner.deleting() {
			continue
		}
		stopped[owner.String()] = true
		if err := owner.delete(ctx); err != nil {
			return err
		}
	}
	return nil
}

func mountsClaim(pod *unstructured.Unstructured) bool {
	volumes, _, _ := unstructured.NestedSlice(pod.Object, "spec", "volumes")
	for _, v := range volumes {
		volume, _ := v.(map[string]any)
		if volume["persistentVolumeClaim"] != nil || volume["ephemeral"] != nil {
			return true
		}
	}
	return false
}

// deepest is how far owners are followed: a pod's ReplicaSet, Deployment, and
// the resources of an operator or two.
const deepest = 8

// topmost is the object that controls the pod, by way of those between.
func (c Cluster) topmost(ctx context.Context, mapper meta.RESTMapper, pod object) (object, error) {
	o := pod
	for range deepest {
		ref := metav1.GetControllerOf(o.Unstructured)
		if ref == nil || ref.Kind == "Node" {
			break
		}
		owner, err := c.owner(ctx, mapper, o, *ref)
		if err != nil {
			return object{}, err
		}
		if owner == nil {
			break
		}
		o = *owner
	}
	return o, nil
}

// owner reads the object that a reference is to; nil when there is none.
func (c Cluster) owner(ctx context.Context, mapper meta.RESTMapper, of object, ref metav1.OwnerReference) (*object, error) {
	version, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return nil, nil // nothing that the API could have
	}
	mapping, err := mapper.RESTMapping(version.WithKind(ref.Kind).GroupKind())
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find kind %s: %w", ref.Kind, err)
	}
	var o object
	resources := c.Client.Resource(mapping.Resource)
	o.resource = resources
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		o.resource = resources.Namespace(of.GetNamespace())
	}
	o.Unstructured, err = o.resource.Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s, which owns %s: %w", ref.Kind, ref.Name, of, err)
	}
	if o.GetUID() != ref.UID {
		return nil, nil
	}
	return &o, nil
}
