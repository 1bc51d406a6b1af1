package azure

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/keyvault"
	"tombolo/lab/azure/network"
	"tombolo/lab/standin"
)

func (w *world) vault(name string, change props) props {
	return w.inGroup(props{"vaultName": name, "properties": map[string]any(standin.Merged(props{
		"tenantId": arm.Tenant, "sku": map[string]any{"family": "A", "name": "standard"}, "enableRbacAuthorization": true,
		"enableSoftDelete": true, "enablePurgeProtection": true, "softDeleteRetentionInDays": 90,
	}, change))})
}

func TestVaultsAreRefused(t *testing.T) {
	w := newNetwork(t)
	rule := func(subnet string) props {
		return props{"networkAcls": map[string]any{"defaultAction": "Deny", "virtualNetworkRules": list(map[string]any{"id": subnet})}}
	}
	from := func(value string) props {
		return props{"networkAcls": map[string]any{"defaultAction": "Deny", "ipRules": list(map[string]any{"value": value})}}
	}
	for _, test := range []struct {
		name   string
		change props
		want   string
	}{
		{"a--b", nil, "Resource name a--b is invalid."},
		{"kv-demo", props{"enablePurgeProtection": false}, `"enablePurgeProtection" cannot be set to false`},
		{"kv-demo", props{"enableSoftDelete": false}, `"enableSoftDelete" can be set to false only for creating new vault`},
		{"kv-demo", props{"softDeleteRetentionInDays": 3}, "must be in the range of 7 to 90"},
		{"kv-demo", props{"tenantId": arm.Subscription}, "An invalid value was provided for 'tenantId'."},
		{"kv-demo", props{"createMode": "recover"}, `Code="SoftDeletedVaultDoesNotExist"`},
		{"kv-demo", from("10.1.2.0/24"), `'10.1.2.0/24' is not a public IPv4 address or range`},
		{"kv-demo", from("192.168.0.1"), `'192.168.0.1' is not a public`},
		{"kv-demo", from("203.0.113.7/24"), `'203.0.113.7/24' is not a public`},
		{"kv-demo", from("2001:db8::/32"), `'2001:db8::/32' is not a public`},
		{"kv-demo", rule(w.subnet.ID), `Code="VirtualNetworkNotValid"`},
	} {
		w.denied(keyvault.VaultType, w.vault(test.name, test.change), test.want)
	}
	w.Add(network.SubnetType, "other", props{
		"resourceGroupName": demo, "virtualNetworkName": demo, "subnetName": "vaults", "addressPrefix": "10.1.32.0/24",
		"serviceEndpoints": list(map[string]any{"service": "Microsoft.KeyVault"}),
	})
	w.Make(keyvault.VaultType, "open", w.vault("kv-open", from("203.0.113.0/24")))
	w.Add(keyvault.VaultType, "vault", w.vault("kv-demo", rule(w.vnet.ID+"/subnets/vaults")))
	w.Add(arm.GroupType, "others", props{"resourceGroupName": "others", "location": arm.Location})
	taken := w.vault("KV-demo", nil)
	taken["resourceGroupName"] = "others"
	w.denied(keyvault.VaultType, taken, `Code="VaultAlreadyExists"`)
}

// TestVaultIsRecovered: a deleted vault keeps its name until it is brought back.
func TestVaultIsRecovered(t *testing.T) {
	w := newNetwork(t)
	vault := w.Add(keyvault.VaultType, "vault", w.vault("kv-demo", nil))
	found, err := w.Invoke("azure-native:keyvault/v20230701:getVault", props{"resourceGroupName": demo, "vaultName": "kv-demo"})
	assert.NilError(t, err)
	assert.Check(t, is.Equal(found.Sub("properties").Str("vaultUri"), "https://kv-demo.vault.azure.net/"))
	assert.NilError(t, w.Delete(vault))
	w.denied(keyvault.VaultType, w.vault("kv-demo", nil), `Code="ConflictError" Message="A vault with the same name already exists in deleted state.`)
	w.Add(keyvault.VaultType, "vault", w.vault("kv-demo", props{"createMode": "recover"}))
}
