package aws

import (
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/sigv4"
	"tombolo/lab/aws/sts"
	"tombolo/lab/standin"
	"tombolo/lab/standin/standintest"
)

const (
	homeUser     = "arn:aws:iam::111122223333:user/tombolo"
	operatorRole = "arn:aws:iam::444455556666:role/tombolo/operator"
)

// trustWithID trusts a principal that knows the external id acme.
func trustWithID(principal string) string {
	return policyOf(`{"Effect":"Allow","Principal":{"AWS":"` + principal + `"},"Action":"sts:AssumeRole","Condition":{"StringEquals":{"sts:ExternalId":"acme"}}}`)
}

// operator makes the role in an account that others assume.
func operator(t *testing.T, c *standin.Cloud) {
	t.Helper()
	_, err := c.Client("eu-central-1").Create(t.Context(), iam.RoleType, map[string]any{"name": "operator", "path": "/tombolo/", "assumeRolePolicy": trustWithID(homeUser)})
	assert.NilError(t, err)
}

func assuming(arn, id string) props {
	return props{"region": "eu-central-1", "assumeRole": map[string]any{"roleArn": arn, "externalId": id, "sessionName": "tombolo-demo"}}
}

// TestProviderAssumesARole: a provider works in the account of the role that it assumes,
// as a session of it.
func TestProviderAssumesARole(t *testing.T) {
	a := newAccount(t)
	other, err := Open(t.TempDir(), standin.Options{Clusters: standintest.NewClusters(t), Account: "444455556666", Caller: homeUser})
	assert.NilError(t, err)
	t.Cleanup(other.Close)
	operator(t, other)
	a.Server = standin.Organisation(a.Cloud, other)
	a.Configure(assuming(operatorRole, "acme"))
	who, err := a.Invoke("aws:index/getCallerIdentity:getCallerIdentity", props{})
	assert.NilError(t, err)
	assert.Equal(t, who.Str("arn"), "arn:aws:sts::444455556666:assumed-role/operator/tombolo-demo")
	assert.Equal(t, who.Str("accountId"), "444455556666")
	a.Make(ec2.VPCType, "net", props{"cidrBlock": "10.0.0.0/16"})
	assert.Equal(t, len(other.Client("eu-central-1").Find(ec2.VPCType, nil)), 1)
	assert.Equal(t, len(a.Cloud.Client("eu-central-1").Find(ec2.VPCType, nil)), 0)

	// Another provider, without the role, stays at home.
	a.Configure(props{"region": "eu-central-1"})
	who, err = a.Invoke("aws:index/getCallerIdentity:getCallerIdentity", props{})
	assert.NilError(t, err)
	assert.Equal(t, who.Str("arn"), homeUser)
}

func TestRoleThatCannotBeAssumed(t *testing.T) {
	a := newAccount(t)
	a.Make(iam.RoleType, "operator", props{"name": "operator", "assumeRolePolicy": trustWithID(homeUser)})
	const own = "arn:aws:iam::111122223333:role/operator"
	for name, config := range map[string]props{
		"another id":     assuming(own, "other"),
		"no id":          {"assumeRole": map[string]any{"roleArn": own}},
		"no such role":   assuming(own+"-x", "acme"),
		"other account":  assuming(operatorRole, "acme"),
		"another's path": assuming("arn:aws:iam::111122223333:role/x/operator", "acme"),
	} {
		arn := config.Sub("assumeRole").Str("roleArn")
		res, err := a.Server.CheckConfig(t.Context(), &pulumirpc.CheckRequest{News: a.Wire(config)})
		assert.NilError(t, err)
		assert.Assert(t, is.Len(res.Failures, 1), name)
		assert.Check(t, is.Contains(res.Failures[0].Reason, "Cannot assume IAM Role: IAM Role ("+arn+") cannot be assumed."))
		assert.Check(t, is.Contains(res.Failures[0].Reason, "AccessDenied: User: "+homeUser+" is not authorized to perform: sts:AssumeRole on resource: "+arn))
	}
	a.Configure(assuming(own, "acme"))
}

// TestAssumeForAHolder: the CLI assumes a role with the credentials that it has.
func TestAssumeForAHolder(t *testing.T) {
	a := newAccount(t)
	a.Make(iam.RoleType, "operator", props{"name": "operator", "assumeRolePolicy": trustWithID(homeUser)})
	role := sts.Role{ARN: "arn:aws:iam::111122223333:role/operator", Session: "me", ExternalID: "acme"}
	made, err := sts.Accounts{a.Cloud}.Assume(sts.UserCredentials(a.Cloud), role)
	assert.NilError(t, err)
	session, err := sts.SessionOf(a.Cloud, made.SessionToken)
	assert.NilError(t, err)
	assert.Equal(t, session.Role, "operator")
	_, err = sts.Accounts{a.Cloud}.Assume(made, role)
	assert.Check(t, is.ErrorContains(err, "assumed-role/operator/me is not authorized to perform: sts:AssumeRole"))
	made.SecretAccessKey = "guessed"
	_, err = sts.Accounts{a.Cloud}.Assume(made, role)
	assert.Check(t, is.ErrorContains(err, "InvalidClientTokenId"))
}

// TestRoleThroughAnotherAccount: between accounts, the trust policy of a role has to let the
// caller in, and the caller's own policies have to let it go. So it is for the roles of
// pipelines, and no role of the first account is another's.
func TestRoleThroughAnotherAccount(t *testing.T) {
	a := newAccount(t)
	other, err := Open(t.TempDir(), standin.Options{Clusters: standintest.NewClusters(t), Account: "444455556666", Caller: homeUser})
	assert.NilError(t, err)
	t.Cleanup(other.Close)
	trusts := func(principal string) string {
		return policyOf(`{"Effect":"Allow","Principal":{"AWS":"` + principal + `"},"Action":"sts:AssumeRole"}`)
	}
	const there = "arn:aws:iam::444455556666:role/prod-preview"
	_, err = other.Client("eu-central-1").Create(t.Context(), iam.RoleType, map[string]any{
		"name": "prod-preview", "assumeRolePolicy": trusts("arn:aws:iam::111122223333:role/preview"),
	})
	assert.NilError(t, err)
	accounts := sts.Accounts{a.Cloud, other}
	session := func(name string) sigv4.Credentials {
		a.Make(iam.RoleType, name, props{"name": name, "assumeRolePolicy": trusts(homeUser)})
		made, err := accounts.Assume(sts.UserCredentials(a.Cloud), sts.Role{ARN: "arn:aws:iam::111122223333:role/" + name, Session: "job"})
		assert.NilError(t, err)
		return made
	}
	preview, apply := session("preview"), session("apply")
	_, err = accounts.Assume(preview, sts.Role{ARN: there, Session: "job"})
	assert.Check(t, is.ErrorContains(err, "AccessDenied: User: arn:aws:sts::111122223333:assumed-role/preview/job is not authorized to perform: sts:AssumeRole on resource: "+there))

	for _, name := range []string{"preview", "apply"} {
		a.Make(iam.RolePolicyType, name, props{"role": name, "name": "accounts", "policy": policyOf(`{"Effect":"Allow","Action":"sts:AssumeRole","Resource":"` + there + `"}`)})
	}
	made, err := accounts.Assume(preview, sts.Role{ARN: there, Session: "job"})
	assert.NilError(t, err)
	of, err := sts.SessionOf(other, made.SessionToken)
	assert.NilError(t, err)
	assert.Equal(t, of.Role, "prod-preview")
	_, err = accounts.Assume(apply, sts.Role{ARN: there, Session: "job"})
	assert.Check(t, is.ErrorContains(err, "assumed-role/apply/job is not authorized"), "it is not the role that is trusted")
}

// TestAccountThatRequiresABoundary: no role is made or gets rights without it, and none
// loses it.
func TestAccountThatRequiresABoundary(t *testing.T) {
	const boundary = "arn:aws:iam::aws:policy/PowerUserAccess"
	const denied = " with an explicit deny in a service control policy"
	a := newAccount(t)
	early := a.Make(iam.RoleType, "early", props{"name": "early", "assumeRolePolicy": nodeTrust})
	a.Cloud.RoleBoundary = boundary

	_, err := a.Try(iam.RoleType, "bare", props{"name": "bare", "path": "/tombolo/", "assumeRolePolicy": nodeTrust})
	assert.Check(t, is.ErrorContains(err, "operation error IAM: CreateRole, https response error StatusCode: 403"))
	assert.Check(t, is.ErrorContains(err, "AccessDenied: User: arn:aws:iam::111122223333:user/tombolo is not authorized to perform: iam:CreateRole on resource: arn:aws:iam::111122223333:role/tombolo/bare"+denied))
	_, err = a.Try(iam.RoleType, "other", props{"name": "other", "assumeRolePolicy": nodeTrust, "permissionsBoundary": "arn:aws:iam::aws:policy/ReadOnlyAccess"})
	assert.Check(t, is.ErrorContains(err, "iam:CreateRole on resource: arn:aws:iam::111122223333:role/other"+denied))

	role := a.Make(iam.RoleType, "bound", props{"name": "bound", "assumeRolePolicy": nodeTrust, "permissionsBoundary": boundary})
	a.Make(iam.AttachmentType, "bound", props{"role": role.ID, "policyArn": boundary})
	a.Make(iam.RolePolicyType, "bound", props{"role": role.ID, "policy": readBuckets})
	assert.Check(t, is.ErrorContains(a.Update(role, props{"permissionsBoundary": ""}), "DeleteRolePermissionsBoundary on resource: arn:aws:iam::111122223333:role/bound"+denied))
	assert.Check(t, is.ErrorContains(a.Update(role, props{"permissionsBoundary": "arn:aws:iam::aws:policy/ReadOnlyAccess"}), "iam:PutRolePermissionsBoundary on resource"))

	_, err = a.Try(iam.AttachmentType, "early", props{"role": early.ID, "policyArn": boundary})
	assert.Check(t, is.ErrorContains(err, "iam:AttachRolePolicy on resource: arn:aws:iam::111122223333:role/early"+denied))
	_, err = a.Try(iam.RolePolicyType, "early", props{"role": early.ID, "policy": readBuckets})
	assert.Check(t, is.ErrorContains(err, "iam:PutRolePolicy on resource: arn:aws:iam::111122223333:role/early"+denied))
	assert.NilError(t, a.Update(early, props{"permissionsBoundary": boundary}))
	a.Make(iam.AttachmentType, "early", props{"role": early.ID, "policyArn": boundary})
}

// TestBoundaryThatIsNotThere: IAM wants the policy of a boundary to exist.
func TestBoundaryThatIsNotThere(t *testing.T) {
	a := newAccount(t)
	_, err := a.Try(iam.RoleType, "r", props{"name": "r", "assumeRolePolicy": nodeTrust, "permissionsBoundary": "arn:aws:iam::111122223333:policy/none"})
	assert.Check(t, is.ErrorContains(err, "NoSuchEntity: Scope ARN: arn:aws:iam::111122223333:policy/none does not exist or is not attachable."))
	policy := a.Make(iam.PolicyType, "some", props{"name": "some", "policy": readBuckets})
	a.Make(iam.RoleType, "r", props{"name": "r", "assumeRolePolicy": nodeTrust, "permissionsBoundary": policy.Out.Str("arn")})
}
