package addon

import (
	"cmp"
	"encoding/json"

	"tombolo/internal/armid"
)

// secretsStore is what the tree makes the ClusterSecretStore of.
type secretsStore struct {
	// name of the store, and provider in the form of its spec.provider.
	name     string
	provider map[string]any
}

func (s secretsStore) json() string {
	text, _ := json.Marshal(s.provider) // texts never fail
	return string(text)
}

// storeOf is the store of a cloud. That of Key Vault has the identity of the controller's own
// pod. Source: docs/provider/azure-key-vault.md of
// https://github.com/external-secrets/external-secrets
func storeOf(f Facts, out Outputs) secretsStore {
	if f.onAzure() {
		return secretsStore{"key-vault", map[string]any{"azurekv": map[string]any{
			"authType": "WorkloadIdentity", "tenantId": f.Tenant, "vaultUrl": out.Made[VaultURL],
		}}}
	}
	return secretsStore{"secrets-manager", map[string]any{"aws": map[string]any{"service": "SecretsManager", "region": f.Region}}}
}

// vaultNeeds are a vault, and an identity that reads what secrets are in it, and no keys.
func vaultNeeds(f Facts, o SecretsOptions) Needs {
	vault := &Vault{ID: o.Vault, AllowedCIDRs: o.AllowedCIDRs, Recover: o.RecoverVault}
	if vault.ID == "" {
		vault.Name = vaultName(f)
	}
	id := cmp.Or(vault.ID, armid.Resource(f.Account, f.ResourceGroup, armid.Vaults, vault.Name))
	return Needs{Vault: vault, Identities: []Identity{{
		ServiceAccount: secretsAccount, Roles: []Role{{Name: "Key Vault Secrets User", Scope: id}},
	}}}
}

// vaultName begins with a letter and has at most 24 characters, as Azure takes it:
// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules#microsoftkeyvault
func vaultName(f Facts) string {
	name, sum := f.inTheWorld()
	return "kv-" + name + "-" + sum
}

// vaultProblems finds options that are for a vault of core's, beside one of others.
func vaultProblems(o SecretsOptions) []Problem {
	const message, remedy = "has no effect: the vault is that of others", "remove it, or vault"
	var problems []Problem
	if o.Vault != "" && len(o.AllowedCIDRs) > 0 {
		problems = append(problems, Problem{Path: "allowedCidrs", Message: message, Remedy: remedy})
	}
	if o.Vault != "" && o.RecoverVault {
		problems = append(problems, Problem{Path: "recoverVault", Message: message, Remedy: remedy})
	}
	return problems
}
