// Package kube connects to the Kubernetes API of a cluster, and reads from it.
// It knows all kinds by their group and name, and imports none of their APIs.
package kube

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
)

// Cluster is the Kubernetes API of a cluster. Make one with Connect.
type Cluster struct {
	// Client of the API.
	Client dynamic.Interface
	// Discover asks the API for the kinds that it has now: some come with the
	// platform.
	Discover func() (meta.RESTMapper, error)
}

// Mapper finds the resource of a kind, among those that the API has now.
func (c Cluster) Mapper() (meta.RESTMapper, error) {
	m, err := c.Discover()
	if err != nil {
		return nil, fmt.Errorf("ask the Kubernetes API for its kinds: %w", err)
	}
	return m, nil
}

// List lists all objects of the kinds. Kinds whose CRD is missing are skipped.
func (c Cluster) List(ctx context.Context, kinds []schema.GroupKind) ([]unstructured.Unstructured, error) {
	mapper, err := c.Mapper()
	if err != nil {
		return nil, err
	}
	var objects []unstructured.Unstructured
	for _, kind := range kinds {
		_, found, err := c.ListKind(ctx, mapper, kind)
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// ListKind lists the objects of a kind in all namespaces, and returns the
// resource that they were found by; none when the kind's CRD is missing.
func (c Cluster) ListKind(ctx context.Context, mapper meta.RESTMapper, kind schema.GroupKind) (
	dynamic.NamespaceableResourceInterface, []unstructured.Unstructured, error,
) {
	mapping, err := mapper.RESTMapping(kind)
	if meta.IsNoMatchError(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("find kind %s: %w", kind, err)
	}
	resource := c.Client.Resource(mapping.Resource)
	list, err := resource.List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list %s: %w", mapping.Resource.GroupResource(), err)
	}
	return resource, list.Items, nil
}

// ConfigMap reads a ConfigMap's data; nil when it does not exist.
func (c Cluster) ConfigMap(ctx context.Context, namespace, name string) (map[string]string, error) {
	gvr := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	o, err := c.Client.Resource(gvr).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ConfigMap %s/%s: %w", namespace, name, err)
	}
	data, _, err := unstructured.NestedStringMap(o.Object, "data")
	if err != nil {
		return nil, fmt.Errorf("read ConfigMap %s/%s: %w", namespace, name, err)
	}
	return data, nil
}

// pingPoll is the time between two questions of Ping.
const pingPoll = time.Second

// Ping asks the API for something that every cluster has, until it answers or
// the time is over. It does not ask again when the API refuses.
func (c Cluster) Ping(ctx context.Context, timeout time.Duration) error {
	namespaces := c.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	return UntilAnswered(ctx, timeout, func(ctx context.Context) error {
		_, err := namespaces.List(ctx, metav1.ListOptions{Limit: 1})
		return err
	})
}

// UntilAnswered asks an API until it answers, or refuses, or the time is over. It returns its last answer.
func UntilAnswered(ctx context.Context, timeout time.Duration, ask func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, pingPoll, timeout, true, func(ctx context.Context) (bool, error) {
		last = ask(ctx)
		return last == nil || Refused(last), nil
	})
	if err != nil && last == nil {
		return err
	}
	return last
}

// Refused says that the API answered, and does not let this identity in.
func Refused(err error) bool { return apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) }

// Text is a string in an object; "" when there is none.
func Text(o *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(o.Object, path...)
	return s
}

// Conditions of an object, by its status; none when they cannot be read.
func Conditions(o *unstructured.Unstructured) []metav1.Condition {
	var of struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &of); err != nil {
		return nil
	}
	return of.Status.Conditions
}
