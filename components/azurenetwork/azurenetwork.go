// Package azurenetwork makes the network of a cluster on Azure, or looks up an existing
// subnet that another team owns.
package azurenetwork

import (
	"errors"
	"fmt"
	"strings"

	network "github.com/pulumi/pulumi-azure-native-sdk/network/v2/v20190601"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/ready"
	"tombolo/internal/armid"
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

const vnetType = "tombolo:azurenetwork:VNet"

// VNetArgs are the arguments of NewVNet.
type VNetArgs struct {
	// Name of the network in Azure. The subnet is <Name>-nodes, the NAT gateway <Name>, and
	// its public address <Name>-outbound.
	Name string
	// Subscription and Location of the network.
	Subscription, Location string
	// GroupName is the name of the resource group, and ResourceGroup the same once it is
	// there.
	GroupName     string
	ResourceGroup pulumi.StringInput
	// CIDR block of the network, and NodeCIDR, that of the nodes' subnet in it.
	CIDR, NodeCIDR string
	// NATGateway makes a way out: a NAT gateway with one public address. Without one,
	// something else has to be the nodes' way out.
	NATGateway bool
	Tags       map[string]string
	// Protect has Pulumi refuse to delete the network.
	Protect bool
	// ServiceEndpoints are services that know the nodes' subnet as the source of requests,
	// such as Microsoft.KeyVault.
	ServiceEndpoints []string
}

// NewVNet makes a network with a subnet for nodes. The subnet is usable when the component's
// outputs resolve.
func NewVNet(ctx *pulumi.Context, name string, args *VNetArgs, opts ...pulumi.ResourceOption) (*Network, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("network %s: %w", name, err)
	}
	c := &Network{Blocks: []string{args.CIDR}}
	inputs := pulumi.Map{"name": pulumi.String(args.Name), "cidr": pulumi.String(args.CIDR), "nodeCidr": pulumi.String(args.NodeCIDR)}
	if err := ctx.RegisterComponentResourceV2(vnetType, name, inputs, c, opts...); err != nil {
		return nil, fmt.Errorf("register network %s: %w", name, err)
	}
	b := &vnetBuilder{ctx: ctx, name: name, args: args, parent: pulumi.Parent(c), tags: pulumi.ToStringMap(args.Tags)}
	for _, step := range []func() error{b.makeVNet, b.makeGateway, b.makeSubnet} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("network %s: %w", name, err)
		}
	}
	c.VNetID = b.known(armid.VirtualNetworks, args.Name, b.vnet)
	c.SubnetID = ready.After(pulumi.String(armid.Subnet(args.Subscription, args.GroupName, args.Name, SubnetName(args.Name))).ToStringOutput(), b.subnet)
	if b.address != nil {
		c.OutboundIP = b.address.IpAddress.Elem()
	}
	return c, c.registerOutputs(ctx)
}

func (a *VNetArgs) validate() error {
	switch {
	case a.Name == "" || a.Subscription == "" || a.Location == "" || a.GroupName == "" || a.ResourceGroup == nil:
		return errors.New("name, subscription, location and resource group are required")
	case a.CIDR == "" || a.NodeCIDR == "":
		return errors.New("the blocks of the network and of the nodes' subnet are required")
	}
	return nil
}

// vnetBuilder holds what the steps of making a network hand to each other.
type vnetBuilder struct {
	ctx    *pulumi.Context
	name   string
	args   *VNetArgs
	parent pulumi.ResourceOption
	tags   pulumi.StringMap

	vnet    *network.VirtualNetwork
	address *network.PublicIPAddress
	gateway *network.NatGateway
	subnet  *network.Subnet
}

// SubnetName is the name of the nodes' subnet in a network of a name.
func SubnetName(network string) string { return network + "-nodes" }

func (b *vnetBuilder) addressName() string { return b.args.Name + "-outbound" }

// known is the id of a resource once it is there, which every preview knows.
func (b *vnetBuilder) known(resourceType, name string, made pulumi.Resource) pulumi.StringOutput {
	id := armid.Resource(b.args.Subscription, b.args.GroupName, resourceType, name)
	return ready.After(pulumi.String(id).ToStringOutput(), made)
}

func (b *vnetBuilder) makeVNet() (err error) {
	b.vnet, err = network.NewVirtualNetwork(b.ctx, b.name+"-vnet", &network.VirtualNetworkArgs{
		VirtualNetworkName: pulumi.String(b.args.Name),
		ResourceGroupName:  b.args.ResourceGroup,
		Location:           pulumi.String(b.args.Location),
		AddressSpace:       network.AddressSpaceArgs{AddressPrefixes: pulumi.ToStringArray([]string{b.args.CIDR})},
		Tags:               b.tags,
	}, b.parent, pulumi.Protect(b.args.Protect))
	return err
}

// makeGateway makes the NAT gateway without a zone: Azure puts it into one. A gateway needs
// an address of the SKU Standard. Source:
// https://learn.microsoft.com/azure/nat-gateway/nat-gateway-resource
func (b *vnetBuilder) makeGateway() (err error) {
	if !b.args.NATGateway {
		return nil
	}
	b.address, err = network.NewPublicIPAddress(b.ctx, b.name+"-outbound", &network.PublicIPAddressArgs{
		PublicIpAddressName:      pulumi.String(b.addressName()),
		ResourceGroupName:        b.args.ResourceGroup,
		Location:                 pulumi.String(b.args.Location),
		PublicIPAllocationMethod: pulumi.String("Static"),
		PublicIPAddressVersion:   pulumi.String("IPv4"),
		Sku:                      network.PublicIPAddressSkuArgs{Name: pulumi.String("Standard")},
		Tags:                     b.tags,
	}, b.parent)
	if err != nil {
		return err
	}
	b.gateway, err = network.NewNatGateway(b.ctx, b.name+"-nat", &network.NatGatewayArgs{
		NatGatewayName:    pulumi.String(b.args.Name),
		ResourceGroupName: b.args.ResourceGroup,
		Location:          pulumi.String(b.args.Location),
		PublicIpAddresses: network.SubResourceArray{network.SubResourceArgs{Id: b.known(armid.PublicAddresses, b.addressName(), b.address)}},
		Sku:               network.NatGatewaySkuArgs{Name: pulumi.String("Standard")},
		Tags:              b.tags,
	}, b.parent)
	return err
}

// makeSubnet makes the subnet, which has no tags in Azure.
func (b *vnetBuilder) makeSubnet() (err error) {
	args := &network.SubnetArgs{
		SubnetName:         pulumi.String(SubnetName(b.args.Name)),
		ResourceGroupName:  b.args.ResourceGroup,
		VirtualNetworkName: ready.After(pulumi.String(b.args.Name).ToStringOutput(), b.vnet),
		AddressPrefix:      pulumi.String(b.args.NodeCIDR),
	}
	var endpoints network.ServiceEndpointPropertiesFormatArray
	for _, service := range b.args.ServiceEndpoints {
		endpoints = append(endpoints, network.ServiceEndpointPropertiesFormatArgs{Service: pulumi.String(service)})
	}
	if len(endpoints) > 0 {
		args.ServiceEndpoints = endpoints
	}
	if b.gateway != nil {
		args.NatGateway = network.SubResourceArgs{Id: b.known(armid.NatGateways, b.args.Name, b.gateway)}
	}
	b.subnet, err = network.NewSubnet(b.ctx, b.name+"-nodes", args, b.parent)
	return err
}

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
