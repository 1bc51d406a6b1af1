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
	early := a.make(iam.RoleType, "early", props{"name": "early", "assumeRolePolicy": nodeTrust})
	a.cloud.RoleBoundary = boundary

	_, err := a.try(iam.RoleType, "bare", props{"name": "bare", "path": "/tombolo/", "assumeRolePolicy": nodeTrust})
	assert.Check(t, is.ErrorContains(err, "operation error IAM: CreateRole, https response error StatusCode: 403"))
	assert.Check(t, is.ErrorContains(err, "AccessDenied: User: arn:aws:iam::111122223333:user/tombolo is not authorized to perform: iam:CreateRole on resource: arn:aws:iam::111122223333:role/tombolo/bare"+denied))
	_, err = a.try(iam.RoleType, "other", props{"name": "other", "assumeRolePolicy": nodeTrust, "permissionsBoundary": "arn:aws:iam::aws:policy/ReadOnlyAccess"})
	assert.Check(t, is.ErrorContains(err, "iam:CreateRole on resource: arn:aws:iam::111122223333:role/other"+denied))

	role := a.make(iam.RoleType, "bound", props{"name": "bound", "assumeRolePolicy": nodeTrust, "permissionsBoundary": boundary})
	a.make(iam.AttachmentType, "bound", props{"role": role.id, "policyArn": boundary})
	a.make(iam.RolePolicyType, "bound", props{"role": role.id, "policy": readBuckets})
	assert.Check(t, is.ErrorContains(a.update(role, props{"permissionsBoundary": ""}), "DeleteRolePermissionsBoundary on resource: arn:aws:iam::111122223333:role/bound"+denied))
	assert.Check(t, is.ErrorContains(a.update(role, props{"permissionsBoundary": "arn:aws:iam::aws:policy/ReadOnlyAccess"}), "iam:PutRolePermissionsBoundary on resource"))

	_, err = a.try(iam.AttachmentType, "early", props{"role": early.id, "policyArn": boundary})
	assert.Check(t, is.ErrorContains(err, "iam:AttachRolePolicy on resource: arn:aws:iam::111122223333:role/early"+denied))
	_, err = a.try(iam.RolePolicyType, "early", props{"role": early.id, "policy": readBuckets})
	assert.Check(t, is.ErrorContains(err, "iam:PutRolePolicy on resource: arn:aws:iam::111122223333:role/early"+denied))
	assert.NilError(t, a.update(early, props{"permissionsBoundary": boundary}))
	a.make(iam.AttachmentType, "early", props{"role": early.id, "policyArn": boundary})
}

// TestBoundaryThatIsNotThere: IAM wants the policy of a boundary to exist.
func TestBoundaryThatIsNotThere(t *testing.T) {
	a := newAccount(t)
	_, err := a.try(iam.RoleType, "r", props{"name": "r", "assumeRolePolicy": nodeTrust, "permissionsBoundary": "arn:aws:iam::111122223333:policy/none"})
	assert.Check(t, is.ErrorContains(err, "NoSuchEntity: Scope ARN: arn:aws:iam::111122223333:policy/none does not exist or is not attachable."))
	policy := a.make(iam.PolicyType, "some", props{"name": "some", "policy": readBuckets})
	a.make(iam.RoleType, "r", props{"name": "r", "assumeRolePolicy": nodeTrust, "permissionsBoundary": policy.out.Str("arn")})
}
