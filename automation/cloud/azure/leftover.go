package azure

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/cloud/azure/arm"
	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/internal/armid"
	"tombolo/internal/names"
	"tombolo/stacks/owner"
)

// kind of resources of the Resource Manager.
type kind struct {
	// typ of the Resource Manager, and the version of the API that it is deleted by.
	typ, version string
	// name for people, and token of the provider's type.
	name, token string
	// rank says when a resource of the kind is deleted; lower goes first.
	rank int
	// passes: see teardown.Leftover.
	passes bool
	// data says that people keep something in it.
	data bool
}

// kinds that can be left over. The versions are those of
// https://learn.microsoft.com/azure/templates/
func kinds() []kind {
	return []kind{
		{typ: "Microsoft.ContainerService/managedClusters", version: clusterVersion, name: "AKS cluster", token: clusterType},
		{typ: "Microsoft.Network/loadBalancers", version: "2024-05-01", name: "load balancer", token: "azure-native:network:LoadBalancer", rank: 1, passes: true},
		{typ: "Microsoft.Compute/virtualMachineScaleSets", version: "2024-07-01", name: "virtual machine scale set", token: "azure-native:compute:VirtualMachineScaleSet", rank: 1, passes: true},
		{typ: "Microsoft.Compute/disks", version: "2024-03-02", name: "disk", token: "azure-native:compute:Disk", rank: 2, passes: true, data: true},
		{typ: "Microsoft.Compute/snapshots", version: "2024-03-02", name: "snapshot", token: "azure-native:compute:Snapshot", rank: 2, data: true},
		{typ: "Microsoft.Network/natGateways", version: "2024-05-01", name: "NAT gateway", token: "azure-native:network:NatGateway", rank: 4},
		{typ: "Microsoft.Network/virtualNetworks", version: "2024-05-01", name: "virtual network", token: vnetType, rank: 3},
		{typ: "Microsoft.Network/publicIPAddresses", version: "2024-05-01", name: "public IP address", token: addressType, rank: 5, passes: true},
		{typ: "Microsoft.Network/networkSecurityGroups", version: "2024-05-01", name: "network security group", token: "azure-native:network:NetworkSecurityGroup", rank: 5, passes: true},
		{typ: "Microsoft.ManagedIdentity/userAssignedIdentities", version: "2023-01-31", name: "managed identity", token: "azure-native:managedidentity:UserAssignedIdentity", rank: 5},
		{typ: "Microsoft.KeyVault/vaults", version: "2023-07-01", name: "key vault", token: "azure-native:keyvault:Vault", rank: 5, data: true},
		{typ: "Microsoft.Storage/storageAccounts", version: "2023-05-01", name: "storage account", token: "azure-native:storage:StorageAccount", rank: 5, data: true},
		{typ: arm.GroupType, version: listVersion, name: "resource group", token: "azure-native:resources:ResourceGroup", rank: 6},
	}
}

// kindOf is the kind of a resource; for one that is not listed, its own type is all that is
// known of it.
func kindOf(id arm.ID) kind {
	for _, k := range kinds() {
		if id.Is(k.typ) {
			return k
		}
	}
	return kind{name: id.Type}
}

// leftover is a resource as teardown has it.
func leftover(r resource, proof string) (teardown.Leftover, kind) {
	id, _ := arm.ParseID(r.ID)
	k := kindOf(id)
	return teardown.Leftover{
		Kind: k.name, ID: id.Name, CloudID: r.ID, Proof: proof, Type: k.token, Rank: k.rank, Data: k.data,
	}, k
}

// ControlPlane is the AKS cluster of core.
func (Cloud) ControlPlane(core []apitype.ResourceV3) owner.ControlPlane {
	for _, r := range core {
		if plain(string(r.Type)) != plain(clusterType) || r.Delete || r.External {
			continue
		}
		profile, _ := r.Outputs["oidcIssuerProfile"].(map[string]any)
		issuer, _ := profile["issuerURL"].(string)
		return owner.ControlPlane{ID: string(r.ID), Issuer: issuer}
	}
	return owner.ControlPlane{}
}

// Find looks for the owner's tag, and into the resource groups of core and of AKS. Without an
// owner it finds besides, and without a proof, what has the cluster's name in its tag.
func (a Cloud) Find(ctx context.Context, c *config.Cluster, q teardown.Search) ([]teardown.Leftover, error) {
	s := search{Search: q, ctx: ctx, cluster: c, found: map[string]teardown.Leftover{}}
	err := a.look(ctx, "look for leftovers of", c, func(client arm.Client) error {
		s.client = client
		for _, look := range []func() error{s.owned, s.named, s.inNodeGroup} {
			if err := look(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := slices.Collect(func(yield func(teardown.Leftover) bool) {
		for _, l := range s.found {
			if !q.Known(l) && !yield(l) {
				return
			}
		}
	})
	teardown.Sort(out)
	return out, nil
}

// search for what is a cluster's.
type search struct {
	teardown.Search
	ctx     context.Context
	client  arm.Client
	cluster *config.Cluster
	found   map[string]teardown.Leftover
}

// add adds a resource; the first proof stays.
func (s *search) add(l teardown.Leftover) {
	key := strings.ToLower(l.CloudID)
	if before, seen := s.found[key]; !seen || before.Proof == "" {
		s.found[key] = l
	}
}

// owned finds what has the owner's tag. AKS copies tags of the cluster to what it makes: that
// goes with the cluster.
func (s *search) owned() error {
	if s.Owner == "" {
		return nil
	}
	all, err := owned(s.ctx, s.client, s.cluster, s.Owner)
	for _, r := range all {
		l, _ := leftover(r, "tag "+names.OwnerTag+" of this state")
		id, _ := arm.ParseID(r.ID)
		l.GoesWithCore = id.In(s.cluster.Cloud.Account, nodeGroupOf(s.cluster))
		l.Data = l.Data && (!l.GoesWithCore || keeps(r.Tags))
		s.add(l)
	}
	return err
}

// named finds what has the cluster's name and no owner, where there is no owner to ask for.
func (s *search) named() error {
	if s.Owner != "" {
		return nil
	}
	all, err := arm.List[resource](s.ctx, s.client, "/subscriptions/"+s.cluster.Cloud.Account+"/resources", listVersion,
		arm.Tagged(names.ClusterTag, s.cluster.Name))
	for _, r := range all {
		if r.Tags[names.OwnerTag] == "" {
			l, _ := leftover(r, "")
			s.add(l)
		}
	}
	return err
}

// inNodeGroup finds what is in the resource group that AKS has made, by whom it was made. All
// of it goes with the cluster, and with the group. What outlives a cluster there is none of
// ours to delete when the group is another cluster's.
func (s *search) inNodeGroup() error {
	if s.cluster.IsExisting() || s.ControlPlane.ID == "" {
		return nil
	}
	group, err := s.nodeGroup()
	if err != nil || group == nil {
		return err
	}
	all, err := contents(s.ctx, s.client, s.cluster, nodeGroupOf(s.cluster))
	for _, r := range all {
		maker := Cloud{}.Maker(r.Tags)
		l, k := leftover(r, "made by "+maker+" for the cluster "+s.ControlPlane.ID)
		l.Passes = k.passes && maker != "AKS" && maker != "AKS node pools"
		l.GoesWithCore = !l.Passes && !k.data
		l.Data = k.data && keeps(r.Tags)
		s.add(l)
	}
	return err
}

// nodeGroup is the resource group that AKS has made for the cluster; nil when there is none, or
// it is another cluster's. Source of managedBy:
// https://learn.microsoft.com/rest/api/resources/resource-groups/get
func (s *search) nodeGroup() (*resource, error) {
	var group resource
	err := s.client.Get(s.ctx, armid.Group(s.cluster.Cloud.Account, nodeGroupOf(s.cluster)), listVersion, "", &group)
	switch {
	case arm.IsMissing(err):
		return nil, nil
	case err != nil:
		return nil, err
	case !arm.Same(group.ManagedBy, s.ControlPlane.ID):
		return nil, nil
	}
	return &group, nil
}

// keeps says that a disk is a claim's, so that people keep something in it: others are the
// disks of nodes. Source: pkg/azureconstants in kubernetes-sigs/azuredisk-csi-driver
func keeps(tags map[string]string) bool {
	return tags["kubernetes.io-created-for-pvc-name"]+tags["kubernetes.io-created-for-pv-name"] != ""
}

// Remove deletes what it is given, in an order in which nothing is in the way of another.
func (a Cloud) Remove(ctx context.Context, c *config.Cluster, q teardown.Search, all []teardown.Leftover) error {
	for _, l := range all {
		if l.Proof == "" {
			return fmt.Errorf("delete leftovers of %s: nothing proves that %s is the cluster's", c.Name, l)
		}
	}
	all = slices.Clone(all)
	teardown.Sort(all)
	return a.look(ctx, "delete leftovers of", c, func(client arm.Client) error {
		for _, l := range all {
			id, _ := arm.ParseID(l.CloudID)
			k := kindOf(id)
			if k.version == "" {
				continue // named, and left: nothing is known of its API
			}
			if err := removeOwn(ctx, client, l, k, q.Owner); err != nil {
				return err
			}
		}
		return nil
	})
}

// removeOwn deletes a resource, unless it has got another owner's tag meanwhile.
func removeOwn(ctx context.Context, client arm.Client, l teardown.Leftover, k kind, owner string) error {
	var now resource
	err := client.Get(ctx, l.CloudID, k.version, "", &now)
	if arm.IsMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if by := now.Tags[names.OwnerTag]; by != "" && by != owner {
		return nil
	}
	return client.Delete(ctx, l.CloudID, k.version)
}
