package programs

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
	"tombolo/config"
	"tombolo/stacks"
)

const ourBoundary = "arn:aws:iam::111122223333:policy/boundary"

// rolesOf are the roles that core makes for a cluster.
func rolesOf(t *testing.T, c *config.Cluster) *recorder.Recorder {
	t.Helper()
	r := withZone(account(c.Cloud.Account), "lab.test")
	assert.NilError(t, run(t, r, c, stacks.Core, Options{}, recorder.Preview))
	assert.Check(t, is.Len(r.Problems(), 0))
	return r
}

// TestEveryRoleHasItsPlace: in an account that allows no role without a boundary, one that
// is forgotten keeps the cluster from being made.
func TestEveryRoleHasItsPlace(t *testing.T) {
	everything, hub, spoke := everyAddon(t), load(t, "mgmt"), load(t, "spoke")
	everything.Services = append(everything.Services, config.Service{
		Name: "by-agent", Namespace: "flux-system", Identity: &config.Identity{
			ServiceAccount: "by-agent", Mode: config.PodIdentity, PolicyARNs: []string{"arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"},
		},
	})
	for what, c := range map[string]*config.Cluster{"everything": everything, "hub": hub, "spoke": spoke} {
		without := rolesOf(t, c)
		for _, role := range without.OfType("aws:iam/role:Role") {
			for _, property := range []string{"path", "permissionsBoundary"} {
				_, given := role.Value(property)
				assert.Check(t, !given, "%s: role %s of a file without cloud.roles has a %s", what, role.Name, property)
			}
		}
		c.Cloud.Roles = config.Roles{Path: "/tombolo/", PermissionsBoundary: ourBoundary}
		r := rolesOf(t, c)
		roles := r.OfType("aws:iam/role:Role")
		assert.Check(t, is.Len(roles, len(without.OfType("aws:iam/role:Role"))))
		for _, role := range roles {
			role.Expect(t, map[string]string{"path": "/tombolo/", "permissionsBoundary": ourBoundary})
		}
		for _, profile := range r.OfType("aws:iam/instanceProfile:InstanceProfile") {
			profile.Expect(t, map[string]string{"path": "/tombolo/"})
		}
		least := map[string]int{"everything": 12, "hub": 4, "spoke": 4}[what]
		assert.Check(t, len(roles) >= least, "%s has only %d roles", what, len(roles))
	}
}

// TestComposedARNsHaveThePath: an ARN that is composed of a role's name is that of the role
// that is made.
func TestComposedARNsHaveThePath(t *testing.T) {
	c := everyAddon(t)
	c.Cloud.Roles.Path = "/tombolo/"
	r := rolesOf(t, c)
	karpenter, ok := r.Named("aws:iam/rolePolicy:RolePolicy", "full-karpenter-role-policy")
	assert.Assert(t, ok)
	for _, want := range []string{":role/tombolo/full-karpenter-node", ":instance-profile/tombolo/full-karpenter-node"} {
		assert.Check(t, is.Contains(karpenter.String("policy"), want))
	}

	spoke, hub := load(t, "spoke"), load(t, "mgmt")
	assert.Equal(t, spoke.GitOps.ArgoCD.Credentials, config.CredentialsAWS)
	assert.Equal(t, hub.Cloud.RoleARN("aws", "x"), "arn:aws:iam::111122223333:role/x")
	hub.Cloud.Roles.Path = "/fleet/"
	assert.Equal(t, hub.Cloud.RoleARN("aws", "x"), "arn:aws:iam::111122223333:role/fleet/x")
	roles := rolesOf(t, spoke).OfType("aws:iam/role:Role")
	i := slices.IndexFunc(roles, func(role recorder.Resource) bool { return role.Name == "spoke-hub-role" })
	assert.Assert(t, i >= 0)
	assert.Check(t, is.Contains(roles[i].String("assumeRolePolicy"), "arn:aws:iam::111122223333:role/mgmt-argocd"))
}

// TestBothStacksAssumeTheRole: core by its provider, bootstrap by what gets its tokens.
func TestBothStacksAssumeTheRole(t *testing.T) {
	c := load(t, "full")
	c.Cloud.AssumeRole = &config.AssumeRole{RoleARN: "arn:aws:iam::111122223333:role/tombolo", ExternalID: "acme", SessionName: "tombolo-full"}
	r := account(c.Cloud.Account)
	assert.NilError(t, run(t, r, c, stacks.Core, Options{}, recorder.Preview))
	r.OfType("pulumi:providers:aws")[0].Expect(t, map[string]string{
		"assumeRole.roleArn": "arn:aws:iam::111122223333:role/tombolo", "assumeRole.externalId": "acme", "assumeRole.sessionName": "tombolo-full", "profile": "platform",
	})
	r, o := deployed(t)
	assert.NilError(t, run(t, r, c, stacks.Bootstrap, o, recorder.Preview))
	kubernetes := r.OfType("pulumi:providers:kubernetes")
	assert.Assert(t, is.Len(kubernetes, 1))
	words := strings.Join(strings.Fields(kubernetes[0].String("kubeconfig")), " ") // YAML folds lines
	assert.Check(t, is.Contains(words, "assume-role --profile platform"))
	assert.Check(t, is.Contains(words, "--external-id acme"))

	err := run(t, account("999988887777"), c, stacks.Core, Options{})
	assert.Check(t, is.ErrorContains(err, "the AWS credentials are of account 999988887777, but the cluster file allows 111122223333 only"))
}
