package network

import (
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

const everywhere = "0.0.0.0/0"

func (b *vpcBuilder) makePublicRoutes() error {
	table, err := b.routeTable("public")
	if err != nil {
		return err
	}
	route, err := ec2.NewRoute(b.ctx, b.name+"-public-internet", &ec2.RouteArgs{
		RouteTableId:         table.ID(),
		DestinationCidrBlock: pulumi.String(everywhere),
		GatewayId:            b.gateway.ID(),
	}, b.parent)
	if err != nil {
		return err
	}
	b.routing = append(b.routing, route)
	for i, s := range b.public {
		if err := b.associate("public-"+b.args.Subnets[i].Zone, table, s); err != nil {
			return err
		}
	}
	return nil
}

func (b *vpcBuilder) makeNAT() error {
	for i := range b.natCount() {
		name := "nat-" + b.args.Subnets[i].Zone
		address, err := ec2.NewEip(b.ctx, b.name+"-"+name, &ec2.EipArgs{
			Domain: pulumi.String("vpc"),
			Tags:   b.tags(name),
		}, b.parent)
		if err != nil {
			return err
		}
		// AWS needs the internet gateway first, and cannot see that by itself.
		nat, err := ec2.NewNatGateway(b.ctx, b.name+"-"+name, &ec2.NatGatewayArgs{
			AllocationId: address.ID(),
			SubnetId:     b.public[i].ID(),
			Tags:         b.tags(name),
		}, b.parent, pulumi.DependsOn([]pulumi.Resource{b.gateway}))
		if err != nil {
			return err
		}
		b.nats = append(b.nats, nat)
	}
	return nil
}

func (b *vpcBuilder) natCount() int {
	switch b.args.NAT {
	case NATSingle:
		return 1
	case NATPerZone:
		return len(b.args.Subnets)
	default:
		return 0
	}
}

// makePrivateRoutes gives every zone a table of its own, whatever the NAT, so
// that a later change of NAT changes routes and no associations.
func (b *vpcBuilder) makePrivateRoutes() error {
	for i, s := range b.private {
		name := "private-" + b.args.Subnets[i].Zone
		table, err := b.routeTable(name)
		if err != nil {
			return err
		}
		b.privateTables = append(b.privateTables, table)
		if err := b.associate(name, table, s); err != nil {
			return err
		}
		if len(b.nats) == 0 {
			continue
		}
		route, err := ec2.NewRoute(b.ctx, b.name+"-"+name+"-nat", &ec2.RouteArgs{
			RouteTableId:         table.ID(),
			DestinationCidrBlock: pulumi.String(everywhere),
			NatGatewayId:         b.nats[min(i, len(b.nats)-1)].ID(),
		}, b.parent)
		if err != nil {
			return err
		}
		b.routing = append(b.routing, route)
	}
	return nil
}

func (b *vpcBuilder) routeTable(name string) (*ec2.RouteTable, error) {
	return ec2.NewRouteTable(b.ctx, b.name+"-"+name, &ec2.RouteTableArgs{
		VpcId: b.vpc.ID(),
		Tags:  b.tags(name),
	}, b.parent)
}

func (b *vpcBuilder) associate(name string, table *ec2.RouteTable, subnet *ec2.Subnet) error {
	a, err := ec2.NewRouteTableAssociation(b.ctx, b.name+"-"+name, &ec2.RouteTableAssociationArgs{
		RouteTableId: table.ID(),
		SubnetId:     subnet.ID(),
	}, b.parent)
	if err != nil {
		return err
	}
	b.routing = append(b.routing, a)
	return nil
}
