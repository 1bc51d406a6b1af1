package rbac

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestParseCondition(t *testing.T) {
	const (
		write  = "!(ActionMatches{'Microsoft.Authorization/roleAssignments/write'})"
		reader = "@Request[" + RoleDefinitionID + "] ForAnyOfAnyValues:GuidEquals {" + Reader + "}"
	)
	asked := Asked{Action: "Microsoft.Authorization/roleAssignments/write", Request: map[string]string{RoleDefinitionID: Reader}}
	for text, want := range map[string]bool{
		write: false, reader: true, write + " OR " + reader: true, write + " AND " + reader: false, "((" + write + ") OR (" + reader + "))": true,
		"!(ActionMatches{'Microsoft.Authorization/roleAssignments/*'})": false, "!(ActionMatches{'Microsoft.Authorization/roleAssignments/delete'})": true,
		"@Resource[" + RoleDefinitionID + "] ForAnyOfAnyValues:GuidEquals {" + Reader + "}": false,
		"@Request[" + RoleDefinitionID + "] ForAnyOfAnyValues:GuidEquals {" + Owner + "}":   false,
	} {
		holds, err := ParseCondition(text)
		assert.NilError(t, err, text)
		assert.Check(t, is.Equal(holds(asked), want), text)
	}
	for text, want := range map[string]string{
		"": `unexpected ""`, "(" + reader: "a parenthesis is not closed", reader + ")": `unexpected ")"`, reader + " " + reader: "unexpected",
		"@Request[Microsoft.Storage/x] ForAnyOfAnyValues:GuidEquals {a}":      "is no comparison of a role assignment",
		"@Request[" + RoleDefinitionID + "] ForAnyOfAnyValues:StringLike {a}": "is no comparison of a role assignment",
		"anything": `unexpected "anything"`,
	} {
		_, err := ParseCondition(text)
		assert.Check(t, is.ErrorContains(err, want), text)
	}
}
