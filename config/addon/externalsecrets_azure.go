package addon

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"

	"tombolo/config/azurefacts"
	"tombolo/internal/armid"
	"tombolo/internal/wording"
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
	return append(problems, blockProblems(o.AllowedCIDRs)...)
}

// blockProblems finds blocks that Key Vault does not take, or that would open it to everybody.
func blockProblems(blocks []string) []Problem {
	problems := onceEach("allowedCidrs", "", "give each block once", blocks)
	if len(blocks) > azurefacts.MaxVaultBlocks {
		problems = append(problems, Problem{
			Path: "allowedCidrs", Message: fmt.Sprintf("has %d blocks; Key Vault takes %d", len(blocks), azurefacts.MaxVaultBlocks), Remedy: "join neighbouring blocks",
		})
	}
	for i, text := range blocks {
		if message, remedy := blockProblem(text); message != "" {
			problems = append(problems, Problem{Path: at("allowedCidrs", i, ""), Message: message, Remedy: remedy})
		}
	}
	return problems
}

// blockProblem says what is wrong with a block of the right form; "" for nothing.
func blockProblem(text string) (message, remedy string) {
	block, err := netip.ParsePrefix(text)
	if !ipv4Block.MatchString(text) { // which is told already
		return "", ""
	}
	private := slices.ContainsFunc(azurefacts.PrivateBlocks(), func(p netip.Prefix) bool { return p.Bits() <= block.Bits() && p.Contains(block.Addr()) })
	switch {
	case err != nil:
		return wording.Quote(text) + " is not an IPv4 block", "write four numbers up to 255 and a prefix length up to 32, such as 203.0.113.0/24"
	case block.Bits() == 0:
		return wording.Quote(text) + " opens the vault to the whole internet", "list the blocks that need access"
	case block != block.Masked():
		return wording.Quote(text) + " has bits set outside of its prefix", "use " + block.Masked().String()
	case private:
		return wording.Quote(text) + " is private, and Key Vault refuses private blocks", "use the public address of the network; the cluster's own subnet reaches the vault without it"
	}
	return "", ""
}
