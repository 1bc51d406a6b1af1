package teardown

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tombolo/automation/kube"
)

// stage is a kind of cloud resource that controllers make, and what they make it
// for.
type stage struct {
	// name of the cloud resources.
	name    string
	targets []target
	// used says that pods hold the objects: their owners go too.
	used bool
}

// target is a kind of object that goes in a stage.
type target struct {
	kind schema.GroupKind
	// concerns says whether an object has to go. Default: all do.
	concerns func(*unstructured.Unstructured) bool
	// awaited objects are deleted by the controller that made them, and not by us.
	awaited bool
}

// stages in their order. The controllers that give things back run on the
// cluster: nodes go last, and volumes are detached while their nodes live.
func stages() []stage {
	return []stage{
		{name: "resources in Azure", targets: azureTargets()},
		{name: "load balancers", targets: []target{
			// Gateways have Services, which their controller would make again.
			{kind: schema.GroupKind{Group: "gateway.networking.k8s.io", Kind: "Gateway"}},
			{kind: schema.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}},
			{kind: schema.GroupKind{Kind: "Service"}, concerns: balanced},
		}},
		{name: "volumes", used: true, targets: []target{
			{kind: schema.GroupKind{Kind: "PersistentVolumeClaim"}},
			{kind: schema.GroupKind{Kind: "PersistentVolume"}, concerns: provisioned, awaited: true},
		}},
		// External Secrets holds each by a finalizer, and with it the namespace: nobody takes it off once
		// its controller is gone. Sources: ExternalSecretFinalizer in
		// pkg/controllers/externalsecret/externalsecret_controller.go, ClusterExternalSecretFinalizer in
		// pkg/controllers/clusterexternalsecret/clusterexternalsecret_controller.go of
		// https://github.com/external-secrets/external-secrets
		{name: "secrets of other stores", targets: []target{
			{kind: schema.GroupKind{Group: "external-secrets.io", Kind: "ClusterExternalSecret"}}, // makes the others
			{kind: schema.GroupKind{Group: "external-secrets.io", Kind: "ExternalSecret"}},
		}},
		{name: "nodes", targets: []target{
			{kind: schema.GroupKind{Group: "karpenter.sh", Kind: "NodePool"}},
			{kind: schema.GroupKind{Group: "karpenter.sh", Kind: "NodeClaim"}},
			// Karpenter takes the instance profile back with its node class.
			{kind: schema.GroupKind{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass"}},
		}},
	}
}

// azureKinds are what systems may have Azure Service Operator make, by group: those of the
// role tombolo-system in the reference tree. A finalizer of the operator's holds each
// (serviceoperator.azure.com/finalizer), so they go before it does.
var azureKinds = map[string][]string{
	"dbforpostgresql.azure.com": {"FlexibleServersDatabase", "FlexibleServersFirewallRule", "FlexibleServer"},
	"keyvault.azure.com":        {"Vault"},
	"managedidentity.azure.com": {"FederatedIdentityCredential", "UserAssignedIdentity"},
	"resources.azure.com":       {"ResourceGroup"},
	"servicebus.azure.com":      {"NamespacesQueue", "NamespacesTopic", "Namespace"},
	"storage.azure.com":         {"StorageAccountsBlobServicesContainer", "StorageAccountsBlobService", "StorageAccount"},
}

func azureTargets() []target {
	var out []target
	for _, group := range slices.Sorted(maps.Keys(azureKinds)) {
		for _, kind := range azureKinds[group] {
			out = append(out, target{kind: schema.GroupKind{Group: group, Kind: kind}})
		}
	}
	return out
}

// balanced says that a Service has a load balancer.
func balanced(service *unstructured.Unstructured) bool {
	return kube.Text(service, "spec", "type") == "LoadBalancer"
}

// provisioned says that a volume was made for a claim, and goes with it.
func provisioned(volume *unstructured.Unstructured) bool {
	return volume.GetAnnotations()["pv.kubernetes.io/provisioned-by"] != "" &&
		kube.Text(volume, "spec", "persistentVolumeReclaimPolicy") == "Delete"
}

// retained says that a volume was made for a claim, and outlives it.
func retained(volume *unstructured.Unstructured) bool {
	return volume.GetAnnotations()["pv.kubernetes.io/provisioned-by"] != "" &&
		kube.Text(volume, "spec", "persistentVolumeReclaimPolicy") == "Retain"
}

// find lists what a stage still has.
func (s stage) find(ctx context.Context, c Cluster, mapper meta.RESTMapper) ([]remaining, error) {
	var out []remaining
	for _, t := range s.targets {
		objects, err := c.list(ctx, mapper, t.kind)
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			if t.concerns == nil || t.concerns(o.Unstructured) {
				out = append(out, remaining{object: o, awaited: t.awaited})
			}
		}
	}
	return out, nil
}

// remaining is an object that a stage waits for.
type remaining struct {
	object
	awaited bool
}

// String names the object, and who holds it.
func (r remaining) String() string {
	if finalizers := r.GetFinalizers(); r.deleting() && len(finalizers) > 0 {
		return fmt.Sprintf("%s (held by %s)", r.object, strings.Join(finalizers, ", "))
	}
	if message := kube.Text(r.Unstructured, "status", "message"); r.awaited && message != "" {
		return fmt.Sprintf("%s (%s)", r.object, message)
	}
	return r.object.String()
}
