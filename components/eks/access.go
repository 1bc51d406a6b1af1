package eks

import (
	awseks "github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// accessPolicy is the ARN of one of EKS's access policies.
func (b *builder) accessPolicy(name string) pulumi.StringInput {
	return pulumi.Sprintf("arn:%s:eks::aws:cluster-access-policy/%s", b.args.Partition, name)
}

// makeOthersAccess gives each of those who are neither admins nor previewers an access
// entry with its groups, and puts its policy on the entry.
func (b *builder) makeOthersAccess() error {
	for _, a := range b.args.Access {
		args := &awseks.AccessEntryArgs{
			ClusterName:  b.cluster.Name(),
			PrincipalArn: pulumi.String(a.PrincipalARN),
			Type:         pulumi.String("STANDARD"),
		}
		if len(a.Groups) > 0 {
			args.KubernetesGroups = pulumi.ToStringArray(a.Groups)
		}
		entry, err := awseks.NewAccessEntry(b.ctx, b.name+"-access-"+a.Name, args, b.parent)
		if err != nil {
			return err
		}
		b.complete = append(b.complete, entry)
		if err := b.putPolicy(a, entry); err != nil {
			return err
		}
	}
	return nil
}

// putPolicy puts the policy on an entry. EKS has one association of a policy with an
// entry: with other namespaces the old one has to go first, or its deletion would take
// the new one along.
func (b *builder) putPolicy(a Access, entry *awseks.AccessEntry) error {
	if a.Policy == "" {
		return nil
	}
	scope := awseks.AccessPolicyAssociationAccessScopeArgs{Type: pulumi.String("cluster")}
	if len(a.Namespaces) > 0 {
		scope.Type, scope.Namespaces = pulumi.String("namespace"), pulumi.ToStringArray(a.Namespaces)
	}
	policy, err := awseks.NewAccessPolicyAssociation(b.ctx, b.name+"-access-"+a.Name, &awseks.AccessPolicyAssociationArgs{
		ClusterName:  b.cluster.Name(),
		PrincipalArn: entry.PrincipalArn,
		PolicyArn:    b.accessPolicy(a.Policy),
		AccessScope:  scope,
	}, b.parent, pulumi.DeleteBeforeReplace(true))
	if err != nil {
		return err
	}
	b.complete = append(b.complete, policy)
	return nil
}
