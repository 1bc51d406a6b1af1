// Package filesystem makes an EFS file system that the nodes of a cluster
// mount.
package filesystem

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/efs"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/vpc"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/ready"
)

const fileSystemType = "tombolo:filesystem:FileSystem"

const (
	// nfsPort is the TCP port of NFS 4, which is all that EFS speaks.
	nfsPort = 2049
	// maxName is EFS's limit for a creation token, in characters.
	maxName = 64
)

// FileSystemArgs are the arguments of a FileSystem.
type FileSystemArgs struct {
	// Name of the file system and its security group, at most 64 characters,
	// unique in account and region.
	Name string
	// KMSKeyARN encrypts the file system; "" takes the account's key for EFS.
	KMSKeyARN string
	// Backup by AWS Backup, daily, kept for 35 days. Default true.
	Backup *bool

	// VPCID of the subnets.
	VPCID pulumi.StringInput
	// Subnets that are given a mount target, by their zones: EFS takes one in
	// each zone.
	Subnets pulumi.StringMap
	// ClientSecurityGroupID is the group whose members may mount, and nobody
	// else.
	ClientSecurityGroupID pulumi.StringInput
}

// FileSystem is an encrypted file system that grows with what is in it.
type FileSystem struct {
	pulumi.ResourceState

	// ID and ARN of the file system. They resolve when it can be mounted.
	ID, ARN pulumi.StringOutput
}

// NewFileSystem makes a file system and a mount target in each zone.
func NewFileSystem(ctx *pulumi.Context, name string, args *FileSystemArgs, opts ...pulumi.ResourceOption) (*FileSystem, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("file system %s: %w", name, err)
	}
	c := &FileSystem{}
	if err := ctx.RegisterComponentResourceV2(fileSystemType, name, pulumi.Map{"name": pulumi.String(args.Name)}, c, opts...); err != nil {
		return nil, fmt.Errorf("register file system %s: %w", name, err)
	}
	b := &builder{ctx: ctx, name: name, args: args, parent: pulumi.Parent(c)}
	for _, step := range []func() error{b.makeFileSystem, b.makeBackup, b.makeSecurityGroup, b.makeMountTargets} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("file system %s: %w", name, err)
		}
	}
	c.ID = ready.After(b.files.ID().ToStringOutput(), b.complete...)
	c.ARN = ready.After(b.files.Arn, b.complete...)
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"id": c.ID, "arn": c.ARN})
}

func (a *FileSystemArgs) validate() error {
	var problems []error
	if a.Name == "" || len(a.Name) > maxName {
		problems = append(problems, fmt.Errorf("name %q has %d characters; EFS allows 1 to %d", a.Name, len(a.Name), maxName))
	}
	if a.VPCID == nil || a.ClientSecurityGroupID == nil {
		problems = append(problems, errors.New("VPC and the clients' security group are required"))
	}
	if len(a.Subnets) == 0 {
		problems = append(problems, errors.New("no subnet gets a mount target; nothing could mount the file system"))
	}
	return errors.Join(problems...)
}

// builder holds what the steps of making a file system hand to each other.
type builder struct {
	ctx    *pulumi.Context
	name   string
	args   *FileSystemArgs
	parent pulumi.ResourceOption

	files *efs.FileSystem
	group *ec2.SecurityGroup
	// complete is all that a file system needs to be mounted.
	complete []pulumi.Resource
}

// makeFileSystem gives the file system its name as creation token too: a
// creation that was interrupted then fails instead of leaving a second one.
func (b *builder) makeFileSystem() error {
	args := &efs.FileSystemArgs{
		CreationToken:  pulumi.String(b.args.Name),
		Encrypted:      pulumi.Bool(true),
		ThroughputMode: pulumi.String("elastic"),
		LifecyclePolicies: efs.FileSystemLifecyclePolicyArray{
			efs.FileSystemLifecyclePolicyArgs{TransitionToIa: pulumi.String("AFTER_30_DAYS")},
		},
		Tags: b.tags(),
	}
	if b.args.KMSKeyARN != "" {
		args.KmsKeyId = pulumi.String(b.args.KMSKeyARN)
	}
	var err error
	b.files, err = efs.NewFileSystem(b.ctx, b.name+"-files", args, b.parent)
	return err
}

func (b *builder) makeBackup() error {
	status := "ENABLED"
	if b.args.Backup != nil && !*b.args.Backup {
		status = "DISABLED"
	}
	_, err := efs.NewBackupPolicy(b.ctx, b.name+"-backup", &efs.BackupPolicyArgs{
		FileSystemId: b.files.ID(),
		BackupPolicy: efs.BackupPolicyBackupPolicyArgs{Status: pulumi.String(status)},
	}, b.parent)
	return err
}

// makeSecurityGroup lets the clients in by NFS; mount targets start no
// connections, so nothing gets out.
func (b *builder) makeSecurityGroup() error {
	var err error
	b.group, err = ec2.NewSecurityGroup(b.ctx, b.name+"-files", &ec2.SecurityGroupArgs{
		Name:        pulumi.String(b.args.Name),
		Description: pulumi.String("NFS from the nodes to the file system"),
		VpcId:       b.args.VPCID,
		Tags:        b.tags(),
	}, b.parent)
	if err != nil {
		return err
	}
	rule, err := vpc.NewSecurityGroupIngressRule(b.ctx, b.name+"-nfs", &vpc.SecurityGroupIngressRuleArgs{
		SecurityGroupId:           b.group.ID(),
		Description:               pulumi.String("NFS from the nodes"),
		ReferencedSecurityGroupId: b.args.ClientSecurityGroupID,
		IpProtocol:                pulumi.String("tcp"),
		FromPort:                  pulumi.Int(nfsPort),
		ToPort:                    pulumi.Int(nfsPort),
	}, b.parent)
	b.complete = append(b.complete, rule)
	return err
}

func (b *builder) makeMountTargets() error {
	for _, zone := range slices.Sorted(maps.Keys(b.args.Subnets)) {
		target, err := efs.NewMountTarget(b.ctx, b.name+"-mount-"+zone, &efs.MountTargetArgs{
			FileSystemId:   b.files.ID(),
			SubnetId:       b.args.Subnets[zone],
			SecurityGroups: pulumi.StringArray{b.group.ID().ToStringOutput()},
		}, b.parent)
		if err != nil {
			return err
		}
		b.complete = append(b.complete, target)
	}
	return nil
}

func (b *builder) tags() pulumi.StringMap {
	return pulumi.StringMap{"Name": pulumi.String(b.args.Name)}
}
