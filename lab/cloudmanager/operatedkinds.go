package cloudmanager

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/managedidentity"
	"tombolo/lab/standin"
)

// operatedKind is a kind of Azure Service Operator's that the lab plays.
type operatedKind struct {
	kind     string
	resource schema.GroupVersionResource
	// token is its type in the stand-in, and name the input with its name.
	token, name string
	// owned is its type in Azure, where it is in a resource group.
	owned string
	// told are properties in Azure that the status has, too.
	told []string
}

// operatedKinds are those of v2/api of https://github.com/Azure/azure-service-operator that the
// lab plays; upstream has hundreds.
var operatedKinds = []operatedKind{
	{
		kind: "ResourceGroup", resource: schema.GroupVersionResource{Group: "resources.azure.com", Version: "v1api20200601", Resource: "resourcegroups"},
		token: arm.GroupType, name: "resourceGroupName", told: []string{"properties"},
	},
	{
		kind: "UserAssignedIdentity", resource: schema.GroupVersionResource{Group: "managedidentity.azure.com", Version: "v1api20230131", Resource: "userassignedidentities"},
		token: managedidentity.IdentityType, name: "resourceName", owned: "Microsoft.ManagedIdentity/userAssignedIdentities", told: []string{"clientId", "principalId", "tenantId"},
	},
}

// kindNamed is the one that a loop calls by its kind.
func kindNamed(kind string) (operatedKind, bool) {
	i := slices.IndexFunc(operatedKinds, func(k operatedKind) bool { return k.kind == kind })
	if i < 0 {
		return operatedKind{}, false
	}
	return operatedKinds[i], true
}

// definition of the kind. The lab's takes any spec.
func (k operatedKind) definition() *unstructured.Unstructured {
	open := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": k.resource.Resource + "." + k.resource.Group, "labels": map[string]any{"app.kubernetes.io/name": operatorChart}},
		"spec": map[string]any{
			"group": k.resource.Group, "scope": "Namespaced",
			"names": map[string]any{"kind": k.kind, "listKind": k.kind + "List", "plural": k.resource.Resource, "singular": strings.ToLower(k.kind)},
			"versions": []any{map[string]any{
				"name": k.resource.Version, "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "required": []any{"spec"}, "properties": map[string]any{"spec": open, "status": open},
				}},
			}},
		},
	}}
}

// reconcileOperator defines the kinds that the operator is told to have, as it does itself when
// it starts; it takes none away. Source:
// https://azure.github.io/azure-service-operator/guide/crd-management/
func (w *watch) reconcileOperator(ctx context.Context, d *appsv1.Deployment) error {
	if d.Labels["app.kubernetes.io/name"] != operatorChart {
		return nil
	}
	for _, c := range d.Spec.Template.Spec.Containers {
		for _, arg := range c.Args {
			patterns, given := strings.CutPrefix(arg, "--crd-pattern=")
			if !given {
				continue
			}
			if err := w.define(ctx, strings.Split(patterns, ";")); err != nil {
				return err
			}
		}
	}
	return nil
}

// define makes the definitions of kinds that patterns such as resources.azure.com/* match.
func (w *watch) define(ctx context.Context, patterns []string) error {
	for _, k := range operatedKinds {
		wanted := slices.ContainsFunc(patterns, func(pattern string) bool {
			matched, err := path.Match(pattern, k.resource.Group+"/"+k.kind)
			return err == nil && matched
		})
		if !wanted {
			continue
		}
		_, err := w.objects.Resource(definitions).Create(ctx, k.definition(), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("define %s: %w", k.kind, err)
		}
	}
	return nil
}

// inputs of the resource in the stand-in, and its id.
func (o *operated) inputs(ctx context.Context, subscription string) (map[string]any, string, error) {
	given, _, _ := unstructured.NestedMap(o.object.Object, "spec")
	spec := standin.Props(given)
	name := spec.Str("azureName")
	if name == "" { // upstream's webhook fills it in
		name = o.object.GetName()
	}
	in := map[string]any{o.name: name, "location": spec.Str("location")}
	if tags := spec["tags"]; tags != nil {
		in["tags"] = tags
	}
	if o.owned == "" {
		return in, armid.Group(subscription, name), nil
	}
	group, err := o.group(ctx, spec.Sub("owner"))
	if err != nil {
		return nil, "", err
	}
	in["resourceGroupName"] = armid.NameOf(group)
	return in, group + "/providers/" + o.owned + "/" + name, nil
}

// group is the id of the owner: a group in Azure, or that of another object of the namespace,
// which has to be ready. Source: v2/internal/reconcilers/common.go
func (o *operated) group(ctx context.Context, owner standin.Props) (string, error) {
	if id := owner.Str("armId"); id != "" {
		return id, nil
	}
	name := owner.Str("name")
	if name == "" {
		return "", &stalled{"Error", "Failed", "spec.owner has neither name nor armId"}
	}
	found, err := o.objects.Resource(operatedKinds[0].resource).Namespace(o.object.GetNamespace()).Get(ctx, name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("look up the owner: %w", err)
	}
	if err != nil || !holds(found, readyCondition) {
		return "", &stalled{"Warning", "WaitingForOwner", fmt.Sprintf(
			"Owner %q cannot be found. Progress is blocked until the owner is created.", name+", Group/Kind: resources.azure.com/ResourceGroup")}
	}
	// So the object goes with its owner.
	o.object.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: found.GetAPIVersion(), Kind: found.GetKind(), Name: name, UID: found.GetUID(),
	}})
	return found.GetAnnotations()[resourceAnnotation], nil
}

// status is what the object tells of its resource.
func (k operatedKind) status(made standin.Resource) standin.Props {
	out := standin.Props{"id": made.ID}
	for _, property := range append([]string{"name", "location", "tags", "type"}, k.told...) {
		if value := made.Properties[property]; value != nil {
			out[property] = value
		}
	}
	return out
}
