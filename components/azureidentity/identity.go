// Package azureidentity makes user-assigned identities of Azure for who shows a token of another
// issuer: service accounts of Kubernetes, and jobs of pipelines.
package azureidentity

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	authorization "github.com/pulumi/pulumi-azure-native-sdk/authorization/v2/v20220401"
	managedidentity "github.com/pulumi/pulumi-azure-native-sdk/managedidentity/v2/v20230131"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/ready"
	"tombolo/internal/armid"
)

const identityType = "tombolo:azureidentity:Identity"

// audience of the tokens that Entra exchanges. Source:
// https://learn.microsoft.com/entra/workload-id/workload-identity-federation-create-trust-user-assigned-managed-identity
const audience = "api://AzureADTokenExchange"

// maxCredentials is how many federated credentials an identity has at most. Source:
// https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations
const maxCredentials = 20

// Credential is a federated credential of an identity: who has a token with the subject gets the
// identity.
type Credential struct {
	// Name of the credential in Azure, 3 to 120 characters.
	Name string
	// Subject of the token, in full: there are no wildcards.
	Subject string
}

// ServiceAccount is the credential of a service account of Kubernetes.
func ServiceAccount(namespace, name string) Credential {
	return Credential{armid.Credential(namespace, name), "system:serviceaccount:" + namespace + ":" + name}
}

// Grant is a role on a scope.
type Grant struct {
	// Role is the UUID of a role that Azure has built in, or the id of a role definition.
	Role string
	// Scope is the id of a resource, a resource group or a subscription.
	Scope string
	// ScopeReady is Scope once it is there; nil for one that is not made by the program.
	ScopeReady pulumi.StringInput
	// Condition under which the role counts, such as GivingOnly; "" for none.
	Condition string
}

// IdentityArgs are the arguments of an Identity.
type IdentityArgs struct {
	// Name of the identity in Azure, 3 to 128 characters.
	Name string
	// Subscription and Location of the identity.
	Subscription, Location string
	// GroupName is the name of the resource group, and ResourceGroup the same once it is
	// there.
	GroupName     string
	ResourceGroup pulumi.StringInput
	// Issuer of the tokens, with https://.
	Issuer pulumi.StringInput
	// Credentials of those that get the identity, and no others.
	Credentials []Credential
	// Grants of roles; none for an identity without rights.
	Grants []Grant
	Tags   map[string]string
}

// Identity is a user-assigned identity.
type Identity struct {
	pulumi.ResourceState

	// ID in Azure's Resource Manager, known in every preview.
	ID string
	// ClientID by which the identity is asked for. It resolves when credentials
	// and roles are there, so that a user of it does not start without its rights.
	ClientID pulumi.StringOutput
	// PrincipalID is the object of Entra that the identity is.
	PrincipalID pulumi.StringOutput
}

// NewIdentity makes an identity with its federated credentials and roles.
func NewIdentity(ctx *pulumi.Context, name string, args *IdentityArgs, opts ...pulumi.ResourceOption) (*Identity, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("identity %s: %w", name, err)
	}
	c := &Identity{ID: armid.Resource(args.Subscription, args.GroupName, armid.Identities, args.Name)}
	if err := ctx.RegisterComponentResourceV2(identityType, name, pulumi.Map{"name": pulumi.String(args.Name)}, c, opts...); err != nil {
		return nil, fmt.Errorf("register identity %s: %w", name, err)
	}
	parent := pulumi.Parent(c)
	identity, err := managedidentity.NewUserAssignedIdentity(ctx, name+"-identity", &managedidentity.UserAssignedIdentityArgs{
		ResourceName: pulumi.String(args.Name), ResourceGroupName: args.ResourceGroup,
		Location: pulumi.String(args.Location), Tags: pulumi.ToStringMap(args.Tags),
	}, parent)
	if err != nil {
		return nil, fmt.Errorf("identity %s: %w", name, err)
	}
	made, err := args.makeCredentials(ctx, name, identity, parent)
	if err != nil {
		return nil, fmt.Errorf("identity %s: %w", name, err)
	}
	for _, g := range args.Grants {
		role := RoleDefinitionID(g.Scope, g.Role)
		assigned, err := NewAssignment(ctx, name+"-role-"+AssignmentName(g.Scope, c.ID, role)[:8], &AssignmentArgs{
			Scope: g.Scope, ScopeReady: g.ScopeReady, RoleDefinitionID: role, Condition: g.Condition, IdentityID: c.ID, PrincipalID: identity.PrincipalId,
		}, parent)
		if err != nil {
			return nil, fmt.Errorf("identity %s: %w", name, err)
		}
		made = append(made, assigned)
	}
	c.ClientID, c.PrincipalID = ready.After(identity.ClientId, made...), identity.PrincipalId
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"resourceId": pulumi.String(c.ID), "clientId": c.ClientID})
}

func (a *IdentityArgs) validate() error {
	var problems []error
	if a.Name == "" || a.Subscription == "" || a.Location == "" || a.GroupName == "" || a.ResourceGroup == nil || a.Issuer == nil {
		problems = append(problems, errors.New("name, subscription, location, resource group and issuer are required"))
	}
	if len(a.Credentials) == 0 || len(a.Credentials) > maxCredentials {
		problems = append(problems, fmt.Errorf("%d credentials are given; an identity takes 1 to %d", len(a.Credentials), maxCredentials))
	}
	names, subjects := map[string]bool{}, map[string]bool{}
	for _, c := range a.Credentials {
		if c.Name == "" || c.Subject == "" || strings.Contains(c.Subject, "*") {
			problems = append(problems, fmt.Errorf("credential %q of subject %q: a credential needs a name, and a subject in full", c.Name, c.Subject))
		}
		if names[c.Name] || subjects[c.Subject] {
			problems = append(problems, fmt.Errorf("credential %q of subject %q is given twice", c.Name, c.Subject))
		}
		names[c.Name], subjects[c.Subject] = true, true
	}
	granted := map[[2]string]bool{}
	for _, g := range a.Grants {
		if g.Role == "" || armid.SubscriptionOf(g.Scope) == "" {
			problems = append(problems, fmt.Errorf("role %q on scope %q: a role, and the id of a resource, a resource group or a subscription are required", g.Role, g.Scope))
		}
		if granted[[2]string{g.Role, g.Scope}] {
			problems = append(problems, fmt.Errorf("role %s on %s is given twice", g.Role, g.Scope))
		}
		granted[[2]string{g.Role, g.Scope}] = true
	}
	return errors.Join(problems...)
}

// makeCredentials makes one after another: Azure answers concurrent writes to those of an
// identity with 409. Source:
// https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations
func (a *IdentityArgs) makeCredentials(ctx *pulumi.Context, name string, identity *managedidentity.UserAssignedIdentity, parent pulumi.ResourceOption) ([]pulumi.Resource, error) {
	var made []pulumi.Resource
	for _, c := range a.Credentials {
		federated, err := managedidentity.NewFederatedIdentityCredential(ctx, name+"-credential-"+c.Name, &managedidentity.FederatedIdentityCredentialArgs{
			FederatedIdentityCredentialResourceName: pulumi.String(c.Name),
			ResourceName:                            ready.After(pulumi.String(a.Name).ToStringOutput(), identity),
			ResourceGroupName:                       a.ResourceGroup,
			Issuer:                                  a.Issuer,
			Subject:                                 pulumi.String(c.Subject),
			Audiences:                               pulumi.ToStringArray([]string{audience}),
		}, parent, pulumi.DependsOn(made))
		if err != nil {
			return nil, err
		}
		made = append(made, federated)
	}
	return made, nil
}

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
	// Condition under which the role counts; "" for none.
	Condition string
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
	inputs := &authorization.RoleAssignmentArgs{
		RoleAssignmentName: pulumi.String(AssignmentName(args.Scope, args.IdentityID, args.RoleDefinitionID)),
		Scope:              scope.ToStringOutput(),
		RoleDefinitionId:   pulumi.String(args.RoleDefinitionID),
		PrincipalId:        args.PrincipalID.ToStringOutput(),
		PrincipalType:      pulumi.String("ServicePrincipal"),
	}
	if args.Condition != "" {
		inputs.Condition, inputs.ConditionVersion = pulumi.StringPtr(args.Condition), pulumi.StringPtr(conditionVersion)
	}
	return authorization.NewRoleAssignment(ctx, name, inputs, opts...)
}

// conditionVersion is the only one that Azure takes:
// https://learn.microsoft.com/rest/api/authorization/role-assignments/create
const conditionVersion = "2.0"

// GivingOnly is the condition of a role that gives roles, by which it gives and takes those of the
// list alone, by the UUIDs of their definitions, and to identities and applications alone. The
// form is that of the example "Constrain roles and principal types" in
// https://learn.microsoft.com/azure/role-based-access-control/delegate-role-assignments-examples
func GivingOnly(roles []string) string {
	only := func(action, source string) string {
		attribute := func(name string) string {
			return "@" + source + "[Microsoft.Authorization/roleAssignments:" + name + "]"
		}
		return "((!(ActionMatches{'Microsoft.Authorization/roleAssignments/" + action + "'})) OR (" +
			attribute("RoleDefinitionId") + " ForAnyOfAnyValues:GuidEquals {" + strings.Join(roles, ", ") + "} AND " +
			attribute("PrincipalType") + " ForAnyOfAnyValues:StringEqualsIgnoreCase {'ServicePrincipal'}))"
	}
	return only("write", "Request") + " AND " + only("delete", "Resource")
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
	KeyVaultCryptoUser        = "12338af0-0e69-4776-bea7-57ae8d297424"
)
