package network

import (
	"errors"
	"fmt"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/cloudwatch"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/identity"
	"tombolo/components/policy"
)

// FlowLogs say where the records of a VPC's traffic go: into the bucket, or, without one, into
// a log group of the VPC's own.
type FlowLogs struct {
	// BucketARN of a bucket that others own, with a folder or without.
	BucketARN string
	// Traffic is ALL, ACCEPT or REJECT.
	Traffic string
	// RetentionDays of the log group.
	RetentionDays int
	// KMSKeyARN of the log group; "" for CloudWatch's own.
	KMSKeyARN string

	// AccountID and Partition of the VPC, and Place of the role that writes into the group.
	AccountID, Partition string
	Place                identity.Place
}

func (f *FlowLogs) validate() error {
	switch {
	case f == nil:
		return nil
	case f.Traffic == "":
		return errors.New("it is not said which traffic flow logs are of")
	case f.BucketARN == "" && (f.AccountID == "" || f.Partition == "" || f.RetentionDays == 0):
		return errors.New("flow logs in a log group need account, partition and retention")
	}
	return nil
}

// makeFlowLogs has AWS record the traffic. A flow log cannot be changed: another one is made
// before the old one is deleted. Source:
// https://docs.aws.amazon.com/vpc/latest/userguide/working-with-flow-logs.html
func (b *vpcBuilder) makeFlowLogs() error {
	f := b.args.FlowLogs
	if f == nil {
		return nil
	}
	args := &ec2.FlowLogArgs{VpcId: b.vpc.ID(), TrafficType: pulumi.String(f.Traffic), Tags: b.tags(flowLogs)}
	opts := []pulumi.ResourceOption{b.parent}
	if f.BucketARN != "" {
		args.LogDestinationType, args.LogDestination = pulumi.String("s3"), pulumi.String(f.BucketARN)
	} else {
		group, err := b.flowLogGroup(f)
		if err != nil {
			return err
		}
		role, allowed, err := b.flowLogRole(f, group)
		if err != nil {
			return err
		}
		args.LogDestinationType, args.LogDestination, args.IamRoleArn = pulumi.String("cloud-watch-logs"), group.Arn, role.Arn
		opts = append(opts, pulumi.DependsOn([]pulumi.Resource{allowed}))
	}
	_, err := ec2.NewFlowLog(b.ctx, b.name+"-"+flowLogs, args, opts...)
	return err
}

// flowLogs ends the names of what flow logs consist of.
const flowLogs = "flow-logs"

func (b *vpcBuilder) flowLogGroup(f *FlowLogs) (*cloudwatch.LogGroup, error) {
	args := &cloudwatch.LogGroupArgs{Name: pulumi.String("/aws/vpc/" + b.name + "/" + flowLogs), RetentionInDays: pulumi.Int(f.RetentionDays)}
	if f.KMSKeyARN != "" {
		args.KmsKeyId = pulumi.String(f.KMSKeyARN)
	}
	return cloudwatch.NewLogGroup(b.ctx, b.name+"-"+flowLogs, args, b.parent)
}

// flowLogRole is what EC2 writes into the group with: for flow logs of this account and
// region alone, into this group alone. AWS's example may make groups, too. Source:
// https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs-iam-role.html
func (b *vpcBuilder) flowLogRole(f *FlowLogs, group *cloudwatch.LogGroup) (*iam.Role, *iam.RolePolicy, error) {
	trust, err := policy.Render(policy.Statement{
		Effect: policy.Allow, Principal: policy.Service("vpc-flow-logs.amazonaws.com"), Action: []string{"sts:AssumeRole"},
		Condition: policy.Conditions{
			"StringEquals": {"aws:SourceAccount": {f.AccountID}},
			"ArnLike":      {"aws:SourceArn": {fmt.Sprintf("arn:%s:ec2:%s:%s:vpc-flow-log/*", f.Partition, b.args.Region, f.AccountID)}},
		},
	})
	if err != nil {
		return nil, nil, err
	}
	args := &iam.RoleArgs{
		Name:             pulumi.String(b.name + "-" + flowLogs),
		Description:      pulumi.Sprintf("Flow logs of the network of %s", b.name),
		AssumeRolePolicy: pulumi.String(trust),
	}
	f.Place.Put(args)
	role, err := iam.NewRole(b.ctx, b.name+"-"+flowLogs+"-role", args, b.parent)
	if err != nil {
		return nil, nil, err
	}
	document := group.Arn.ApplyT(func(arn string) (string, error) {
		return policy.Render(policy.Statement{
			Effect: policy.Allow, Resource: []string{arn, arn + ":*"},
			Action: []string{"logs:CreateLogStream", "logs:DescribeLogGroups", "logs:DescribeLogStreams", "logs:PutLogEvents"},
		})
	}).(pulumi.StringOutput)
	allowed, err := iam.NewRolePolicy(b.ctx, b.name+"-"+flowLogs+"-role", &iam.RolePolicyArgs{Role: role.Name, Policy: document}, b.parent)
	return role, allowed, err
}
