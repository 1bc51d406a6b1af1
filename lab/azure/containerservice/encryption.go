package containerservice

import (
	"fmt"
	"slices"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
)

// checkSecretsKey refuses a key for Secrets that AKS cannot use. Sources:
// https://learn.microsoft.com/en-us/azure/aks/use-kms-etcd-encryption, of the words
// https://github.com/MicrosoftDocs/azure-docs/issues/93886,
// https://github.com/Azure/telescope/pull/1121 and https://github.com/Azure/AKS/issues/3575, where a
// key of another kind than RSA is refused as one without rights.
func checkSecretsKey(c *standin.Call) error {
	given := c.In().Sub("securityProfile").Sub("azureKeyVaultKms")
	id, access, vaultID := given.Str("keyId"), given.Str("keyVaultNetworkAccess"), given.Str("keyVaultResourceId")
	bad := func(format string, args ...any) error { return c.Refusef("BadRequest", format, args...) }
	switch {
	case !given.Boolean("enabled") && id+vaultID != "":
		return bad("Azure Key Vault KMS is not enabled: the key ID and the KeyVault resource ID have to be empty.")
	case !given.Boolean("enabled"):
		return nil
	case userAssigned(c.In()) == "":
		return bad("Azure Key Vault KMS requires a user-assigned managed identity.")
	case access == "":
		return bad("KeyVault network access is unspecified for Azure Key Vault KMS.")
	case access == "Private" && vaultID == "":
		return bad("KeyVault resource ID is empty when KeyVault network access is Private.")
	case access == "Private":
		return bad("KeyVault network access Private requires API Server VNet Integration.")
	case vaultID != "":
		return bad("KeyVault resource ID has to be empty when KeyVault network access is Public.")
	}
	vault, key := arm.VaultKey(c.Cloud, id)
	if vault == nil || key == nil {
		return bad("The key %s of Azure Key Vault KMS was not found.", id)
	}
	return checkKeyRights(c, vault, key)
}

// checkKeyRights wants the control plane's identity to be allowed to use the key, from anywhere.
func checkKeyRights(c *standin.Call, vault, key *standin.Record) error {
	properties, principal := vault.Outputs.Sub("properties"), principalOf(c, userAssigned(c.In()))
	open := properties.Str("publicNetworkAccess") != "Disabled" && properties.Sub("networkAcls").Str("defaultAction") != "Deny"
	if !open {
		return c.Refusef("BadRequest", "The KeyVault %s blocks connectivity: public network access from all networks has to be allowed.", armid.NameOf(vault.ID))
	}
	may := func(action string) bool {
		return slices.ContainsFunc(rbac.Of(c.Cloud, principal, vault.ID), func(role rbac.Role) bool {
			return role.AllowsData("Microsoft.KeyVault/vaults/keys/" + action + "/action")
		})
	}
	ops := key.Outputs.List("keyOps")
	usable := key.Outputs.Boolean("enabled") && key.Outputs.Str("kty") == "RSA" && slices.Contains(ops, "encrypt") && slices.Contains(ops, "decrypt")
	if usable && properties.Boolean("enableRbacAuthorization") && may("encrypt") && may("decrypt") {
		return nil
	}
	return c.Refusef("AzureKeyVaultKmsValidateIdentityPermissionCustomerError", "%s",
		fmt.Sprintf("The identity does not have keys encrypt/decrypt permission on key vault %q", "https://"+armid.NameOf(vault.ID)+".vault.azure.net"))
}

// keepSecretsKey leaves a cluster the key that an update does not speak of.
func keepSecretsKey(c *standin.Call) {
	const key = "azureKeyVaultKms"
	had, given := c.Old.Outputs.Sub("securityProfile"), c.In().Sub("securityProfile")
	if had.Has(key) && len(given) > 0 && !given.Has(key) {
		merged := standin.Merged(given, standin.Props{key: had[key]})
		c.Out()["securityProfile"] = map[string]any(merged)
	}
}
