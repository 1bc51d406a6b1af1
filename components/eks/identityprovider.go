package eks

import (
	"errors"
	"fmt"

	awseks "github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

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
