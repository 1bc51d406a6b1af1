package iam

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

// RoleOf is the role of an ARN, or nil.
func RoleOf(c *standin.Cloud, arn string) *standin.Record {
	if role := c.Find(RoleType, standin.Global, arn); role != nil && role.Outputs.Str("arn") == arn {
		return role
	}
	return nil
}

// orphanTrust puts the unique id of a role that goes into the trust policies that
// name it, as IAM does: a later role of the same name is another one, which they
// do not trust until they are written anew.
func orphanTrust(c *standin.Call) error {
	before, after := strconv.Quote(c.Record.Outputs.Str("arn")), strconv.Quote(c.Record.Outputs.Str("uniqueId"))
	for r := range c.Others() {
		document := r.Inputs.Str("assumeRolePolicy")
		if !strings.Contains(document, before) {
			continue
		}
		orphan := r.Clone()
		orphan.Inputs["assumeRolePolicy"] = strings.ReplaceAll(document, before, after)
		orphan.Outputs["assumeRolePolicy"] = orphan.Inputs["assumeRolePolicy"]
		if err := c.Cloud.Put(orphan); err != nil {
			return err
		}
	}
	return nil
}

// PoliciesOf are the documents of a role's own policies.
func PoliciesOf(c *standin.Cloud, role *standin.Record) []string {
	var out []string
	for _, inline := range role.Inputs.Objects("inlinePolicies") {
		out = append(out, inline.Str("policy"))
	}
	for r := range c.Each(RolePolicyType, standin.Global) {
		if c.Means(role, r.Inputs.Str("role")) {
			out = append(out, r.Inputs.Str("policy"))
		}
	}
	attached := role.Inputs.List("managedPolicyArns")
	for r := range c.Each(AttachmentType, standin.Global) {
		if c.Means(role, r.Inputs.Str("role")) {
			attached = append(attached, r.Inputs.Str("policyArn"))
		}
	}
	for _, arn := range attached {
		out = append(out, PolicyText(c, arn))
	}
	return out
}

// PolicyText is the document of a managed policy. Of AWS's own, only those of
// administrators are about STS.
func PolicyText(c *standin.Cloud, arn string) string {
	if r := c.Find(PolicyType, standin.Global, arn); r != nil {
		return r.Inputs.Str("policy")
	}
	if strings.HasSuffix(arn, ":aws:policy/AdministratorAccess") || strings.HasSuffix(arn, ":aws:policy/PowerUserAccess") {
		return `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:*","Resource":"*"}]}`
	}
	return ""
}

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

// OrganizationRole is the name of the role by which an organisation's management account
// administers an account that it has created. Source:
// https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_accounts_access-cross-account-role.html
const OrganizationRole = "OrganizationAccountAccessRole"

// OwnOrganizationRole makes that role where it is missing, for a management account. It counts
// as made by AWS: no stack owns it.
func OwnOrganizationRole(c *standin.Cloud, management string) error {
	if c.Get(RoleType, standin.Global, OrganizationRole) != nil {
		return nil
	}
	partition := account.Partition(c.Region)
	in := standin.Props{
		"name": OrganizationRole, "path": "/", "maxSessionDuration": 3600.0, "forceDetachPolicies": false,
		"assumeRolePolicy": fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:%s:iam::%s:root"},"Action":"sts:AssumeRole"}]}`,
			partition, management),
		"managedPolicyArns": []any{"arn:" + partition + ":iam::aws:policy/AdministratorAccess"},
	}
	out := in.Clone()
	out["arn"] = fmt.Sprintf("arn:%s:iam::%s:role/%s", partition, c.Account, OrganizationRole)
	out["id"], out["uniqueId"] = OrganizationRole, "AROAORGANIZATIONROLE1"
	out["createDate"] = c.Now().UTC().Format("2006-01-02T15:04:05Z")
	out["inlinePolicies"], out["tags"], out["tagsAll"] = []any{}, map[string]any{}, map[string]any{}
	return c.Put(&standin.Record{
		Type: RoleType, ID: OrganizationRole, Region: standin.Global, Created: c.Now(), Implied: true, Inputs: in, Outputs: out,
	})
}
