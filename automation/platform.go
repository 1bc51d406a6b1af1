package automation

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// ref names an engine's object.
type ref struct {
	Kind, Namespace, Name string
}

func refOf(o *unstructured.Unstructured) ref {
	return ref{Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
}

func (r ref) String() string { return r.Kind + " " + r.Namespace + "/" + r.Name }

// platform is the engine's objects for a cluster at one moment.
type platform struct {
	engine  engine
	objects map[ref]*unstructured.Unstructured
	// order of the objects: by kind, causes before effects, then by name.
	order []ref
}

func newPlatform(e engine, objects []unstructured.Unstructured) *platform {
	p := &platform{engine: e, objects: map[ref]*unstructured.Unstructured{}}
	for i := range objects {
		r := refOf(&objects[i])
		p.objects[r] = &objects[i]
		p.order = append(p.order, r)
	}
	return p
}

// cluster is what verify needs of a Kubernetes API.
type cluster struct {
	dynamic dynamic.Interface
	// mapper finds a kind's resource; it is made again for each look, for
	// kinds that come with the platform.
	mapper func() (meta.RESTMapper, error)
}

// list lists all objects of the kinds. Kinds whose CRD is missing are skipped.
func (k cluster) list(ctx context.Context, kinds []schema.GroupKind) ([]unstructured.Unstructured, error) {
	mapper, err := k.mapper()
	if err != nil {
		return nil, fmt.Errorf("ask the Kubernetes API for its kinds: %w", err)
	}
	var objects []unstructured.Unstructured
	for _, kind := range kinds {
		found, err := k.listKind(ctx, mapper, kind)
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// listKind lists the objects of a kind in all namespaces; none when its CRD is
// missing.
func (k cluster) listKind(ctx context.Context, mapper meta.RESTMapper, kind schema.GroupKind) ([]unstructured.Unstructured, error) {
	mapping, err := mapper.RESTMapping(kind)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find kind %s: %w", kind, err)
	}
	list, err := k.dynamic.Resource(mapping.Resource).List(ctx, metav1.ListOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", mapping.Resource.GroupResource(), err)
	}
	return list.Items, nil
}

// configMap reads a ConfigMap's data; nil when it does not exist.
func (k cluster) configMap(ctx context.Context, namespace, name string) (map[string]string, error) {
	gvr := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	o, err := k.dynamic.Resource(gvr).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
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
