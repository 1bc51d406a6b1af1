package iam

import (
	"cmp"

	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

// checkBoundary refuses a boundary that is no policy, as IAM does, and what an
// organisation's policy denies to all roles without the account's own boundary. The
// condition key is iam:PermissionsBoundary, which CreateRole, PutRolePermissionsBoundary,
// DeleteRolePermissionsBoundary, PutRolePolicy and AttachRolePolicy have. Sources:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_boundaries.html,
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsidentityandaccessmanagementiam.html
func checkBoundary(c *standin.Call) error {
	boundary, wanted := c.In().Str("permissionsBoundary"), c.Cloud.RoleBoundary
	switch {
	case c.Old != nil && c.Old.Inputs.Str("permissionsBoundary") == boundary:
		return nil
	case wanted == "" || boundary == wanted:
	case c.Old == nil:
		return denied(c, "iam:CreateRole", roleARN(c), "")
	case boundary == "":
		return denied(c, "iam:DeleteRolePermissionsBoundary", roleARN(c), "DeleteRolePermissionsBoundary")
	default:
		return denied(c, "iam:PutRolePermissionsBoundary", roleARN(c), "PutRolePermissionsBoundary")
	}
	if boundary != "" && !policyExists(c, boundary) {
		return c.Refuse(standin.Refusal{Code: "NoSuchEntity", Status: 404, Message: "Scope ARN: %s does not exist or is not attachable."}, boundary)
	}
	return nil
}

// checkRoleBoundary denies rights to a role that lacks the account's boundary.
func checkRoleBoundary(c *standin.Call, action string) error {
	if c.Cloud.RoleBoundary == "" {
		return nil
	}
	role := c.Find(RoleType, c.In().Str("role"))
	if role == nil || role.Inputs.Str("permissionsBoundary") == c.Cloud.RoleBoundary {
		return nil // a role that is not there is refused as such
	}
	return denied(c, action, role.Outputs.Str("arn"), "")
}

// roleARN is that of the role which is made or changed.
func roleARN(c *standin.Call) string {
	path := c.In().Str("path")
	if path == "" {
		path = "/"
	}
	return account.ARN(c, "iam", "role"+path+c.In().Str("name"))
}

// denied is the answer to what a service control policy denies. Source:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html
func denied(c *standin.Call, action, resource, call string) error {
	return c.Refuse(standin.Refusal{
		Code: "AccessDenied", Status: 403, Call: call,
		Message: "User: %s is not authorized to perform: %s on resource: %s with an explicit deny in a service control policy",
	}, cmp.Or(c.Caller, account.CallerARN(c.Cloud, c.Region)), action, resource)
}
