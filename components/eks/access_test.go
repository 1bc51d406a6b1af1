package eks

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

const (
	accessEntry       = "aws:eks/accessEntry:AccessEntry"
	policyAssociation = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
)

func TestAccessOfOthers(t *testing.T) {
	r := built(t, func(a *ClusterArgs) {
		a.Access = []Access{
			{Name: "auditors", PrincipalARN: "arn:aws:iam::111122223333:role/auditor", Policy: "AmazonEKSViewPolicy"},
			{Name: "team-a", PrincipalARN: "arn:aws:iam::111122223333:role/team-a", Policy: "AmazonEKSEditPolicy", Namespaces: []string{"team-a"}, Groups: []string{"team-a"}},
			{Name: "grouped", PrincipalARN: "arn:aws:iam::111122223333:role/grouped", Groups: []string{"x"}},
		}
	})
	named := func(token, name string) recorder.Resource {
		found, ok := r.Named(token, "demo-access-"+name)
		assert.Assert(t, ok, "%s %s", token, name)
		return found
	}
	named(accessEntry, "auditors").Expect(t, map[string]string{"principalArn": "arn:aws:iam::111122223333:role/auditor", "type": "STANDARD", "kubernetesGroups": ""})
	named(accessEntry, "team-a").Expect(t, map[string]string{"kubernetesGroups[0]": "team-a"})
	named(accessEntry, "grouped").Expect(t, map[string]string{"kubernetesGroups[0]": "x"})
	named(policyAssociation, "auditors").Expect(t, map[string]string{
		"policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy", "accessScope.type": "cluster", "accessScope.namespaces": "",
	})
	scoped := named(policyAssociation, "team-a")
	scoped.Expect(t, map[string]string{
		"policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSEditPolicy", "accessScope.type": "namespace", "accessScope.namespaces[0]": "team-a",
	})
	assert.Check(t, scoped.DeleteBeforeReplace, "the deletion of the old scope would take the new one along")
	_, ok := r.Named(policyAssociation, "demo-access-grouped")
	assert.Check(t, !ok, "groups alone came with a policy")
	r.Probed().ExpectAfter(t, "endpoint", "demo-access-auditors", "demo-access-grouped")
}

func TestAccessWithoutRights(t *testing.T) {
	a := clusterArgs()
	a.Access = []Access{{Name: "devs", PrincipalARN: "arn:x"}, {Name: "devs", PrincipalARN: "arn:y", Policy: "AmazonEKSViewPolicy"}}
	err := a.validate()
	assert.Check(t, is.ErrorContains(err, `access "devs" has neither a policy nor groups`))
	assert.Check(t, is.ErrorContains(err, `access "devs" is given twice`))
}

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

const ingressRule = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"

// TestPrivateAccess: each block and each group is let in by a rule of its own, at the port
// of the API, and the cluster counts as complete when they are there.
func TestPrivateAccess(t *testing.T) {
	r := built(t, func(a *ClusterArgs) {
		a.PrivateCIDRs, a.PrivateGroups = []string{"10.8.0.0/16", "10.9.0.0/16"}, []string{"sg-0a1b2c3d"}
	})
	assert.Assert(t, is.Len(r.OfType(ingressRule), 3))
	for name, want := range map[string]map[string]string{
		"demo-api-from-10.8.0.0-16": {"cidrIpv4": "10.8.0.0/16", "description": "Kubernetes API from 10.8.0.0/16"},
		"demo-api-from-10.9.0.0-16": {"cidrIpv4": "10.9.0.0/16"},
		"demo-api-from-sg-0a1b2c3d": {"referencedSecurityGroupId": "sg-0a1b2c3d"},
	} {
		rule, ok := r.Named(ingressRule, name)
		assert.Assert(t, ok, "there is no %s", name)
		want["securityGroupId"], want["ipProtocol"], want["fromPort"], want["toPort"] = "sg-1", "tcp", "443", "443"
		rule.Expect(t, want)
		r.Probed().ExpectAfter(t, "endpoint", name)
	}
	assert.Check(t, is.Len(built(t, nil).OfType(ingressRule), 0))
}

func TestPrivateAccessNeedsThePrivateEndpoint(t *testing.T) {
	args := clusterArgs()
	args.PrivateEndpoint, args.PrivateCIDRs = false, []string{"10.8.0.0/16"}
	_, err := run(t, args)
	assert.ErrorContains(t, err, "there is no private endpoint for those that are let in to it")
}
