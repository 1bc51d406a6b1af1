// Package teardown empties a cluster before it is destroyed. It keeps Flux from
// making things again, deletes what controllers have made cloud resources for,
// waits until they have given those back, and tells what a cloud resource that
// is left over is.
//
// It knows all kinds by their group and name, and imports none of their APIs.
package teardown

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// Cluster is the Kubernetes API of a cluster.
type Cluster struct {
	// Client of the API.
	Client dynamic.Interface
	// Mapper finds the resource of a kind, among those that the API has now.
	Mapper func() (meta.RESTMapper, error)
}

// object is an object of the cluster, and where it is.
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
	mapping, err := mapper.RESTMapping(kind)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find kind %s: %w", kind, err)
	}
	resources := c.Client.Resource(mapping.Resource)
	list, err := resources.List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", mapping.Resource.GroupResource(), err)
	}
	out := make([]object, 0, len(list.Items))
	for i := range list.Items {
		o := object{Unstructured: &list.Items[i], resource: resources}
		if ns := o.GetNamespace(); ns != "" {
			o.resource = resources.Namespace(ns)
		}
		out = append(out, o)
	}
	return out, nil
}

func (c Cluster) mapper() (meta.RESTMapper, error) {
	m, err := c.Mapper()
	if err != nil {
		return nil, fmt.Errorf("ask the Kubernetes API for its kinds: %w", err)
	}
	return m, nil
}

// delete deletes the very object that was seen, and what it owns in the
// background. One that is gone, or is another one by now, is left for the next
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

// Names joins what is named, and counts the rest of a long list.
func Names[T fmt.Stringer](all []T) string {
	var out []string
	for i, item := range all {
		if i == most {
			return fmt.Sprintf("%s and %d more", strings.Join(out, ", "), len(all)-most)
		}
		out = append(out, item.String())
	}
	return strings.Join(out, ", ")
}

func text(o *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(o.Object, path...)
	return s
}
