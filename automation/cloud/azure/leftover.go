package azure

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tombolo/automation/cloud/azure/arm"
	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/internal/armid"
	"tombolo/internal/names"
)

// Types of the Resource Manager that more than one place names.
const (
	diskKind     = "Microsoft.Compute/disks"
	identityKind = armid.Identities
)

// identityVersion is the version of the API of identities.
const identityVersion = "2023-01-31"

// Tags that the CSI driver of disks sets. Source: pkg/azureconstants in
// kubernetes-sigs/azuredisk-csi-driver
const (
	volumeTag         = "kubernetes.io-created-for-pv-name"
	claimTag          = "kubernetes.io-created-for-pvc-name"
	claimNamespaceTag = "kubernetes.io-created-for-pvc-namespace"
)

// kind of resources of the Resource Manager.
type kind struct {
	// typ of the Resource Manager, and the version of the API that it is deleted by.
	typ, version string
	// name for people, and token of the provider's type.
	name, token string
	// rank says when a resource of the kind is deleted; lower goes first.
	rank int
	// data says that people keep something in it.
	data bool
	// full says that Azure deletes it with what is in it, for good.
	full bool
}

// kinds that can be left over. The versions are those of
// https://learn.microsoft.com/azure/templates/
func kinds() []kind {
	return []kind{
		{typ: "Microsoft.Authorization/roleAssignments", version: permissionVersion, name: "role assignment", token: "azure-native:authorization:RoleAssignment"},
		{typ: armid.ManagedClusters, version: clusterVersion, name: "AKS cluster", token: clusterType},
		{typ: "Microsoft.Network/loadBalancers", version: "2024-05-01", name: "load balancer", token: "azure-native:network:LoadBalancer", rank: 1},
		{typ: "Microsoft.Compute/virtualMachineScaleSets", version: "2024-07-01", name: "virtual machine scale set", token: "azure-native:compute:VirtualMachineScaleSet", rank: 1},
		{typ: diskKind, version: "2024-03-02", name: "disk", token: "azure-native:compute:Disk", rank: 2, data: true},
		{typ: "Microsoft.Compute/snapshots", version: "2024-03-02", name: "snapshot", token: "azure-native:compute:Snapshot", rank: 2, data: true},
		{typ: armid.NatGateways, version: "2024-05-01", name: "NAT gateway", token: "azure-native:network:NatGateway", rank: 4},
		{typ: armid.VirtualNetworks, version: "2024-05-01", name: "virtual network", token: vnetType, rank: 3},
		{typ: armid.PublicAddresses, version: "2024-05-01", name: "public IP address", token: addressType, rank: 5},
		{typ: "Microsoft.Network/networkSecurityGroups", version: "2024-05-01", name: "network security group", token: "azure-native:network:NetworkSecurityGroup", rank: 5},
		{typ: identityKind, version: identityVersion, name: "managed identity", token: "azure-native:managedidentity:UserAssignedIdentity", rank: 5},
		{typ: "Microsoft.KeyVault/vaults", version: "2023-07-01", name: "key vault", token: "azure-native:keyvault:Vault", rank: 5, data: true},
		{typ: "Microsoft.Storage/storageAccounts", version: "2023-05-01", name: "storage account", token: "azure-native:storage:StorageAccount", rank: 5, data: true, full: true},
		{typ: armid.Groups, version: listVersion, name: "resource group", token: "azure-native:resources:ResourceGroup", rank: 6},
	}
}

// kindOf is the kind of a resource; for one that is not listed, its own type is all that is
// known of it.
func kindOf(id armid.ID) kind {
	for _, k := range kinds() {
		if id.Is(k.typ) {
			return k
		}
	}
	return kind{name: id.Type}
}

// leftoverOf tells by its id what a resource is.
func leftoverOf(r listed, proof string) teardown.Leftover {
	id, _ := armid.Parse(r.ID)
	k := kindOf(id)
	l := teardown.Leftover{Kind: k.name, ID: id.Name, CloudID: r.ID, Proof: proof, Type: k.token, Rank: k.rank, Data: k.data, GoesFull: k.full}
	if claim := r.Tags[claimTag]; claim != "" {
		l.Name = r.Tags[claimNamespaceTag] + "/" + claim
	}
	return l
}

// Remove deletes what it is given, in an order in which nothing is in the way of another.
func (a Cloud) Remove(ctx context.Context, c *config.Cluster, q teardown.Search, all []teardown.Leftover) error {
	for _, l := range all {
		if l.Proof == "" {
			return fmt.Errorf("delete leftovers of %s: nothing proves that %s is the cluster's", c.Name, l)
		}
	}
	return a.look(ctx, "delete leftovers of", c, func(client arm.Client) error { return remove(ctx, client, q, all) })
}

func remove(ctx context.Context, client arm.Client, q teardown.Search, all []teardown.Leftover) error {
	all = slices.Clone(all)
	teardown.Sort(all)
	for _, l := range all {
		version, err := versionOf(ctx, client, l)
		if err != nil {
			return err
		}
		if version == "" {
			continue // named, and left: nothing is known of its API
		}
		if err := removeOwn(ctx, client, l, version, q.Owner); err != nil {
			return err
		}
	}
	return nil
}

// versionOf is the version of the API by which a resource is read and deleted: the one of its
// kind, or else the newest of its type that is no preview. "" when Azure names none.
func versionOf(ctx context.Context, client arm.Client, l teardown.Leftover) (string, error) {
	id, ok := armid.Parse(l.CloudID)
	if !ok {
		return "", nil
	}
	if k := kindOf(id); k.version != "" {
		return k.version, nil
	}
	namespace, typ, _ := strings.Cut(id.Type, "/")
	var provider struct {
		ResourceTypes []struct {
			ResourceType string
			APIVersions  []string
		}
	}
	if err := client.Get(ctx, armid.Subscription(id.Subscription)+"/providers/"+namespace, listVersion, &provider); err != nil && !arm.IsMissing(err) {
		return "", err
	}
	for _, t := range provider.ResourceTypes {
		if !strings.EqualFold(t.ResourceType, typ) {
			continue
		}
		final := slices.DeleteFunc(slices.Clone(t.APIVersions), func(v string) bool { return strings.Contains(v, "preview") })
		if len(final) > 0 {
			return slices.Max(final), nil
		}
	}
	return "", nil
}

// removeOwn deletes a resource, unless it has another owner's tag.
func removeOwn(ctx context.Context, client arm.Client, l teardown.Leftover, version, owner string) error {
	var now listed
	err := client.Get(ctx, l.CloudID, version, &now)
	if arm.IsMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if by := now.Tags[names.OwnerTag]; by != "" && by != owner {
		return nil
	}
	return client.Delete(ctx, l.CloudID, version)
}
