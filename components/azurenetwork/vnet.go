package azurenetwork

import (
	"errors"
	"fmt"

	network "github.com/pulumi/pulumi-azure-native-sdk/network/v2/v20190601"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/ready"
	"tombolo/internal/armid"
)

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
	case a == nil:
		return errors.New("arguments are missing")
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
