package network

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

const existingType = "tombolo:network:Existing"

// ExistingArgs name a network that another team owns.
type ExistingArgs struct {
	// VPCID of the network.
	VPCID string
	// PrivateSubnetIDs for nodes and control plane: at least two, in
	// different zones.
	PrivateSubnetIDs []string
	// PublicSubnetIDs for public load balancers; may be empty.
	PublicSubnetIDs []string
	// ControlPlaneSubnetIDs for the control plane alone, at least two, in different
	// zones; none for those of PrivateSubnetIDs.
	ControlPlaneSubnetIDs []string
}

// NewExisting looks a network up. Nothing in it is made or changed, not even a tag;
// destroying the component leaves the network as it is. It fails when the VPC or a subnet does not
// exist, when a subnet is of another VPC, and when the private subnets are in
// fewer than two zones.
func NewExisting(ctx *pulumi.Context, name string, args *ExistingArgs, opts ...pulumi.ResourceOption) (*Network, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("existing network %s: %w", name, err)
	}
	c := &Network{}
	if err := ctx.RegisterComponentResourceV2(existingType, name, pulumi.Map{"vpcId": pulumi.String(args.VPCID)}, c, opts...); err != nil {
		return nil, fmt.Errorf("register existing network %s: %w", name, err)
	}
	vpc, err := ec2.LookupVpc(ctx, &ec2.LookupVpcArgs{Id: &args.VPCID}, pulumi.Parent(c))
	if err != nil {
		return nil, fmt.Errorf("look up existing VPC %s: %w", args.VPCID, err)
	}
	if err := c.lookUpSubnets(ctx, args); err != nil {
		return nil, fmt.Errorf("existing network %s: %w", name, err)
	}
	if err := c.lookUpControlPlaneSubnets(ctx, args); err != nil {
		return nil, fmt.Errorf("existing network %s: %w", name, err)
	}
	c.VPCID = pulumi.String(args.VPCID).ToStringOutput()
	c.Owner = vpc.OwnerId
	c.CIDR = pulumi.String(vpc.CidrBlock).ToStringOutput()
	c.PrivateSubnetIDs = pulumi.ToStringArray(args.PrivateSubnetIDs).ToStringArrayOutput()
	c.PublicSubnetIDs = pulumi.ToStringArray(args.PublicSubnetIDs).ToStringArrayOutput()
	return c, c.registerOutputs(ctx)
}

func (a *ExistingArgs) validate() error {
	if a.VPCID == "" {
		return errors.New("the VPC's id is missing")
	}
	if len(a.PrivateSubnetIDs) < 2 {
		return fmt.Errorf("a managed cluster needs at least 2 private subnets, there are %d", len(a.PrivateSubnetIDs))
	}
	all := slices.Sorted(slices.Values(slices.Concat(a.PrivateSubnetIDs, a.PublicSubnetIDs)))
	if len(slices.Compact(slices.Clone(all))) != len(all) {
		return errors.New("a subnet is given twice")
	}
	return nil
}

// lookUpSubnets checks the subnets and finds out the zones of the private ones.
func (n *Network) lookUpSubnets(ctx *pulumi.Context, args *ExistingArgs) error {
	n.PrivateSubnetByZone = pulumi.StringMap{}
	for i, id := range slices.Concat(args.PrivateSubnetIDs, args.PublicSubnetIDs) {
		zone, err := n.zoneOf(ctx, id, args.VPCID)
		if err != nil {
			return err
		}
		if i >= len(args.PrivateSubnetIDs) {
			continue
		}
		n.PrivateSubnetZones = append(n.PrivateSubnetZones, zone)
		if _, taken := n.PrivateSubnetByZone[zone]; !taken {
			n.PrivateSubnetByZone[zone] = pulumi.String(id)
		}
	}
	if len(n.PrivateSubnetByZone) < 2 {
		return errors.New("the private subnets are all in one zone; give subnets in at least 2 zones")
	}
	return nil
}

// lookUpControlPlaneSubnets does the same for those of the control plane alone.
func (n *Network) lookUpControlPlaneSubnets(ctx *pulumi.Context, args *ExistingArgs) error {
	if len(args.ControlPlaneSubnetIDs) == 0 {
		return nil
	}
	for _, id := range args.ControlPlaneSubnetIDs {
		zone, err := n.zoneOf(ctx, id, args.VPCID)
		if err != nil {
			return err
		}
		n.ControlPlaneSubnetZones = append(n.ControlPlaneSubnetZones, zone)
	}
	if zones := slices.Sorted(slices.Values(n.ControlPlaneSubnetZones)); len(slices.Compact(zones)) < 2 {
		return errors.New("the control plane's subnets are all in one zone; give subnets in at least 2 zones")
	}
	n.ControlPlaneSubnetIDs = args.ControlPlaneSubnetIDs
	return nil
}

// zoneOf is the zone of a subnet, which has to be of the VPC.
func (n *Network) zoneOf(ctx *pulumi.Context, id, vpc string) (string, error) {
	subnet, err := ec2.LookupSubnet(ctx, &ec2.LookupSubnetArgs{Id: &id}, pulumi.Parent(n))
	if err != nil {
		return "", fmt.Errorf("look up subnet %s: %w", id, err)
	}
	if subnet.VpcId != vpc {
		return "", fmt.Errorf("subnet %s belongs to %s, not to %s; give subnets of one VPC", id, subnet.VpcId, vpc)
	}
	return subnet.AvailabilityZone, nil
}
