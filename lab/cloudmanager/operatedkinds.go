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
	"tombolo/lab/azure/postgresql"
	"tombolo/lab/standin"
)

// operatedKind is a kind of Azure Service Operator's that the lab plays.
type operatedKind struct {
	kind     string
	resource schema.GroupVersionResource
	// token is its type in the stand-in, and name the input with its name.
	token, name string
	// owner is the kind of what it is in, and owned how its id goes on from there; "" for a group.
	owner, owned string
	// within is the input with the owner's name.
	within string
	// given are fields of the spec that Azure gets as they are, and secret those that name a key of a Secret.
	given, secret []string
	// told are properties in Azure that the status has, too, and written those that operatorSpec writes.
	told, written []string
	// spec is its schema, nil for any. The lab's is upstream's as far as its names, types and values go.
	spec map[string]any
}

const (
	groupKind    = "ResourceGroup"
	serverKind   = "FlexibleServer"
	databases    = "dbforpostgresql.azure.com"
	databasesAPI = "v1api20240801"
)

// operatedKinds are those of v2/api of https://github.com/Azure/azure-service-operator that the
// lab plays; upstream has hundreds.
var operatedKinds = []operatedKind{
	{
		kind: groupKind, resource: schema.GroupVersionResource{Group: "resources.azure.com", Version: "v1api20200601", Resource: "resourcegroups"},
		token: arm.GroupType, name: "resourceGroupName", told: []string{"properties"},
	},
	{
		kind: "UserAssignedIdentity", resource: schema.GroupVersionResource{Group: "managedidentity.azure.com", Version: "v1api20230131", Resource: "userassignedidentities"},
		token: managedidentity.IdentityType, name: "resourceName", owner: groupKind, owned: "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/", within: "resourceGroupName",
		told: []string{"clientId", "principalId", "tenantId"}, written: []string{"clientId", "principalId", "tenantId"},
	},
	{
		kind: serverKind, resource: schema.GroupVersionResource{Group: databases, Version: databasesAPI, Resource: "flexibleservers"},
		token: postgresql.ServerType, name: "serverName", owner: groupKind, owned: "/providers/Microsoft.DBforPostgreSQL/flexibleServers/", within: "resourceGroupName",
		given: []string{
			"administratorLogin", "authConfig", "availabilityZone", "backup", "createMode", "highAvailability", "maintenanceWindow", "network", "sku", "storage", "version",
		},
		secret: []string{"administratorLoginPassword"},
		told:   []string{"administratorLogin", "fullyQualifiedDomainName", "state", "version"}, written: []string{"fullyQualifiedDomainName"},
		spec: serverSpec,
	},
	{
		kind: "FlexibleServersDatabase", resource: schema.GroupVersionResource{Group: databases, Version: databasesAPI, Resource: "flexibleserversdatabases"},
		token: postgresql.DatabaseType, name: "databaseName", owner: serverKind, owned: "/databases/", within: "serverName",
		given: []string{"charset", "collation"}, told: []string{"charset", "collation"}, spec: databaseSpec,
	},
	{
		kind: "FlexibleServersFirewallRule", resource: schema.GroupVersionResource{Group: databases, Version: databasesAPI, Resource: "flexibleserversfirewallrules"},
		token: postgresql.FirewallRuleType, name: "firewallRuleName", owner: serverKind, owned: "/firewallRules/", within: "serverName",
		given: []string{"endIpAddress", "startIpAddress"}, told: []string{"endIpAddress", "startIpAddress"}, spec: firewallRuleSpec,
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

// definition of the kind.
func (k operatedKind) definition() *unstructured.Unstructured {
	open := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	spec := open
	if k.spec != nil {
		spec = k.spec
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": k.resource.Resource + "." + k.resource.Group, "labels": map[string]any{"app.kubernetes.io/name": operatorChart}},
		"spec": map[string]any{
			"group": k.resource.Group, "scope": "Namespaced",
			"names": map[string]any{"kind": k.kind, "listKind": k.kind + "List", "plural": k.resource.Resource, "singular": strings.ToLower(k.kind)},
			"versions": []any{map[string]any{
				"name": k.resource.Version, "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "required": []any{"spec"}, "properties": map[string]any{"spec": spec, "status": open},
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
	in := map[string]any{o.name: name}
	for _, field := range append([]string{"location", "tags"}, o.given...) {
		if value := spec[field]; value != nil {
			in[field] = resolved(value)
		}
	}
	for _, field := range o.secret {
		if err := o.open(ctx, in, field, spec.Sub(field)); err != nil {
			return nil, "", err
		}
	}
	if o.owned == "" {
		return in, armid.Group(subscription, name), nil
	}
	owner, err := o.ownerID(ctx, spec.Sub("owner"))
	if err != nil {
		return nil, "", err
	}
	in["resourceGroupName"] = armid.NameOf(armid.GroupOf(owner))
	in[o.within] = armid.NameOf(owner)
	return in, owner + o.owned + name, nil
}

// resolved has the ids of resources in place of references to them, whose fields end in Reference in place of Id.
// Of references, those to objects of the cluster are not played.
func resolved(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	out := map[string]any{}
	for field, v := range object {
		if of, refers := strings.CutSuffix(field, "Reference"); refers {
			reference, _ := v.(map[string]any)
			out[of+"Id"] = standin.Props(reference).Str("armId")
			continue
		}
		out[field] = resolved(v)
	}
	return out
}

// open reads the key of a Secret that a field names. Source: v2/internal/resolver/secret_resolver.go
func (o *operated) open(ctx context.Context, in map[string]any, field string, from standin.Props) error {
	name, key := from.Str("name"), from.Str("key")
	if name == "" {
		return nil
	}
	namespace := o.object.GetNamespace()
	secret, err := o.client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return &stalled{"Warning", "SecretNotFound", fmt.Sprintf("couldn't resolve secret reference %[1]s/%[2]s.%[3]s: %[1]s/%[2]s does not exist (%[4]v)", namespace, name, key, err)}
	case err != nil:
		return fmt.Errorf("read what %s refers to: %w", field, err)
	case secret.Data[key] == nil:
		return &stalled{"Warning", "SecretNotFound", fmt.Sprintf("%[1]s/%[2]s does not exist (Secret \"%[1]s/%[2]s\" does not contain key %[3]q)", namespace, name, key)}
	}
	in[field] = string(secret.Data[key])
	return nil
}

// ownerID is the id of the owner: of one in Azure, or of another object of the namespace,
// which has to be ready. Source: v2/internal/reconcilers/common.go
func (o *operated) ownerID(ctx context.Context, owner standin.Props) (string, error) {
	if id := owner.Str("armId"); id != "" {
		return id, nil
	}
	name := owner.Str("name")
	if name == "" {
		return "", &stalled{"Error", "Failed", "spec.owner has neither name nor armId"}
	}
	kind, _ := kindNamed(o.owner)
	found, err := o.objects.Resource(kind.resource).Namespace(o.object.GetNamespace()).Get(ctx, name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return "", fmt.Errorf("look up the owner: %w", err)
	}
	if err != nil || !holds(found, readyCondition) {
		return "", &stalled{"Warning", "WaitingForOwner", fmt.Sprintf(
			"Owner %q cannot be found. Progress is blocked until the owner is created.", name+", Group/Kind: "+kind.resource.Group+"/"+kind.kind)}
	}
	// So the object goes with its owner.
	o.object.SetOwnerReferences([]metav1.OwnerReference{ownedBy(found)})
	return found.GetAnnotations()[resourceAnnotation], nil
}

func ownedBy(object *unstructured.Unstructured) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Name: object.GetName(), UID: object.GetUID()}
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
