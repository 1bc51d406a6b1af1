package aks

import (
	containerservice "github.com/pulumi/pulumi-azure-native-sdk/containerservice/v2/v20240901"
	managedidentity "github.com/pulumi/pulumi-azure-native-sdk/managedidentity/v2/v20230131"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/azureidentity"
	"tombolo/components/ready"
	"tombolo/internal/armid"
)

// kubeletIdentity is the key of the kubelet's identity in a cluster's profile of identities.
const kubeletIdentity = "kubeletidentity"

func (b *builder) controlPlaneName() string { return b.args.Name + "-control-plane" }
func (b *builder) kubeletName() string      { return b.args.Name + "-kubelet" }
func (b *builder) controlPlaneID() string   { return b.id(armid.Identities, b.controlPlaneName()) }
func (b *builder) kubeletID() string        { return b.id(armid.Identities, b.kubeletName()) }

// makeIdentities makes that of the control plane and that of the kubelets.
func (b *builder) makeIdentities() (err error) {
	if b.controlPlane, err = b.makeIdentity("control-plane", b.controlPlaneName()); err != nil {
		return err
	}
	b.kubelet, err = b.makeIdentity("kubelet", b.kubeletName())
	return err
}

func (b *builder) makeIdentity(suffix, name string) (*managedidentity.UserAssignedIdentity, error) {
	return managedidentity.NewUserAssignedIdentity(b.ctx, b.name+"-"+suffix, &managedidentity.UserAssignedIdentityArgs{
		ResourceName: pulumi.String(name), ResourceGroupName: b.args.ResourceGroup,
		Location: pulumi.String(b.args.Location), Tags: pulumi.ToStringMap(b.args.Tags),
	}, b.parent)
}

// makeGrants gives the control plane's identity what AKS wants it to have before the cluster
// is there. Sources: "Bring your own control plane identity" and "kubelet identity" in
// https://learn.microsoft.com/azure/aks/use-managed-identity, for the subnet
// https://learn.microsoft.com/azure/aks/configure-azure-cni#prerequisites, for the route table
// https://learn.microsoft.com/azure/aks/egress-outboundtype, and for a DNS zone of one's own
// https://learn.microsoft.com/azure/aks/private-clusters.
func (b *builder) makeGrants() error {
	a := b.args
	if err := b.grant("kubelet", azureidentity.ManagedIdentityOperator, b.kubeletID(), ready.After(pulumi.String(b.kubeletID()).ToStringOutput(), b.kubelet)); err != nil {
		return err
	}
	if a.GrantSubnet {
		if err := b.grant("subnet", azureidentity.NetworkContributor, a.SubnetID, a.SubnetReady); err != nil {
			return err
		}
		if err := b.grant("routes", azureidentity.NetworkContributor, a.RouteTableID, nil); err != nil {
			return err
		}
	}
	zone := a.API.zone()
	if err := b.grant("zone", azureidentity.PrivateDNSZoneContributor, zone, nil); err != nil {
		return err
	}
	if zone == "" {
		return nil
	}
	// AKS links the zone with the network, which is there when its subnet is.
	network := a.SubnetReady.ToStringOutput().ApplyT(func(string) string { return a.VNetID }).(pulumi.StringOutput)
	return b.grant("network", azureidentity.NetworkContributor, a.VNetID, network)
}

// grant gives the control plane's identity a role on a scope; none on the scope "". ready is
// the scope once it is there; nil when it is not made here.
func (b *builder) grant(suffix, role, scope string, ready pulumi.StringInput) error {
	if scope == "" {
		return nil
	}
	made, err := azureidentity.NewAssignment(b.ctx, b.name+"-control-plane-"+suffix, &azureidentity.AssignmentArgs{
		Scope: scope, ScopeReady: ready, RoleDefinitionID: azureidentity.RoleDefinitionID(scope, role),
		IdentityID: b.controlPlaneID(), PrincipalID: b.controlPlane.PrincipalId,
	}, b.parent)
	b.grants = append(b.grants, made)
	return err
}

func (b *builder) identity() containerservice.ManagedClusterIdentityArgs {
	return containerservice.ManagedClusterIdentityArgs{
		Type:                   containerservice.ResourceIdentityTypeUserAssigned,
		UserAssignedIdentities: pulumi.StringArray{ready.After(pulumi.String(b.controlPlaneID()).ToStringOutput(), b.controlPlane)},
	}
}

func (b *builder) identityProfile() containerservice.UserAssignedIdentityMap {
	return containerservice.UserAssignedIdentityMap{kubeletIdentity: containerservice.UserAssignedIdentityArgs{
		ResourceId: ready.After(pulumi.String(b.kubeletID()).ToStringOutput(), b.kubelet),
		ClientId:   b.kubelet.ClientId,
		ObjectId:   b.kubelet.PrincipalId,
	}}
}
