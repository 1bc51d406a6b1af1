package aws

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/iam"
)

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
