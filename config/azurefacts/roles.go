package azurefacts

import (
	"maps"
	"slices"
	"strings"
)

// The built-in roles that Tombolo gives itself, by name.
const (
	Contributor               = "Contributor"
	NetworkContributor        = "Network Contributor"
	ManagedIdentityOperator   = "Managed Identity Operator"
	DNSZoneContributor        = "DNS Zone Contributor"
	PrivateDNSZoneContributor = "Private DNS Zone Contributor"
	KeyVaultSecretsUser       = "Key Vault Secrets User"
	BlobDataContributor       = "Storage Blob Data Contributor"
	BlobDataReader            = "Storage Blob Data Reader"
	KeyVaultCryptoUser        = "Key Vault Crypto User"
	Reader                    = "Reader"
)

// CoreRoles are the names of those that core gives to the identities that it makes for a cluster
// and its addons. Those of services and systems are in the cluster file, Contributor for a system
// without a role among them.
func CoreRoles() []string {
	return []string{
		BlobDataContributor, DNSZoneContributor, KeyVaultSecretsUser, ManagedIdentityOperator, NetworkContributor, PrivateDNSZoneContributor, Reader,
	}
}

// roles are built-in roles by name, with the ids of their definitions, which are the same in
// every tenant. Source: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles,
// articles/role-based-access-control/built-in-roles.md of
// https://github.com/MicrosoftDocs/azure-docs at 00a5832.
var roles = map[string]string{
	"AcrPull":                         "7f951dda-4ed3-4680-a7ca-43fe172d538d",
	"AcrPush":                         "8311e382-0749-4cb8-b61a-304f252e45ec",
	"Azure Service Bus Data Receiver": "4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0",
	"Azure Service Bus Data Sender":   "69a216fc-b8fb-44d8-bc22-1f3c2cd27a39",
	Contributor:                       "b24988ac-6180-42a0-ab88-20f7382dd24c",
	DNSZoneContributor:                "befefa01-2a29-4197-83a8-272ff33ce314",
	"Key Vault Administrator":         "00482a5a-887f-4fb3-b363-3b7fe8e74483",
	"Key Vault Certificate User":      "db79e9a7-68ee-4b58-9aeb-b90e7c24fcba",
	KeyVaultCryptoUser:                "12338af0-0e69-4776-bea7-57ae8d297424",
	"Key Vault Reader":                "21090545-7ca7-4776-b22c-e363652d74d2",
	"Key Vault Secrets Officer":       "b86a8fe4-44ce-4948-aee5-eccb2c155cd7",
	KeyVaultSecretsUser:               "4633458b-17de-408a-b874-0445c86b69e6",
	ManagedIdentityOperator:           "f1a07417-d97a-45cb-824c-7a7467783830",
	"Monitoring Metrics Publisher":    "3913510d-42f4-4e42-8a64-420c390055eb",
	"Monitoring Reader":               "43d0d8ad-25c7-4714-9337-8ba259a9fe05",
	NetworkContributor:                "4d97b98b-1d4f-4787-a291-c67834d212e7",
	PrivateDNSZoneContributor:         "b12aa53e-6015-4669-85d0-8515ebb3ae7f",
	Reader:                            "acdd72a7-3385-48ef-bd42-f606fba81ae7",
	BlobDataContributor:               "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
	BlobDataReader:                    "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1",
	"Storage Queue Data Contributor":  "974c5e8b-45b9-4653-ba55-5f855dd0fb88",
}

// givesRoles are the roles by which an identity could give itself any other, by the same
// source. Key Vault's and virtual machines' data access administrators give a few roles
// only, under a condition, and are of no use to pods either.
var givesRoles = map[string]string{
	"Owner":                     "8e3af657-a8ff-443c-a75c-2fe8c4bcb635",
	"User Access Administrator": "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9",
	"Role Based Access Control Administrator": "f58310d9-a9f6-439a-9e8d-f62e7b41a168",
	"Key Vault Data Access Administrator":     "8b54135c-b56d-4d72-a534-26097cfdc8d8",
}

// Roles are the names of the built-in roles that Tombolo knows, sorted.
func Roles() []string { return slices.Sorted(maps.Keys(roles)) }

// RoleID is the id of the definition of a built-in role that Tombolo knows.
func RoleID(name string) (string, bool) {
	id, ok := roles[name]
	return id, ok
}

// GivesRoles is the name of the role that a role's name or its definition's id stands for,
// when who has it can give roles to others; "" for any other.
func GivesRoles(nameOrID string) string {
	for _, name := range slices.Sorted(maps.Keys(givesRoles)) {
		if strings.EqualFold(nameOrID, name) || strings.EqualFold(nameOrID, givesRoles[name]) {
			return name
		}
	}
	return ""
}
