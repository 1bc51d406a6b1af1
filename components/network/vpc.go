// Package network makes the network of a cluster, or looks up an existing one that
// another team owns.
package network

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

const vpcType = "tombolo:network:VPC"

// The tags that subnets have from the network: a name for people, and by which
// load balancer controllers find those for internal and public ones.
const (
	nameTag        = "Name"
	privateRoleTag = "kubernetes.io/role/internal-elb"
	publicRoleTag  = "kubernetes.io/role/elb"
)

// NAT says how private subnets reach the internet.
type NAT string

// The kinds of NAT: none, one gateway in the first zone, one in each zone.
const (
	NATNone    NAT = "none"
	NATSingle  NAT = "single"
	NATPerZone NAT = "per-zone"
)

// Subnet is the plan for one zone: the CIDR blocks of its two subnets.
type Subnet struct {
	Zone, Private, Public string
}

// VPCArgs are the arguments of a VPC.
type VPCArgs struct {
	// Region the VPC is in; it is part of the endpoints' service names.
	Region string
	// CIDR block of the VPC.
	CIDR string
	// Subnets, one entry for each zone, at least two.
	Subnets []Subnet
	// NAT for the private subnets.
	NAT NAT
	// Endpoints are AWS service names without the region, such as s3 or
	// ecr.api. s3 and dynamodb become gateway endpoints, which cost nothing;
	// others become interface endpoints in the private subnets.
	Endpoints []string
	// PrivateSubnetTags are put on the private subnets in addition to their own, for
	// addons that find subnets by a tag.
	PrivateSubnetTags map[string]string
	// FlowLogs of the VPC; nil for none.
	FlowLogs *FlowLogs
	// Protect has Pulumi refuse to delete the VPC.
	Protect bool
}

// NewVPC makes a network. Its private subnets are usable when the component's
// outputs resolve: the outputs wait for the routes.
func NewVPC(ctx *pulumi.Context, name string, args *VPCArgs, opts ...pulumi.ResourceOption) (*Network, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("network %s: %w", name, err)
	}
	c := &Network{}
	inputs := pulumi.Map{"region": pulumi.String(args.Region), "cidr": pulumi.String(args.CIDR), "nat": pulumi.String(args.NAT)}
	if err := ctx.RegisterComponentResourceV2(vpcType, name, inputs, c, opts...); err != nil {
		return nil, fmt.Errorf("register network %s: %w", name, err)
	}
	b := &vpcBuilder{ctx: ctx, name: name, args: args, parent: pulumi.Parent(c)}
	if err := b.build(); err != nil {
		return nil, fmt.Errorf("network %s: %w", name, err)
	}
	c.VPCID = b.vpc.ID().ToStringOutput()
	c.CIDR = b.vpc.CidrBlock
	c.PrivateSubnetIDs = b.usable(b.private)
	c.PublicSubnetIDs = b.usable(b.public)
	c.PrivateSubnetByZone = pulumi.StringMap{}
	for i, s := range b.private {
		c.PrivateSubnetByZone[args.Subnets[i].Zone] = s.ID().ToStringOutput()
		c.PrivateSubnetZones = append(c.PrivateSubnetZones, args.Subnets[i].Zone)
	}
	return c, c.registerOutputs(ctx)
}

func (a *VPCArgs) validate() error {
	var problems []error
	if a.Region == "" || a.CIDR == "" {
		problems = append(problems, errors.New("region and CIDR are required"))
	}
	if len(a.Subnets) < 2 {
		problems = append(problems, fmt.Errorf("a managed cluster needs subnets in at least 2 zones, there are %d", len(a.Subnets)))
	}
	zones := map[string]bool{}
	for _, s := range a.Subnets {
		if zones[s.Zone] {
			problems = append(problems, fmt.Errorf("zone %s is given twice", s.Zone))
		}
		zones[s.Zone] = true
	}
	for _, key := range slices.Sorted(maps.Keys(a.PrivateSubnetTags)) {
		if key == nameTag || key == privateRoleTag {
			problems = append(problems, fmt.Errorf("private subnet tag %s is the network's own; choose another key", key))
		}
	}
	switch a.NAT {
	case NATNone, NATSingle, NATPerZone:
	default:
		problems = append(problems, fmt.Errorf("NAT %q is unknown; expected none, single or per-zone", a.NAT))
	}
	return errors.Join(append(problems, a.FlowLogs.validate())...)
}

// vpcBuilder holds what the steps of making a VPC hand to each other.
type vpcBuilder struct {
	ctx    *pulumi.Context
	name   string
	args   *VPCArgs
	parent pulumi.ResourceOption

	vpc             *ec2.Vpc
	gateway         *ec2.InternetGateway
	private, public []*ec2.Subnet
	nats            []*ec2.NatGateway
	privateTables   []*ec2.RouteTable
	// routing is what has to exist before a subnet can be used.
	routing []pulumi.Resource
}

func (b *vpcBuilder) build() error {
	for _, step := range []func() error{
		b.makeVPC, b.makeSubnets, b.makePublicRoutes, b.makeNAT, b.makePrivateRoutes,
		b.makeGatewayEndpoints, b.makeInterfaceEndpoints, b.makeFlowLogs,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (b *vpcBuilder) makeVPC() error {
	var err error
	b.vpc, err = ec2.NewVpc(b.ctx, b.name+"-vpc", &ec2.VpcArgs{
		CidrBlock:          pulumi.String(b.args.CIDR),
		EnableDnsHostnames: pulumi.Bool(true),
		EnableDnsSupport:   pulumi.Bool(true),
		Tags:               b.tags("vpc"),
	}, b.parent, pulumi.Protect(b.args.Protect))
	if err != nil {
		return err
	}
	// Without rules: nothing gets in or out by a group that was never chosen.
	_, err = ec2.NewDefaultSecurityGroup(b.ctx, b.name+"-default", &ec2.DefaultSecurityGroupArgs{
		VpcId: b.vpc.ID(),
		Tags:  b.tags("default-unused"),
	}, b.parent)
	if err != nil {
		return err
	}
	b.gateway, err = ec2.NewInternetGateway(b.ctx, b.name+"-internet", &ec2.InternetGatewayArgs{
		VpcId: b.vpc.ID(),
		Tags:  b.tags("internet"),
	}, b.parent)
	return err
}

func (b *vpcBuilder) makeSubnets() error {
	for _, s := range b.args.Subnets {
		private, err := b.subnet("private", s.Zone, s.Private, privateRoleTag, b.args.PrivateSubnetTags)
		if err != nil {
			return err
		}
		public, err := b.subnet("public", s.Zone, s.Public, publicRoleTag, nil)
		if err != nil {
			return err
		}
		b.private, b.public = append(b.private, private), append(b.public, public)
	}
	return nil
}

// subnet makes one subnet. Even public ones give no public addresses on
// launch: load balancers and NAT gateways bring their own.
func (b *vpcBuilder) subnet(kind, zone, cidr, roleTag string, given map[string]string) (*ec2.Subnet, error) {
	name := kind + "-" + zone
	tags := b.tags(name)
	tags[roleTag] = pulumi.String("1")
	for key, value := range given {
		tags[key] = pulumi.String(value)
	}
	return ec2.NewSubnet(b.ctx, b.name+"-"+name, &ec2.SubnetArgs{
		VpcId:               b.vpc.ID(),
		CidrBlock:           pulumi.String(cidr),
		AvailabilityZone:    pulumi.String(zone),
		MapPublicIpOnLaunch: pulumi.Bool(false),
		Tags:                tags,
	}, b.parent)
}

func (b *vpcBuilder) tags(suffix string) pulumi.StringMap {
	return pulumi.StringMap{nameTag: pulumi.String(b.name + "-" + suffix)}
}

// usable is the subnets' ids once their routes exist, so that what is put
// into them can reach its surroundings from the start, and goes before the
// routes do.
func (b *vpcBuilder) usable(subnets []*ec2.Subnet) pulumi.StringArrayOutput {
	values := make([]any, 0, len(subnets)+len(b.routing))
	for _, s := range subnets {
		values = append(values, s.ID())
	}
	for _, r := range b.routing {
		values = append(values, r.URN())
	}
	n := len(subnets)
	return pulumi.All(values...).ApplyT(func(all []any) []string {
		ids := make([]string, n)
		for i := range n {
			ids[i] = string(all[i].(pulumi.ID))
		}
		return ids
	}).(pulumi.StringArrayOutput)
}

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
