// Command theirs is another team's program: a network and an EKS cluster with one node
// group. It knows nothing of Tombolo.
package main

import (
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		subnets, err := network(ctx)
		if err != nil {
			return err
		}
		return cluster(ctx, subnets)
	})
}

// network has a public subnet and two private ones, which reach the internet by a NAT gateway.
func network(ctx *pulumi.Context) (pulumi.StringArray, error) {
	vpc, err := ec2.NewVpc(ctx, "net", &ec2.VpcArgs{CidrBlock: pulumi.String("10.60.0.0/16"), EnableDnsHostnames: pulumi.Bool(true)})
	if err != nil {
		return nil, err
	}
	gateway, err := ec2.NewInternetGateway(ctx, "net", &ec2.InternetGatewayArgs{VpcId: vpc.ID()})
	if err != nil {
		return nil, err
	}
	public, err := ec2.NewSubnet(ctx, "public", &ec2.SubnetArgs{
		VpcId: vpc.ID(), CidrBlock: pulumi.String("10.60.0.0/24"), AvailabilityZone: pulumi.String("eu-central-1a"),
		Tags: pulumi.StringMap{"kubernetes.io/role/elb": pulumi.String("1")},
	})
	if err != nil {
		return nil, err
	}
	out, err := routed(ctx, vpc, "out", &ec2.RouteArgs{GatewayId: gateway.ID()}, public)
	if err != nil {
		return nil, err
	}
	address, err := ec2.NewEip(ctx, "nat", &ec2.EipArgs{Domain: pulumi.String("vpc")})
	if err != nil {
		return nil, err
	}
	nat, err := ec2.NewNatGateway(ctx, "nat", &ec2.NatGatewayArgs{AllocationId: address.ID(), SubnetId: public.ID()}, pulumi.DependsOn(out))
	if err != nil {
		return nil, err
	}
	ids := pulumi.StringArray{public.ID()}
	var private []*ec2.Subnet
	for i, zone := range []string{"a", "b"} {
		subnet, err := ec2.NewSubnet(ctx, "private-"+zone, &ec2.SubnetArgs{
			VpcId: vpc.ID(), CidrBlock: pulumi.Sprintf("10.60.%d.0/24", i+1), AvailabilityZone: pulumi.String("eu-central-1" + zone),
			Tags: pulumi.StringMap{"kubernetes.io/role/internal-elb": pulumi.String("1")},
		})
		if err != nil {
			return nil, err
		}
		private, ids = append(private, subnet), append(ids, subnet.ID())
	}
	_, err = routed(ctx, vpc, "nat", &ec2.RouteArgs{NatGatewayId: nat.ID()}, private...)
	return ids, err
}

// routed gives subnets a table with a default route.
func routed(ctx *pulumi.Context, vpc *ec2.Vpc, name string, route *ec2.RouteArgs, subnets ...*ec2.Subnet) ([]pulumi.Resource, error) {
	table, err := ec2.NewRouteTable(ctx, name, &ec2.RouteTableArgs{VpcId: vpc.ID()})
	if err != nil {
		return nil, err
	}
	route.RouteTableId, route.DestinationCidrBlock = table.ID(), pulumi.String("0.0.0.0/0")
	made, err := ec2.NewRoute(ctx, name, route)
	if err != nil {
		return nil, err
	}
	all := []pulumi.Resource{made}
	for i, subnet := range subnets {
		link, err := ec2.NewRouteTableAssociation(ctx, fmt.Sprintf("%s-%d", name, i), &ec2.RouteTableAssociationArgs{RouteTableId: table.ID(), SubnetId: subnet.ID()})
		if err != nil {
			return nil, err
		}
		all = append(all, link)
	}
	return all, nil
}

func cluster(ctx *pulumi.Context, subnets pulumi.StringArray) error {
	control, err := role(ctx, "main-control", "eks.amazonaws.com", "AmazonEKSClusterPolicy")
	if err != nil {
		return err
	}
	main, err := eks.NewCluster(ctx, "main", &eks.ClusterArgs{
		Name: pulumi.String("Shop_Main"), RoleArn: control.Arn, Version: pulumi.String("1.34"),
		AccessConfig: eks.ClusterAccessConfigArgs{
			AuthenticationMode: pulumi.String("API_AND_CONFIG_MAP"), BootstrapClusterCreatorAdminPermissions: pulumi.Bool(true),
		},
		VpcConfig: eks.ClusterVpcConfigArgs{SubnetIds: subnets, EndpointPrivateAccess: pulumi.Bool(true)},
	})
	if err != nil {
		return err
	}
	nodes, err := role(ctx, "main-nodes", "ec2.amazonaws.com", "AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryReadOnly", "AmazonEKS_CNI_Policy")
	if err != nil {
		return err
	}
	_, err = eks.NewNodeGroup(ctx, "pool", &eks.NodeGroupArgs{
		ClusterName: main.Name, NodeRoleArn: nodes.Arn, SubnetIds: subnets[1:], InstanceTypes: pulumi.StringArray{pulumi.String("m7i.large")},
		ScalingConfig: eks.NodeGroupScalingConfigArgs{MinSize: pulumi.Int(2), DesiredSize: pulumi.Int(2), MaxSize: pulumi.Int(4)},
	})
	ctx.Export("endpoint", main.Endpoint)
	ctx.Export("ca", main.CertificateAuthority.Data().Elem())
	return err
}

// role is one that a service of AWS assumes; it is known with its policies.
func role(ctx *pulumi.Context, name, service string, policies ...string) (*iam.Role, error) {
	made, err := iam.NewRole(ctx, name, &iam.RoleArgs{
		Name:             pulumi.String(name),
		AssumeRolePolicy: pulumi.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"%s"},"Action":"sts:AssumeRole"}]}`, service),
	})
	if err != nil {
		return nil, err
	}
	for _, policy := range policies {
		attached, err := iam.NewRolePolicyAttachment(ctx, name+"-"+policy, &iam.RolePolicyAttachmentArgs{
			Role: made.Name, PolicyArn: pulumi.String("arn:aws:iam::aws:policy/" + policy),
		})
		if err != nil {
			return nil, err
		}
		made.Arn = pulumi.All(made.Arn, attached.ID()).ApplyT(func(v []any) string { return v[0].(string) }).(pulumi.StringOutput)
	}
	return made, nil
}
