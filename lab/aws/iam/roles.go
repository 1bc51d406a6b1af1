package iam

import (
	"strconv"
	"strings"

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
