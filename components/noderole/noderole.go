// Package noderole makes what EC2 instances need to become nodes of a cluster
// when no managed node group makes them: a role, an instance profile, and the
// right to join.
package noderole

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/identity"
	"tombolo/components/ready"
)

const nodeRoleType = "tombolo:noderole:NodeRole"

// maxProfileName is IAM's limit for the name of an instance profile, in
// characters.
const maxProfileName = 128

// NodeRoleArgs are the arguments of a NodeRole.
type NodeRoleArgs struct {
	// RoleARN of a role that others own and that is only read; "" makes one.
	RoleARN string
	// RoleName is the role's name in IAM, at most 64 characters; "" with RoleARN.
	RoleName string
	// InstanceProfileName is the profile's name in IAM, at most 128 characters.
	InstanceProfileName string
	// Place of the role in IAM; the instance profile has its path.
	Place identity.Place
	// Partition of AWS, such as aws or aws-cn, for AWS's policies and services.
	Partition string
	// CNIHasRole says that the CNI has a role of its own, as it has when it is
	// a managed addon of the cluster: nodes then do without its rights.
	CNIHasRole bool

	// ClusterName of the cluster that the nodes join.
	ClusterName pulumi.StringInput
}

// NodeRole is an IAM role whose instances may join a cluster.
type NodeRole struct {
	pulumi.ResourceState

	// RoleARN, RoleName and InstanceProfileName. They resolve when an instance
	// with the profile can join.
	RoleARN, RoleName, InstanceProfileName pulumi.StringOutput
}

// NewNodeRole makes a role that EC2 assumes, its policies, its instance profile
// and its access entry.
func NewNodeRole(ctx *pulumi.Context, name string, args *NodeRoleArgs, opts ...pulumi.ResourceOption) (*NodeRole, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("node role %s: %w", name, err)
	}
	c := &NodeRole{}
	inputs := pulumi.Map{"roleName": pulumi.String(args.RoleName), "instanceProfileName": pulumi.String(args.InstanceProfileName)}
	if err := ctx.RegisterComponentResourceV2(nodeRoleType, name, inputs, c, opts...); err != nil {
		return nil, fmt.Errorf("register node role %s: %w", name, err)
	}
	if err := c.build(ctx, name, args, pulumi.Parent(c)); err != nil {
		return nil, fmt.Errorf("node role %s: %w", name, err)
	}
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{
		"roleArn": c.RoleARN, "roleName": c.RoleName, "instanceProfileName": c.InstanceProfileName,
	})
}

func (a *NodeRoleArgs) validate() error {
	var problems []error
	if n := len(a.InstanceProfileName); n == 0 || n > maxProfileName {
		problems = append(problems, fmt.Errorf("instance profile name %q has %d characters; IAM allows 1 to %d", a.InstanceProfileName, n, maxProfileName))
	}
	if a.Partition == "" || a.ClusterName == nil {
		problems = append(problems, errors.New("partition and cluster name are required"))
	}
	if a.RoleARN == "" {
		problems = append(problems, identity.CheckRoleName(a.RoleName))
	}
	return errors.Join(problems...)
}

func (c *NodeRole) build(ctx *pulumi.Context, name string, args *NodeRoleArgs, parent pulumi.ResourceOption) error {
	arn, roleName, attached, err := role(ctx, name, args, parent)
	if err != nil {
		return err
	}
	profile, err := iam.NewInstanceProfile(ctx, name+"-profile", &iam.InstanceProfileArgs{
		Name: pulumi.String(args.InstanceProfileName),
		Path: args.Place.PathInput(),
		Role: roleName,
	}, parent)
	if err != nil {
		return err
	}
	// EKS makes this entry by itself for managed node groups only.
	entry, err := eks.NewAccessEntry(ctx, name+"-access", &eks.AccessEntryArgs{
		ClusterName:  args.ClusterName,
		PrincipalArn: arn,
		Type:         pulumi.String("EC2_LINUX"),
	}, parent)
	if err != nil {
		return err
	}
	all := slices.Concat(attached, []pulumi.Resource{profile, entry})
	c.RoleARN = ready.After(arn, all...)
	c.RoleName = ready.After(roleName, all...)
	c.InstanceProfileName = ready.After(profile.Name, all...)
	return nil
}

// role is the given one, or one that is made with its policies.
func role(ctx *pulumi.Context, name string, args *NodeRoleArgs, parent pulumi.ResourceOption) (arn, roleName pulumi.StringOutput, attached []pulumi.Resource, err error) {
	if args.RoleARN != "" {
		return pulumi.String(args.RoleARN).ToStringOutput(), pulumi.String(identity.RoleNameOf(args.RoleARN)).ToStringOutput(), nil, nil
	}
	made, attached, err := identity.NewServiceRole(ctx, name, &identity.ServiceRoleArgs{
		RoleName:    args.RoleName,
		Place:       args.Place,
		Description: "Nodes that are made outside of managed node groups",
		Services:    identity.EC2(args.Partition),
		PolicyARNs:  PolicyARNs(args.Partition, args.CNIHasRole),
	}, parent)
	if err != nil {
		return arn, roleName, nil, err
	}
	return made.Arn, made.Name, attached, nil
}

// PolicyARNs are the managed policies that the role of a cluster's nodes needs
// in a partition of AWS. cniHasRole says that the CNI has a role of its own:
// where it has none, it changes network interfaces with the rights of its node.
func PolicyARNs(partition string, cniHasRole bool) []string {
	names := []string{"AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly"}
	if !cniHasRole {
		names = append(names, "AmazonEKS_CNI_Policy")
	}
	return identity.ManagedPolicyARNs(partition, names...)
}
