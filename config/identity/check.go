package identity

import (
	"fmt"
	"strings"

	"tombolo/config/azurefacts"
	"tombolo/config/check"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// maxPolicies is IAM's default quota of managed policies attached to a role.
const maxPolicies = 10

// GivenRole checks an identity whose role exists, and refuses the keys beside it that say what
// a role of core's may do. It says whether the file names such a role.
func GivenRole(v *check.File, at strict.Path, arn string, others ...string) bool {
	role := at.Field("roleArn")
	if !v.Doc.Has(role) {
		return false
	}
	v.InAccount(role, form.RoleARN, arn)
	for _, key := range others {
		if v.Doc.Has(at.Field(key)) {
			v.KeyProblem(at.Field(key), "remove it, or remove roleArn and have core make the role",
				"does not go with roleArn, at %s: a role that exists is its owner's", v.Line(role))
		}
	}
	return true
}

// CheckPolicies checks the managed policies of a role.
func CheckPolicies(v *check.File, list strict.Path, arns []string) {
	check.Unique(v, list, "", arns, check.Itself, "give each policy once")
	if len(arns) > maxPolicies {
		v.Problem(list, "join them in statements", "has %d policies; IAM allows %d on a role", len(arns), maxPolicies)
	}
	for i, arn := range arns {
		at := list.Index(i)
		if v.InAccount(at, form.PolicyARN, arn) && strings.HasSuffix(arn, ":policy/AdministratorAccess") {
			v.Problem(at, "attach only the policies that the service needs, or write statements", "AdministratorAccess lets a pod do everything")
		}
	}
}

// CheckStatement refuses actions and resources that allow too much.
func CheckStatement(v *check.File, at strict.Path, s Statement) {
	for i, action := range s.Actions {
		service, name, _ := strings.Cut(action, ":")
		switch {
		case action == "*" || service == "*":
			v.Problem(at.Field("actions").Index(i), "name the actions, such as s3:GetObject", "%s allows every action of every service", wording.Quote(action))
		case strings.Trim(name, "*") == "" && name != "":
			v.Problem(at.Field("actions").Index(i), fmt.Sprintf("name the actions, such as %s:Get*", service),
				"%s allows every action of %s", wording.Quote(action), service)
		}
	}
	if strings.TrimSpace(s.Reason) != "" {
		return
	}
	for i, r := range s.Resources {
		if r == "*" || strings.Trim(r, "*:") == "arn" {
			v.Problem(at.Field("resources").Index(i), "name the ARNs, or say in reason why all are needed",
				"%s means every resource of the account", wording.Quote(r))
		}
	}
}

// CheckGrant refuses roles that are not known, that give roles, and whole subscriptions.
func CheckGrant(v *check.File, at strict.Path, g RoleGrant) {
	role := at.Field("role")
	id := form.RoleID.FindStringSubmatch(g.Role)
	definition := g.Role
	if id != nil {
		definition = id[2]
	}
	_, known := azurefacts.RoleID(g.Role)
	switch name := azurefacts.GivesRoles(definition); {
	case !v.Doc.Sound(role):
	case name != "":
		v.Problem(role, "give the roles that the service needs, such as "+azurefacts.KeyVaultSecretsUser,
			"%s lets a pod give itself every other role", name)
	case id == nil && !known:
		v.Problem(role, NearestRole(g.Role), "%s is not a role that Tombolo knows", wording.Quote(g.Role))
	}
	scope := at.Field("scope")
	m := form.RoleScope.FindStringSubmatch(g.Scope)
	if m != nil && m[2] == "" && strings.TrimSpace(g.Reason) == "" {
		v.Problem(scope, "name a resource or a resource group, or say in reason why the whole subscription is needed",
			"%s is a whole subscription", wording.Quote(g.Scope))
	}
}

// NearestRole is what to write in place of a name that is of no role that Tombolo knows.
func NearestRole(name string) string {
	if near := wording.Nearest(name, azurefacts.Roles()); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "use the id of its definition, which `az role definition list --name` prints, or one of " + strings.Join(azurefacts.Roles(), ", ")
}
