package azureidentity

import (
	"strings"

	"github.com/google/uuid"
	authorization "github.com/pulumi/pulumi-azure-native-sdk/authorization/v2/v20220401"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/internal/armid"
)

// assignments is the namespace of the names of role assignments, by RFC 9562.
var assignments = uuid.MustParse("6f1d5d3e-4b0c-5f0e-9a63-0a4c1d0f7b52")

// AssignmentName is the name of the role assignment of an identity's role on a scope: a UUID
// of version 5, so that it is known before the identity is made, and is found again. Azure
// tells no capitals from small letters in ids.
func AssignmentName(scope, identityID, roleDefinitionID string) string {
	return uuid.NewSHA1(assignments, []byte(strings.ToLower(strings.Join([]string{scope, identityID, roleDefinitionID}, "|")))).String()
}

// AssignmentArgs are the arguments of NewAssignment.
type AssignmentArgs struct {
	// Scope of the role: the id of a resource, a resource group or a subscription.
	Scope string
	// ScopeReady is Scope once it is there; nil for one that is not made by the program.
	ScopeReady pulumi.StringInput
	// RoleDefinitionID of the role, as RoleDefinitionID writes it.
	RoleDefinitionID string
	// IdentityID is the id of the identity that gets the role, and PrincipalID the object
	// of Entra that it is.
	IdentityID  string
	PrincipalID pulumi.StringInput
}

// NewAssignment gives a role to an identity. It is a part of the component that opts give as
// parent, not a component itself.
//
// Entra does not know a new identity everywhere at once; with the type of the principal,
// Azure does not ask for it:
// https://learn.microsoft.com/azure/role-based-access-control/troubleshooting#symptom---assigning-a-role-to-a-new-principal-sometimes-fails
func NewAssignment(ctx *pulumi.Context, name string, args *AssignmentArgs, opts ...pulumi.ResourceOption) (*authorization.RoleAssignment, error) {
	scope := args.ScopeReady
	if scope == nil {
		scope = pulumi.String(args.Scope)
	}
	return authorization.NewRoleAssignment(ctx, name, &authorization.RoleAssignmentArgs{
		RoleAssignmentName: pulumi.String(AssignmentName(args.Scope, args.IdentityID, args.RoleDefinitionID)),
		Scope:              scope.ToStringOutput(),
		RoleDefinitionId:   pulumi.String(args.RoleDefinitionID),
		PrincipalId:        args.PrincipalID.ToStringOutput(),
		PrincipalType:      pulumi.String("ServicePrincipal"),
	}, opts...)
}

// RoleDefinitionID is the id of a role in the subscription of a scope. role is the UUID of a
// role that Azure has built in, or an id already.
func RoleDefinitionID(scope, role string) string {
	if strings.Contains(role, "/") {
		return role
	}
	return armid.Subscription(armid.SubscriptionOf(scope)) + "/providers/Microsoft.Authorization/roleDefinitions/" + role
}

// The roles that Azure has built in and a cluster's own identities get. Source:
// https://learn.microsoft.com/azure/role-based-access-control/built-in-roles
const (
	NetworkContributor        = "4d97b98b-1d4f-4787-a291-c67834d212e7"
	PrivateDNSZoneContributor = "b12aa53e-6015-4669-85d0-8515ebb3ae7f"
	ManagedIdentityOperator   = "f1a07417-d97a-45cb-824c-7a7467783830"
)
