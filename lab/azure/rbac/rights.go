package rbac

import (
	"slices"
	"strings"
	"time"

	"tombolo/lab/standin"
)

// AssignmentType is the type of role assignments.
const AssignmentType = "azure-native:authorization/v20220401:RoleAssignment"

// Lag is how long an assignment may take until it counts. Azure's own bound is ten minutes;
// most count within seconds. Source:
// https://learn.microsoft.com/en-us/azure/role-based-access-control/troubleshooting
const Lag = 5 * time.Second

// Counts says that what was made at a time is known everywhere, lag being how long that
// takes at Azure's pace.
func Counts(c *standin.Cloud, made time.Time, lag time.Duration) bool {
	return !c.Now().Before(made.Add(time.Duration(float64(lag) * c.LatencyScale)))
}

// May says that a principal is allowed an action on what an id names, by an assignment on
// it or on a scope around it that counts by now. The account is locked.
func May(c *standin.Cloud, principal, action, id string) bool {
	return slices.ContainsFunc(Of(c, principal, id), func(role Role) bool { return role.Allows(action) })
}

// Of are the roles that a principal has on what an id names. The account is locked.
func Of(c *standin.Cloud, principal, id string) []Role {
	var roles []Role
	for r := range c.Each(AssignmentType, standin.Global) {
		if !strings.EqualFold(r.Outputs.Str("principalId"), principal) || !Covers(r.Outputs.Str("scope"), id) {
			continue
		}
		if role, known := ByID(r.Outputs.Str("roleDefinitionId")); known && Counts(c, r.Created, Lag) {
			roles = append(roles, role)
		}
	}
	return roles
}

// Covers says that a scope is an id, or has it within.
func Covers(scope, id string) bool {
	scope, id = strings.ToLower(strings.TrimSuffix(scope, "/")), strings.ToLower(id)
	return id == scope || strings.HasPrefix(id, scope+"/")
}
