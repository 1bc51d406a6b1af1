package eks

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const identityProvider = "aws:eks/identityProviderConfig:IdentityProviderConfig"

func people() *IdentityProvider {
	return &IdentityProvider{
		IssuerURL: "https://auth.example.com/application/o/kubernetes/", ClientID: "kubernetes",
		UsernameClaim: "preferred_username", UsernamePrefix: "oidc:", GroupsClaim: "groups", GroupsPrefix: "oidc:",
	}
}

func TestIdentityProvider(t *testing.T) {
	r := built(t, func(a *ClusterArgs) {
		a.IdentityProvider = people()
		a.IdentityProvider.RequiredClaims = map[string]string{"tenant": "acme"}
	})
	made, ok := r.Named(identityProvider, "demo-identity-provider")
	assert.Assert(t, ok)
	made.Expect(t, map[string]string{
		"clusterName": "demo", "oidc.identityProviderConfigName": "demo", "oidc.issuerUrl": "https://auth.example.com/application/o/kubernetes/",
		"oidc.clientId": "kubernetes", "oidc.usernameClaim": "preferred_username", "oidc.usernamePrefix": "oidc:",
		"oidc.groupsClaim": "groups", "oidc.groupsPrefix": "oidc:", "oidc.requiredClaims.tenant": "acme",
	})
	assert.Check(t, made.DeleteBeforeReplace, "EKS has one provider for a cluster, and would refuse the second")
	for _, before := range []string{"demo-nodes-default", "demo-admin-ops", "demo-addon-coredns"} {
		assert.Check(t, slices.ContainsFunc(made.DependsOn, func(urn string) bool { return strings.HasSuffix(urn, "::"+before) }),
			"%s comes while EKS updates the cluster for the provider: %v", before, made.DependsOn)
	}
	r = built(t, func(*ClusterArgs) {})
	_, ok = r.Named(identityProvider, "demo-identity-provider")
	assert.Check(t, !ok, "there is a provider without one in the arguments")
}

func TestIdentityProviderIsWhole(t *testing.T) {
	a := clusterArgs()
	a.IdentityProvider = people()
	assert.NilError(t, a.validate())
	a.IdentityProvider.GroupsPrefix = ""
	assert.Check(t, is.ErrorContains(a.validate(), "identity provider without prefix of groups"))
}
