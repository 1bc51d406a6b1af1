package azurenetwork

import (
	"fmt"

	network "github.com/pulumi/pulumi-azure-native-sdk/network/v2/v20190601"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/internal/armid"
)

const existingType = "tombolo:azurenetwork:Existing"

// Outbound is how nodes reach what is outside of an existing network.
type Outbound string

// The ways out. AnyOutbound is for a cluster that is there: its owner has seen to it.
const (
	AnyOutbound  Outbound = ""
	NATGateway   Outbound = "nat-gateway"
	LoadBalancer Outbound = "load-balancer"
	Routes       Outbound = "user-defined-routing"
)

// ExistingArgs name a subnet that another team owns.
type ExistingArgs struct {
	// SubnetID of the subnet of the nodes. The provider in the component's options has to
	// be one of its subscription.
	SubnetID string
	// Outbound is what the subnet is expected to have.
	Outbound Outbound
}

// NewExisting looks a subnet and its network up. Nothing in them is made or changed, not
// even a tag; destroying the component leaves them as they are. It fails when the subnet does
// not exist, is delegated to another service, or lacks what the way out needs of it.
func NewExisting(ctx *pulumi.Context, name string, args *ExistingArgs, opts ...pulumi.ResourceOption) (*Network, error) {
	parts, err := armid.ParseSubnet(args.SubnetID)
	if err != nil {
		return nil, fmt.Errorf("existing network %s: %w", name, err)
	}
	c := &Network{}
	inputs := pulumi.Map{"subnetId": pulumi.String(args.SubnetID), "outbound": pulumi.String(args.Outbound)}
	if err := ctx.RegisterComponentResourceV2(existingType, name, inputs, c, opts...); err != nil {
		return nil, fmt.Errorf("register existing network %s: %w", name, err)
	}
	if err := c.lookUpSubnet(ctx, parts, args); err != nil {
		return nil, fmt.Errorf("existing network %s: %w", name, err)
	}
	vnet, err := network.LookupVirtualNetwork(ctx, &network.LookupVirtualNetworkArgs{
		ResourceGroupName: parts.Group, VirtualNetworkName: parts.Network,
	}, pulumi.Parent(c))
	if err != nil {
		return nil, fmt.Errorf("existing network %s: look up %s: %w; allow Microsoft.Network/virtualNetworks/read on it to the credentials", name, parts.NetworkID(), err)
	}
	if vnet.AddressSpace != nil {
		c.Blocks = vnet.AddressSpace.AddressPrefixes
	}
	c.VNetID = pulumi.String(parts.NetworkID()).ToStringOutput()
	c.SubnetID = pulumi.String(args.SubnetID).ToStringOutput()
	return c, c.registerOutputs(ctx)
}

// lookUpSubnet checks the subnet. A delegated one is another service's, and AKS does not take
// it: https://learn.microsoft.com/azure/virtual-network/subnet-delegation-overview
func (n *Network) lookUpSubnet(ctx *pulumi.Context, parts armid.SubnetParts, args *ExistingArgs) error {
	subnet, err := network.LookupSubnet(ctx, &network.LookupSubnetArgs{
		ResourceGroupName: parts.Group, VirtualNetworkName: parts.Network, SubnetName: parts.Subnet,
	}, pulumi.Parent(n))
	if err != nil {
		return fmt.Errorf("look up subnet %s: %w; check the id, and allow Microsoft.Network/virtualNetworks/subnets/read on it to the credentials", args.SubnetID, err)
	}
	for _, d := range subnet.Delegations {
		return fmt.Errorf("subnet %s is delegated to %s, and AKS takes no delegated subnet; name one without a delegation", args.SubnetID, text(d.ServiceName))
	}
	if subnet.RouteTable != nil {
		n.RouteTableID = text(subnet.RouteTable.Id)
	}
	switch {
	case args.Outbound == Routes && n.RouteTableID == "":
		return fmt.Errorf("subnet %s has no route table, and the way out is %s: have the network's owner give it one with a route for 0.0.0.0/0 to an appliance or a gateway, "+
			"or choose %s or %s", args.SubnetID, Routes, NATGateway, LoadBalancer)
	case args.Outbound == NATGateway && subnet.NatGateway == nil:
		return fmt.Errorf("subnet %s has no NAT gateway, and the way out is %s: have the network's owner give it one, or choose %s or %s",
			args.SubnetID, NATGateway, LoadBalancer, Routes)
	}
	return nil
}

// text is the value, "" for none.
func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}
