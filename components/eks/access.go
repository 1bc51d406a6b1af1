package eks

import (
	"errors"
	"fmt"
	"strings"

	awseks "github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/vpc"
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

// IdentityProvider is an OpenID Connect provider. All of it but RequiredClaims is required:
// without prefixes, the provider could name users and groups of others.
type IdentityProvider struct {
	// IssuerURL of the provider, and ClientID, the audience of its tokens.
	IssuerURL, ClientID string
	// The claims with the user's name and groups, and what is put before each of them.
	UsernameClaim, UsernamePrefix, GroupsClaim, GroupsPrefix string
	// RequiredClaims of a token, with their values.
	RequiredClaims map[string]string
}

func (p *IdentityProvider) validate() error {
	if p == nil {
		return nil
	}
	for key, value := range map[string]string{
		"issuer": p.IssuerURL, "client id": p.ClientID, "claim of names": p.UsernameClaim, "prefix of names": p.UsernamePrefix,
		"claim of groups": p.GroupsClaim, "prefix of groups": p.GroupsPrefix,
	} {
		if value == "" {
			return errors.New("identity provider without " + key)
		}
	}
	return nil
}

// makeIdentityProvider comes last. To associate a provider is an update of the cluster that
// takes up to half an hour, and EKS refuses what it does while the cluster has another one:
// "Cannot AssociateIdentityProviderConfig because cluster … currently has update … in
// progress", https://github.com/elastic/cloudbeat/issues/3093. Nothing of core depends on it, and
// core, before which no bootstrap begins, ends when it is there.
//
// EKS changes nothing of a provider but its tags, and has one for a cluster: the old one goes
// first. https://docs.aws.amazon.com/eks/latest/userguide/authenticate-oidc-identity-provider.html
func (b *builder) makeIdentityProvider() error {
	p := b.args.IdentityProvider
	if p == nil {
		return nil
	}
	oidc := awseks.IdentityProviderConfigOidcArgs{
		IdentityProviderConfigName: pulumi.String(b.args.Name),
		IssuerUrl:                  pulumi.String(p.IssuerURL),
		ClientId:                   pulumi.String(p.ClientID),
		UsernameClaim:              pulumi.String(p.UsernameClaim),
		UsernamePrefix:             pulumi.String(p.UsernamePrefix),
		GroupsClaim:                pulumi.String(p.GroupsClaim),
		GroupsPrefix:               pulumi.String(p.GroupsPrefix),
	}
	if len(p.RequiredClaims) > 0 {
		oidc.RequiredClaims = pulumi.ToStringMap(p.RequiredClaims)
	}
	_, err := awseks.NewIdentityProviderConfig(b.ctx, b.name+"-identity-provider", &awseks.IdentityProviderConfigArgs{
		ClusterName: b.cluster.Name(), Oidc: oidc,
	}, b.parent, pulumi.DependsOn(b.complete), pulumi.DeleteBeforeReplace(true))
	if err != nil {
		return fmt.Errorf("identity provider: %w", err)
	}
	return nil
}

// PrivateAccess begins the names of the rules that let others than nodes in to the
// private endpoint, after the name of the cluster.
const PrivateAccess = "api-from-"

// makePrivateAccess lets blocks and groups in to the private endpoint, each by a rule of
// its own: the list can change without a moment in which nobody is let in.
//
// The rules are on the group that EKS makes for control plane and nodes, which is where
// the EKS User Guide has them: "Accessing a private only API server" in
// https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html. The control plane
// could have groups of others instead, but those have to be of its VPC
// (https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html), while a rule also
// takes a group of a peered one
// (https://docs.aws.amazon.com/vpc/latest/peering/vpc-peering-security-groups.html).
func (b *builder) makePrivateAccess() error {
	for _, cidr := range b.args.PrivateCIDRs {
		if err := b.letIn(cidr, &vpc.SecurityGroupIngressRuleArgs{CidrIpv4: pulumi.String(cidr)}); err != nil {
			return err
		}
	}
	for _, group := range b.args.PrivateGroups {
		if err := b.letIn(group, &vpc.SecurityGroupIngressRuleArgs{ReferencedSecurityGroupId: pulumi.String(group)}); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) letIn(who string, args *vpc.SecurityGroupIngressRuleArgs) error {
	args.SecurityGroupId = b.securityGroup()
	args.Description = pulumi.String("Kubernetes API from " + who)
	args.IpProtocol = pulumi.String("tcp")
	args.FromPort, args.ToPort = pulumi.Int(443), pulumi.Int(443)
	rule, err := vpc.NewSecurityGroupIngressRule(b.ctx, b.name+"-"+PrivateAccess+strings.ReplaceAll(who, "/", "-"), args, b.parent)
	b.complete = append(b.complete, rule)
	return err
}
