//go:build lab

package automation

import (
	"cmp"
	"fmt"
	"maps"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/cloudwatch"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/sqs"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/vpc"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/stacks"
	"tombolo/stacks/owner"
	"tombolo/stacks/programs"
)

// landscapeSize is how many cloud resources both stacks have.
const landscapeSize = 20

// landscape is a program of both stacks: what is named, what is tagged, what
// takes its time, and what depends on each other.
func landscape(c *config.Cluster, k stacks.Kind, _ programs.Options) (pulumi.RunFunc, error) {
	return func(p *pulumi.Context) error {
		tags := map[string]string{names.ClusterTag: c.Name}
		if k == stacks.Core {
			own, err := owner.New(p, "")
			if err != nil {
				return err
			}
			maps.Copy(tags, own.Tags())
		}
		provider, err := aws.NewProvider(p, "aws", &aws.ProviderArgs{
			Region: pulumi.String(c.Cloud.Region), DefaultTags: aws.ProviderDefaultTagsArgs{Tags: pulumi.ToStringMap(tags)},
		})
		if err != nil {
			return err
		}
		l := &land{ctx: p, provider: pulumi.Provider(provider)}
		if k == stacks.Bootstrap {
			l.queue("events")
			l.role("reader")
		} else {
			l.network()
			l.role("nodes")
			l.logs()
			l.bucket()
			handOff(l.ctx, c.Name)
		}
		return l.err
	}, nil
}

// land makes resources until the first error.
type land struct {
	ctx      *pulumi.Context
	provider pulumi.ResourceOption
	err      error
}

// laid keeps the first error.
func laid[T any](l *land, r T, err error) T {
	l.err = cmp.Or(l.err, err)
	return r
}

func named(name string) pulumi.StringMap { return pulumi.StringMap{"Name": pulumi.String(name)} }

// handOff exports what core does: a destruction reaches the cluster by it.
func handOff(p *pulumi.Context, name string) {
	for key, value := range handedOff(name).Resources[0].Outputs {
		p.Export(key, pulumi.ToOutput(value))
	}
}

func (l *land) network() {
	r, err := ec2.NewVpc(l.ctx, "vpc", &ec2.VpcArgs{CidrBlock: pulumi.String("10.0.0.0/16"), Tags: named("vpc")}, l.provider)
	vpc := laid(l, r, err)
	if l.err != nil {
		return
	}
	i, err := ec2.NewInternetGateway(l.ctx, "igw", &ec2.InternetGatewayArgs{VpcId: vpc.ID(), Tags: named("igw")}, l.provider)
	gateway := laid(l, i, err)
	rt, err := ec2.NewRouteTable(l.ctx, "table", &ec2.RouteTableArgs{VpcId: vpc.ID(), Tags: named("table")}, l.provider)
	table := laid(l, rt, err)
	if l.err != nil {
		return
	}
	route, err := ec2.NewRoute(l.ctx, "route", &ec2.RouteArgs{
		RouteTableId: table.ID(), DestinationCidrBlock: pulumi.String("0.0.0.0/0"), GatewayId: gateway.ID(),
	}, l.provider)
	laid(l, route, err)
	for i := range 3 {
		l.subnet(vpc, table, i)
	}
	l.group(vpc)
}

func (l *land) subnet(vpc *ec2.Vpc, table *ec2.RouteTable, i int) {
	if l.err != nil {
		return
	}
	name := fmt.Sprintf("subnet-%d", i)
	s, err := ec2.NewSubnet(l.ctx, name, &ec2.SubnetArgs{
		VpcId: vpc.ID(), CidrBlock: pulumi.Sprintf("10.0.%d.0/24", i),
		AvailabilityZone: pulumi.String("eu-central-1" + string(rune('a'+i))), Tags: named(name),
	}, l.provider)
	subnet := laid(l, s, err)
	if l.err != nil {
		return
	}
	a, err := ec2.NewRouteTableAssociation(l.ctx, name, &ec2.RouteTableAssociationArgs{SubnetId: subnet.ID(), RouteTableId: table.ID()}, l.provider)
	laid(l, a, err)
	if i > 0 {
		return
	}
	e, err := ec2.NewEip(l.ctx, "address", &ec2.EipArgs{Domain: pulumi.String("vpc"), Tags: named("address")}, l.provider)
	address := laid(l, e, err)
	if l.err != nil {
		return
	}
	n, err := ec2.NewNatGateway(l.ctx, "nat", &ec2.NatGatewayArgs{
		AllocationId: address.ID(), SubnetId: subnet.ID(), Tags: named("nat"),
	}, l.provider, pulumi.DependsOn([]pulumi.Resource{a}))
	laid(l, n, err)
}

func (l *land) group(network *ec2.Vpc) {
	if l.err != nil {
		return
	}
	g, err := ec2.NewSecurityGroup(l.ctx, "group", &ec2.SecurityGroupArgs{
		VpcId: network.ID(), Name: pulumi.String("group"), Description: pulumi.String("a group"), Tags: named("group"),
	}, l.provider)
	group := laid(l, g, err)
	if l.err != nil {
		return
	}
	r, err := vpc.NewSecurityGroupIngressRule(l.ctx, "https", &vpc.SecurityGroupIngressRuleArgs{
		SecurityGroupId: group.ID(), CidrIpv4: pulumi.String("10.0.0.0/16"), IpProtocol: pulumi.String("tcp"),
		FromPort: pulumi.Int(443), ToPort: pulumi.Int(443), Tags: named("https"),
	}, l.provider)
	laid(l, r, err)
}

func (l *land) role(name string) {
	if l.err != nil {
		return
	}
	r, err := iam.NewRole(l.ctx, name, &iam.RoleArgs{
		Name: pulumi.String(name),
		AssumeRolePolicy: pulumi.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow",` +
			`"Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`),
	}, l.provider)
	laid(l, r, err)
}

func (l *land) logs() {
	if l.err != nil {
		return
	}
	g, err := cloudwatch.NewLogGroup(l.ctx, "logs", &cloudwatch.LogGroupArgs{Name: pulumi.String("/demo/logs")}, l.provider)
	laid(l, g, err)
}

func (l *land) queue(name string) {
	if l.err != nil {
		return
	}
	q, err := sqs.NewQueue(l.ctx, name, &sqs.QueueArgs{Name: pulumi.String(name)}, l.provider)
	laid(l, q, err)
}

func (l *land) bucket() {
	if l.err != nil {
		return
	}
	b, err := s3.NewBucketV2(l.ctx, "bucket", &s3.BucketV2Args{Bucket: pulumi.String("tombolo-demo-bucket")}, l.provider)
	bucket := laid(l, b, err)
	if l.err != nil {
		return
	}
	a, err := s3.NewBucketPublicAccessBlock(l.ctx, "private", &s3.BucketPublicAccessBlockArgs{
		Bucket: bucket.ID(), BlockPublicAcls: pulumi.Bool(true), BlockPublicPolicy: pulumi.Bool(true),
	}, l.provider)
	laid(l, a, err)
}
