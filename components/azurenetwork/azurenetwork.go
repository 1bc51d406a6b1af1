// Package azurenetwork makes the network of a cluster on Azure, or looks up an existing
// subnet that another team owns.
package azurenetwork

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Network is the network of a cluster: one that NewVNet made, or the subnet that NewExisting
// looked up.
type Network struct {
	pulumi.ResourceState

	// VNetID is the id of the network, SubnetID that of the nodes' subnet, once it has its
	// way out. Both are known in every preview.
	VNetID, SubnetID pulumi.StringOutput
	// Blocks of addresses of the network.
	Blocks []string
	// RouteTableID of an existing subnet; "" for none.
	RouteTableID string
	// OutboundIP is the address that nodes are seen with; nil where it is not known.
	OutboundIP pulumi.StringOutput
}

func (n *Network) registerOutputs(ctx *pulumi.Context) error {
	return ctx.RegisterResourceOutputs(n, pulumi.Map{
		"vnetId": n.VNetID, "subnetId": n.SubnetID, "cidr": pulumi.String(n.CIDR()),
	})
}

// CIDR is the network's blocks, separated by commas.
func (n *Network) CIDR() string { return strings.Join(n.Blocks, ",") }
