package eks

import (
	"fmt"
	"slices"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/cloudwatch"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/iam"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/kms"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/identity"
	"tombolo/components/noderole"
)

const (
	// keyDeletionDays is how long a deleted key can be brought back, the
	// longest that KMS offers: with the key gone, so are etcd's backups.
	keyDeletionDays = 30
	cniAddon        = "vpc-cni"
)

func (b *builder) makeRoles() error {
	if err := b.makeClusterRole(); err != nil {
		return err
	}
	return b.makeNodeRole()
}

// GivenClusterRole is what the name of a control plane's role that others own has after the
// cluster's: it is read, as the component of EKS takes a resource.
const GivenClusterRole = "cluster-given"

func (b *builder) makeClusterRole() (err error) {
	if arn := b.args.ClusterRoleARN; arn != "" {
		b.clusterRole, err = iam.GetRole(b.ctx, b.name+"-"+GivenClusterRole, pulumi.ID(identity.RoleNameOf(arn)), nil, b.parent)
		return err
	}
	b.clusterRole, b.clusterPolicies, err = b.serviceRole("cluster", []string{"eks.amazonaws.com"}, ClusterPolicyARNs(b.args.Partition, b.args.AutoMode)...)
	return err
}

func (b *builder) makeNodeRole() error {
	if arn := b.args.NodeRoleARN; arn != "" {
		b.nodeRoleARN = pulumi.String(arn).ToStringOutput()
		return nil
	}
	policies := NodePolicyARNs(b.args.Partition, b.args.AutoMode, b.hasAddon(cniAddon))
	role, attached, err := b.serviceRole("node", identity.EC2(b.args.Partition), policies...)
	if err != nil {
		return err
	}
	b.nodeRoleARN, b.nodePolicies = role.Arn, attached
	return nil
}

func (b *builder) hasAddon(name string) bool {
	return slices.ContainsFunc(b.args.Addons, func(a Addon) bool { return a.Name == name })
}

// serviceRole makes the role <cluster>-<suffix> that an AWS service assumes.
func (b *builder) serviceRole(suffix string, services []string, policyARNs ...string) (*iam.Role, []pulumi.Resource, error) {
	return identity.NewServiceRole(b.ctx, b.name+"-"+suffix, &identity.ServiceRoleArgs{
		RoleName:    b.args.Name + "-" + suffix,
		Place:       b.args.Place,
		Description: fmt.Sprintf("EKS cluster %s: %s", b.args.Name, suffix),
		Services:    services,
		// Auto Mode's policies go by tags of the session with the cluster's name.
		TagSession: b.args.AutoMode && suffix == "cluster",
		PolicyARNs: policyARNs,
	}, b.parent)
}

func (b *builder) makeKey() error {
	if !b.args.EncryptSecrets {
		return nil
	}
	if b.args.KeyARN != "" {
		b.keyARN = pulumi.String(b.args.KeyARN)
		return nil
	}
	key, err := kms.NewKey(b.ctx, b.name+"-secrets", &kms.KeyArgs{
		Description:          pulumi.Sprintf("Kubernetes Secrets of EKS cluster %s", b.args.Name),
		EnableKeyRotation:    pulumi.Bool(true),
		DeletionWindowInDays: pulumi.Int(keyDeletionDays),
	}, b.parent)
	if err != nil {
		return err
	}
	b.keyARN = key.Arn
	_, err = kms.NewAlias(b.ctx, b.name+"-secrets", &kms.AliasArgs{
		Name:        pulumi.Sprintf("alias/%s-secrets", b.args.Name),
		TargetKeyId: key.KeyId,
	}, b.parent)
	return err
}

// makeLogGroup comes before the cluster: otherwise EKS makes the group itself,
// without an end to its retention, and leaves it behind.
func (b *builder) makeLogGroup() error {
	args := &cloudwatch.LogGroupArgs{
		Name:            pulumi.Sprintf("/aws/eks/%s/cluster", b.args.Name),
		RetentionInDays: pulumi.Int(b.args.LogRetentionDays),
	}
	if b.args.LogKeyARN != "" {
		args.KmsKeyId = pulumi.String(b.args.LogKeyARN)
	}
	group, err := cloudwatch.NewLogGroup(b.ctx, b.name+"-logs", args, b.parent)
	b.logs = group
	return err
}

// ClusterPolicyARNs are AWS's policies of the control plane's role, in a partition of AWS. For
// Auto Mode: https://docs.aws.amazon.com/eks/latest/userguide/auto-cluster-iam-role.html
func ClusterPolicyARNs(partition string, autoMode bool) []string {
	names := []string{"AmazonEKSClusterPolicy"}
	if autoMode {
		names = append(names, "AmazonEKSComputePolicy", "AmazonEKSBlockStoragePolicy", "AmazonEKSLoadBalancingPolicy", "AmazonEKSNetworkingPolicy")
	}
	return identity.ManagedPolicyARNs(partition, names...)
}

// NodePolicyARNs are those of the nodes' role. Nodes of Auto Mode pull images and no more:
// https://docs.aws.amazon.com/eks/latest/userguide/auto-create-node-role.html
// cniHasRole says that the CNI is a managed addon, which has a role of its own.
func NodePolicyARNs(partition string, autoMode, cniHasRole bool) []string {
	if autoMode {
		return identity.ManagedPolicyARNs(partition, "AmazonEKSWorkerNodeMinimalPolicy", "AmazonEC2ContainerRegistryPullOnly")
	}
	return noderole.PolicyARNs(partition, cniHasRole)
}
