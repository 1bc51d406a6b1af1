package network

import "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

// Network is the network of a cluster: one that NewVPC made, or one that NewExisting
// looked up.
type Network struct {
	pulumi.ResourceState

	// VPCID and CIDR of the VPC.
	VPCID pulumi.StringOutput
	CIDR  pulumi.StringOutput
	// Owner is the account that owns an existing VPC; "" for one that NewVPC made.
	Owner string
	// PrivateSubnetIDs and PublicSubnetIDs: in the order of the zones, or as given.
	PrivateSubnetIDs pulumi.StringArrayOutput
	PublicSubnetIDs  pulumi.StringArrayOutput
	// PrivateSubnetZones are the zones of PrivateSubnetIDs, in their order.
	PrivateSubnetZones []string
	// PrivateSubnetByZone is a private subnet of each zone that has one, for what a
	// zone has once. Of several that were given it is the first.
	PrivateSubnetByZone pulumi.StringMap
	// ControlPlaneSubnetIDs are for the control plane alone, and ControlPlaneSubnetZones
	// their zones, in their order; none when it uses the private subnets.
	ControlPlaneSubnetIDs, ControlPlaneSubnetZones []string
}

func (n *Network) registerOutputs(ctx *pulumi.Context) error {
	return ctx.RegisterResourceOutputs(n, pulumi.Map{
		"vpcId": n.VPCID, "cidr": n.CIDR,
		"privateSubnetIds": n.PrivateSubnetIDs, "publicSubnetIds": n.PublicSubnetIDs,
	})
}
