package iam

import (
	"fmt"

	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

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
