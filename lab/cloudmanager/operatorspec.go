package cloudmanager

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tombolo/lab/standin"
)

// writeFailure is the reason of what could not be written of operatorSpec: nothing is tried again until the object
// changes. Source: saveAssociatedKubernetesResources in v2/internal/reconcilers/arm
const writeFailure = "AdditionalKubernetesObjWriteFailure"

// exported are the kinds that operatorSpec writes, and how their lists are called.
var exported = []struct {
	kind, list, expressions string
	resource                schema.GroupVersionResource
	encode                  func(value string) string
}{
	{
		"Secret", "secrets", "secretExpressions",
		schema.GroupVersionResource{Version: "v1", Resource: "secrets"},
		func(value string) string { return base64.StdEncoding.EncodeToString([]byte(value)) },
	},
	{
		"ConfigMap", "configMaps", "configMapExpressions",
		schema.GroupVersionResource{Version: "v1", Resource: "configmaps"},
		func(value string) string { return value },
	},
}

// export writes what operatorSpec asks for into Secrets and ConfigMaps of the object's namespace. Expressions are not
// played.
func (o *operated) export(ctx context.Context) error {
	given, _, _ := unstructured.NestedMap(o.object.Object, "spec", "operatorSpec")
	spec := standin.Props(given)
	for _, e := range exported {
		if len(spec.Objects(e.expressions)) > 0 {
			return &stalled{"Error", writeFailure, "operatorSpec." + e.expressions + ": the lab plays no expressions"}
		}
		data := map[string]map[string]any{}
		for _, field := range slices.Sorted(maps.Keys(spec.Sub(e.list))) {
			to := spec.Sub(e.list).Sub(field)
			name, key := to.Str("name"), to.Str("key")
			value := standin.Props(o.made.Properties).Str(field)
			if value == "" || !slices.Contains(o.written, field) {
				return fmt.Errorf("could not find secret to save to 'Name: %q, Key: %q'", name, key)
			}
			if data[name] == nil {
				data[name] = map[string]any{}
			}
			if data[name][key] != nil {
				return &stalled{"Error", writeFailure, fmt.Sprintf("key collision, entry exists for key '%s' in StringData", key)}
			}
			data[name][key] = e.encode(value)
		}
		for _, name := range slices.Sorted(maps.Keys(data)) {
			if err := o.write(ctx, e.resource, e.kind, name, data[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// write makes a Secret or ConfigMap that goes with the object, or changes it. One that is not the object's is left
// alone. Source: v2/pkg/genruntime/owner.go
func (o *operated) write(ctx context.Context, resource schema.GroupVersionResource, kind, name string, data map[string]any) error {
	objects := o.objects.Resource(resource).Namespace(o.object.GetNamespace())
	written, err := objects.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		written = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind, "data": data}}
		written.SetName(name)
		written.SetNamespace(o.object.GetNamespace())
		written.SetOwnerReferences([]metav1.OwnerReference{ownedBy(o.object)})
		_, err = objects.Create(ctx, written, metav1.CreateOptions{})
	} else if err == nil {
		if !slices.ContainsFunc(written.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == o.object.GetUID() }) {
			return &stalled{"Error", writeFailure, fmt.Sprintf("cannot overwrite %[1]s %[2]s/%[3]s which is not owned by %[4]s.%[5]s %[2]s/%[6]s",
				kind, o.object.GetNamespace(), name, o.kind, o.resource.Group, o.object.GetName())}
		}
		if reflect.DeepEqual(written.Object["data"], data) {
			return nil
		}
		written.Object["data"] = data
		_, err = objects.Update(ctx, written, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("write %s %s: %w", kind, name, err)
	}
	return nil
}
