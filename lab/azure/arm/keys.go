package arm

import (
	"regexp"
	"strings"

	"tombolo/internal/armid"
	"tombolo/lab/standin"
)

// VaultType is the type of key vaults, and VaultKeyType that of the versions of keys in them, which no
// program makes. Clusters look at both.
const (
	VaultType    = "azure-native:keyvault/v20230701:Vault"
	VaultKeyType = "lab:azure:VaultKey"
)

// keyID is the id of a version of a key. Source:
// https://learn.microsoft.com/en-us/azure/key-vault/general/about-keys-secrets-certificates
var keyID = regexp.MustCompile(`^https://([A-Za-z0-9-]+)\.vault\.azure\.net/keys/([A-Za-z0-9-]+)/([0-9a-f]{32})$`)

// VaultKey is the vault and the version of a key that the key's id names; nil for what there is not.
// The account is locked.
func VaultKey(c *standin.Cloud, id string) (vault, key *standin.Record) {
	m := keyID.FindStringSubmatch(id)
	if m == nil {
		return nil, nil
	}
	for r := range c.Each(VaultType, standin.Global) {
		if Same(armid.NameOf(r.ID), m[1]) && !r.Gone() {
			return r, c.Get(VaultKeyType, standin.Global, KeyRecord(m[1], m[2], m[3]))
		}
	}
	return nil, nil
}

// KeyRecord is the id of the record of a version of a key.
func KeyRecord(vault, key, version string) string {
	return strings.ToLower(vault + "/" + key + "/" + version)
}
