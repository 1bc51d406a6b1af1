// Package rbac is Azure's role-based access control in the stand-in: what built-in roles
// allow, and who has which of them where.
package rbac

import (
	"slices"
	"strings"
	"time"

	"tombolo/lab/standin"
)

// Role is a role: a built-in one, or one of the tenant's own.
type Role struct {
	// ID is its GUID, which is the same in every tenant.
	ID, Name string
	// actions are allowed, not denied; both can have a *.
	actions, not []string
	// data are the actions that are about data, such as secrets.
	data []string
	// condition of the assignment by which somebody has it.
	condition string
}

// The roles that the stand-in itself asks for.
const (
	Owner                   = "8e3af657-a8ff-443c-a75c-2fe8c4bcb635"
	Contributor             = "b24988ac-6180-42a0-ab88-20f7382dd24c"
	Reader                  = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
	NetworkContributor      = "4d97b98b-1d4f-4787-a291-c67834d212e7"
	ManagedIdentityOperator = "f1a07417-d97a-45cb-824c-7a7467783830"
	AccessAdministrator     = "f58310d9-a9f6-439a-9e8d-f62e7b41a168"
	SecretsUser             = "4633458b-17de-408a-b874-0445c86b69e6"
	SecretsOfficer          = "b86a8fe4-44ce-4948-aee5-eccb2c155cd7"
	CryptoUser              = "12338af0-0e69-4776-bea7-57ae8d297424"
	// SubnetJoiner is a role of the lab's tenant own: it may use a subnet, and change nothing.
	SubnetJoiner = "00000000-0000-4000-8000-0000000000e1"
	// ServiceRole is another, as companies have them for their services.
	ServiceRole = "00000000-0000-4000-8000-0000000000f1"
)

// Roles are those that the stand-in knows; of those that are about data, some have
// none of their actions. Source:
// https://learn.microsoft.com/en-us/azure/role-based-access-control/built-in-roles
var Roles = []Role{
	{ID: Owner, Name: "Owner", actions: []string{"*"}},
	{ID: Contributor, Name: "Contributor", actions: []string{"*"}, not: []string{"Microsoft.Authorization/*/write", "Microsoft.Authorization/*/delete"}},
	{ID: Reader, Name: "Reader", actions: []string{"*/read"}},
	{ID: SubnetJoiner, Name: "Subnet joiner", actions: []string{"Microsoft.Network/virtualNetworks/subnets/read", "Microsoft.Network/virtualNetworks/subnets/join/action"}},
	{ID: ServiceRole, Name: "Service"},
	{ID: "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9", Name: "User Access Administrator", actions: []string{"*/read", "Microsoft.Authorization/*"}},
	{ID: AccessAdministrator, Name: "Role Based Access Control Administrator", actions: []string{
		"Microsoft.Authorization/roleAssignments/write", "Microsoft.Authorization/roleAssignments/delete", "*/read",
	}},
	{ID: NetworkContributor, Name: "Network Contributor", actions: []string{"Microsoft.Network/*", "Microsoft.Authorization/*/read"}},
	{ID: ManagedIdentityOperator, Name: "Managed Identity Operator", actions: []string{
		"Microsoft.ManagedIdentity/userAssignedIdentities/read", "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action",
	}},
	{ID: "e40ec5ca-96e0-45a2-b4ff-59039f2c2b59", Name: "Managed Identity Contributor", actions: []string{
		"Microsoft.ManagedIdentity/userAssignedIdentities/read", "Microsoft.ManagedIdentity/userAssignedIdentities/write", "Microsoft.ManagedIdentity/userAssignedIdentities/delete",
	}},
	{ID: "b12aa53e-6015-4669-85d0-8515ebb3ae7f", Name: "Private DNS Zone Contributor", actions: []string{"Microsoft.Network/privateDnsZones/*"}},
	{ID: "befefa01-2a29-4197-83a8-272ff33ce314", Name: "DNS Zone Contributor", actions: []string{"Microsoft.Network/dnsZones/*"}},
	{ID: "9980e02c-c2be-4d73-94e8-173b1dc7cf3c", Name: "Virtual Machine Contributor", actions: []string{"Microsoft.Compute/virtualMachines/*", "Microsoft.Compute/virtualMachineScaleSets/*"}},
	{ID: "ed7f3fbd-7b88-4dd4-9017-9adb7ce333f8", Name: "Azure Kubernetes Service Contributor Role", actions: []string{"Microsoft.ContainerService/managedClusters/read", "Microsoft.ContainerService/managedClusters/write"}},
	{ID: "4abbcc35-e782-43d8-92c5-2d3f1bd2253f", Name: "Azure Kubernetes Service Cluster User Role", actions: []string{"Microsoft.ContainerService/managedClusters/listClusterUserCredential/action", "Microsoft.ContainerService/managedClusters/read"}},
	{ID: "0ab0b1a8-8aac-4efd-b8c2-3ee1fb270be8", Name: "Azure Kubernetes Service Cluster Admin Role", actions: []string{"Microsoft.ContainerService/managedClusters/listClusterAdminCredential/action", "Microsoft.ContainerService/managedClusters/read"}},
	{ID: "b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b", Name: "Azure Kubernetes Service RBAC Cluster Admin"},
	{ID: "7f951dda-4ed3-4680-a7ca-43fe172d538d", Name: "AcrPull", actions: []string{"Microsoft.ContainerRegistry/registries/pull/read"}},
	{ID: "3913510d-42f4-4e42-8a64-420c390055eb", Name: "Monitoring Metrics Publisher"},
	{ID: "43d0d8ad-25c7-4714-9337-8ba259a9fe05", Name: "Monitoring Reader", actions: []string{"*/read"}},
	{ID: "00482a5a-887f-4fb3-b363-3b7fe8e74483", Name: "Key Vault Administrator", data: []string{"Microsoft.KeyVault/vaults/*"}},
	{ID: SecretsUser, Name: "Key Vault Secrets User", data: []string{"Microsoft.KeyVault/vaults/secrets/getSecret/action", "Microsoft.KeyVault/vaults/secrets/readMetadata/action"}},
	{ID: SecretsOfficer, Name: "Key Vault Secrets Officer", data: []string{"Microsoft.KeyVault/vaults/secrets/*"}},
	{ID: "21090545-7ca7-4776-b22c-e363652d74d2", Name: "Key Vault Reader", data: []string{"Microsoft.KeyVault/vaults/*/read", "Microsoft.KeyVault/vaults/secrets/readMetadata/action"}},
	{ID: CryptoUser, Name: "Key Vault Crypto User", data: []string{
		"Microsoft.KeyVault/vaults/keys/read", "Microsoft.KeyVault/vaults/keys/update/action", "Microsoft.KeyVault/vaults/keys/backup/action",
		"Microsoft.KeyVault/vaults/keys/encrypt/action", "Microsoft.KeyVault/vaults/keys/decrypt/action", "Microsoft.KeyVault/vaults/keys/wrap/action",
		"Microsoft.KeyVault/vaults/keys/unwrap/action", "Microsoft.KeyVault/vaults/keys/sign/action", "Microsoft.KeyVault/vaults/keys/verify/action",
	}},
	{ID: "ba92f5b4-2d11-453d-a403-e96b0029c9fe", Name: "Storage Blob Data Contributor"},
	{ID: "b7e6dc6d-f1e8-4753-8033-0f276bb0955b", Name: "Storage Blob Data Owner"},
	{ID: "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1", Name: "Storage Blob Data Reader"},
	{ID: "12338af0-0e69-4776-bea7-57ae8d297424", Name: "Key Vault Crypto User"},
}

// ByID is the role that a role definition's id names, in any scope.
func ByID(definition string) (Role, bool) {
	guid := definition[strings.LastIndexByte(definition, '/')+1:]
	for _, role := range Roles {
		if strings.EqualFold(role.ID, guid) {
			return role, true
		}
	}
	return Role{}, false
}

// Definition is the id of a role's definition in a subscription.
func Definition(subscription, role string) string {
	return "/subscriptions/" + subscription + "/providers/Microsoft.Authorization/roleDefinitions/" + role
}

// Actions that a role allows, and of those the ones that it leaves out; both can have a *.
func (r Role) Actions() (actions, not []string) { return r.actions, r.not }

// Allows says that a role allows an action.
func (r Role) Allows(action string) bool {
	return matchesAny(r.actions, action) && !matchesAny(r.not, action)
}

// AllowsData says that a role allows an action that is about data: no role does by its other
// actions, Owner neither. Source:
// https://learn.microsoft.com/en-us/azure/role-based-access-control/role-definitions#control-and-data-actions
func (r Role) AllowsData(action string) bool { return matchesAny(r.data, action) }

func matchesAny(patterns []string, action string) bool {
	for _, pattern := range patterns {
		if matches(strings.ToLower(pattern), strings.ToLower(action)) {
			return true
		}
	}
	return false
}

// matches compares an action with a pattern, whose one * stands for anything.
func matches(pattern, action string) bool {
	before, after, any := strings.Cut(pattern, "*")
	if !any {
		return pattern == action
	}
	return len(action) >= len(before)+len(after) && strings.HasPrefix(action, before) && strings.HasSuffix(action, after)
}

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
			role.condition = r.Outputs.Str("condition")
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
