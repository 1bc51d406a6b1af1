package azure

import (
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/authorization"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
	"tombolo/lab/standin/standintest"
)

// onlyReader is the example "Constrain roles and principal types" of
// https://learn.microsoft.com/en-us/azure/role-based-access-control/delegate-role-assignments-examples
// with another role and type.
const onlyReader = `(
 (
  !(ActionMatches{'Microsoft.Authorization/roleAssignments/write'})
 )
 OR
 (
  @Request[Microsoft.Authorization/roleAssignments:RoleDefinitionId] ForAnyOfAnyValues:GuidEquals {` + rbac.Reader + `, ` + rbac.NetworkContributor + `}
  AND
  @Request[Microsoft.Authorization/roleAssignments:PrincipalType] ForAnyOfAnyValues:StringEqualsIgnoreCase {'ServicePrincipal'}
 )
)
AND
(
 (
  !(ActionMatches{'Microsoft.Authorization/roleAssignments/delete'})
 )
 OR
 (
  @Resource[Microsoft.Authorization/roleAssignments:RoleDefinitionId] ForAnyOfAnyValues:GuidEquals {` + rbac.Reader + `}
 )
)`

// TestConditions: who may give roles under a condition gives and takes those of the condition.
func TestConditions(t *testing.T) {
	w := newIdentities(t)
	const job = "00000000-0000-4000-8000-0000000000c9"
	administrator := func(change props) props {
		return w.assignment(job, rbac.AccessAdministrator, w.group.ID, change)
	}
	const invalid = `Status=400 Code="BadRequest" Message="The given role assignment condition is invalid."`
	w.denied(rbac.AssignmentType, administrator(props{"condition": onlyReader, "conditionVersion": "1.0"}), invalid)
	w.denied(rbac.AssignmentType, administrator(props{"condition": onlyReader + ")", "conditionVersion": "2.0"}), invalid)
	w.Make(rbac.AssignmentType, "administrator", administrator(props{"condition": onlyReader, "conditionVersion": "2.0"}))
	shop := w.identity("shop").Out.Str("principalId")
	owned := w.Make(rbac.AssignmentType, "other", w.assignment(shop, rbac.ManagedIdentityOperator, w.group.ID, nil))
	w.Reopen(standin.Options{Caller: job})
	w.configure(nil)
	given := w.Make(rbac.AssignmentType, "reader", w.assignment(shop, rbac.Reader, w.group.ID, nil))
	joins := w.Make(rbac.AssignmentType, "joins", w.assignment(shop, rbac.NetworkContributor, w.group.ID, nil))
	const unfulfilled = `Status=403 Code="AuthorizationFailed" Message="The client '` + arm.ClientID + `' with object id '` + job + `' has an authorization with ABAC condition that is not fulfilled to perform action 'Microsoft.Authorization/roleAssignments/`
	w.denied(rbac.AssignmentType, w.assignment(job, rbac.Owner, w.group.ID, nil), unfulfilled+"write'")
	w.denied(rbac.AssignmentType, w.assignment(arm.AdminGroup, rbac.Reader, w.group.ID, props{"principalType": "Group"}), unfulfilled+"write'")
	standintest.Refuses(t, w.Delete(joins), unfulfilled+"delete'")
	standintest.Refuses(t, w.Delete(owned), unfulfilled+"delete'")
	assert.NilError(t, w.Delete(given))
	// Another role without a condition counts beside it.
	assert.NilError(t, authorization.Assign(w.Cloud, job, rbac.Owner, w.group.ID))
	w.Make(rbac.AssignmentType, "owner", w.assignment(shop, rbac.Owner, w.group.ID, nil))
}
