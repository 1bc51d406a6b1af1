package network

import (
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/vpc"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// gatewayService tells the two services that AWS offers as gateway endpoints.
func gatewayService(service string) bool { return service == "s3" || service == "dynamodb" }

// chinaServices are the services whose interface endpoints in China begin with
// cn.com.amazonaws; others begin with com.amazonaws, as everywhere. Both regions have
// the same of those that a cluster file can name. Source: getDefaultEndpointPrefix
// in packages/aws-cdk-lib/aws-ec2/lib/vpc-endpoint.ts of aws/aws-cdk, which has it from
// aws ec2 describe-vpc-endpoint-services.
var chinaServices = []string{
	"athena", "autoscaling", "cloudformation", "ebs", "ec2", "ecr.api", "ecr.dkr", "eks", "elasticache", "elasticfilesystem",
	"execute-api", "fsx", "kinesis-streams", "lambda", "monitoring", "rds", "redshift", "sagemaker.api", "sagemaker.runtime",
	"sms", "sqs", "states", "sts", "synthetics", "transfer", "xray",
	// That list is older than eks-auth. EKS and its newer endpoints go together.
	"eks-auth",
}

// serviceName is what EC2 calls the endpoint service of a short name.
func serviceName(region, service string) string {
	name := "com.amazonaws." + region + "." + service
	if strings.HasPrefix(region, "cn-") && slices.Contains(chinaServices, service) {
		return "cn." + name
	}
	return name
}

func (b *vpcBuilder) makeGatewayEndpoints() error {
	var tables pulumi.StringArray
	for _, t := range b.privateTables {
		tables = append(tables, t.ID().ToStringOutput())
	}
	for _, service := range b.args.Endpoints {
		if !gatewayService(service) {
			continue
		}
		if err := b.endpoint(service, ec2.VpcEndpointArgs{VpcEndpointType: pulumi.String("Gateway"), RouteTableIds: tables}); err != nil {
			return err
		}
	}
	return nil
}

func (b *vpcBuilder) makeInterfaceEndpoints() error {
	services := slices.DeleteFunc(slices.Clone(b.args.Endpoints), gatewayService)
	if len(services) == 0 {
		return nil
	}
	group, err := b.endpointGroup()
	if err != nil {
		return err
	}
	var subnets pulumi.StringArray
	for _, s := range b.private {
		subnets = append(subnets, s.ID().ToStringOutput())
	}
	for _, service := range services {
		if err := b.endpoint(service, ec2.VpcEndpointArgs{
			VpcEndpointType: pulumi.String("Interface"), PrivateDnsEnabled: pulumi.Bool(true),
			SubnetIds: subnets, SecurityGroupIds: pulumi.StringArray{group.ID().ToStringOutput()},
		}); err != nil {
			return err
		}
	}
	return nil
}

// endpoint makes the endpoint of a service, which routing waits for.
func (b *vpcBuilder) endpoint(service string, args ec2.VpcEndpointArgs) error {
	name := "endpoint-" + strings.ReplaceAll(service, ".", "-")
	args.VpcId = b.vpc.ID()
	args.ServiceName = pulumi.String(serviceName(b.args.Region, service))
	args.Tags = b.tags(name)
	e, err := ec2.NewVpcEndpoint(b.ctx, b.name+"-"+name, &args, b.parent)
	b.routing = append(b.routing, e)
	return err
}

// endpointGroup allows HTTPS to the endpoints from the VPC only.
func (b *vpcBuilder) endpointGroup() (*ec2.SecurityGroup, error) {
	group, err := ec2.NewSecurityGroup(b.ctx, b.name+"-endpoints", &ec2.SecurityGroupArgs{
		Name:        pulumi.String(b.name + "-endpoints"),
		Description: pulumi.String("HTTPS from the VPC to its interface endpoints"),
		VpcId:       b.vpc.ID(),
		Tags:        b.tags("endpoints"),
	}, b.parent)
	if err != nil {
		return nil, err
	}
	rule, err := vpc.NewSecurityGroupIngressRule(b.ctx, b.name+"-endpoints-https", &vpc.SecurityGroupIngressRuleArgs{
		SecurityGroupId: group.ID(),
		Description:     pulumi.String("HTTPS from the VPC"),
		CidrIpv4:        pulumi.String(b.args.CIDR),
		IpProtocol:      pulumi.String("tcp"),
		FromPort:        pulumi.Int(443),
		ToPort:          pulumi.Int(443),
	}, b.parent)
	if err != nil {
		return nil, err
	}
	b.routing = append(b.routing, rule)
	return group, nil
}

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
