package keyvault

import (
	"fmt"
	"time"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/network"
	"tombolo/lab/standin"
)

// The network team's vault and the key in it, in two versions, for clusters that encrypt Secrets by
// a key of one's own.
const (
	TeamVaultName = "lab-team-keys"
	TeamVaultID   = "/subscriptions/" + arm.NetworkSubscription + "/resourceGroups/" + network.TeamGroup + "/providers/" + namespace + "/vaults/" + TeamVaultName
	teamKey       = "https://" + TeamVaultName + ".vault.azure.net/keys/" + teamKeyName + "/"
	teamKeyName   = "secrets"
	// TeamKeyID is the older version, and TeamKeyNext the newer one.
	TeamKeyID   = teamKey + "00000000000000000000000000000001"
	TeamKeyNext = teamKey + "00000000000000000000000000000002"
)

// OwnKey makes the network team's vault and its key where they do not exist yet. What the lab's
// credentials may do in the team's group, they may do on it.
func OwnKey(c *standin.Cloud, location string) error {
	defer c.Lock()()
	if arm.ByID(c, VaultType, TeamVaultID) != nil {
		return nil
	}
	properties := map[string]any{
		"tenantId": arm.Tenant, "sku": map[string]any{"family": "A", "name": "standard"}, "enableRbacAuthorization": true, "enablePurgeProtection": true,
		"enableSoftDelete": true, "softDeleteRetentionInDays": 90.0, "publicNetworkAccess": "Enabled", "provisioningState": "Succeeded",
		"vaultUri": "https://" + TeamVaultName + ".vault.azure.net/",
	}
	records := []*standin.Record{{
		Type: VaultType, ID: TeamVaultID, Inputs: standin.Props{"resourceGroupName": network.TeamGroup, "vaultName": TeamVaultName},
		Outputs: standin.Props{"name": TeamVaultName, "type": vaults.ARM, "location": location, "properties": properties},
	}}
	for _, id := range []string{TeamKeyID, TeamKeyNext} {
		records = append(records, keyOf(id))
	}
	for _, r := range records {
		r.Region, r.Implied, r.Created = standin.Global, true, c.Now().Add(-24*time.Hour)
		if err := c.Put(r); err != nil {
			return fmt.Errorf("make the network team's key: %w", err)
		}
	}
	return nil
}

// keyOf is the record of a version of the team's key.
func keyOf(id string) *standin.Record {
	version := armid.NameOf(id)
	return &standin.Record{
		Type: arm.VaultKeyType, ID: arm.KeyRecord(TeamVaultName, teamKeyName, version), Inputs: standin.Props{},
		Outputs: standin.Props{"name": version, "kty": "RSA", "keySize": 2048.0, "enabled": true, "keyOps": []any{"encrypt", "decrypt", "wrapKey", "unwrapKey"}},
	}
}

// DescribeKey is a version of a key as the Resource Manager answers it; nil for none. Source:
// https://learn.microsoft.com/en-us/rest/api/keyvault/keyvault/keys/get-version
func DescribeKey(c *standin.Cloud, vault *standin.Record, name, version string) map[string]any {
	defer c.Lock()()
	r := c.Get(arm.VaultKeyType, standin.Global, arm.KeyRecord(armid.NameOf(vault.ID), name, version))
	if r == nil {
		return nil
	}
	return map[string]any{
		"id": vault.ID + "/keys/" + name + "/versions/" + version, "name": version, "type": namespace + "/vaults/keys/versions", "location": vault.Outputs.Str("location"),
		"properties": map[string]any{
			"kty": r.Outputs.Str("kty"), "keyOps": r.Outputs["keyOps"], "attributes": map[string]any{"enabled": r.Outputs.Boolean("enabled")},
			"keyUri": "https://" + armid.NameOf(vault.ID) + ".vault.azure.net/keys/" + name,
		},
	}
}
