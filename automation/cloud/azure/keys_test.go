package azure

import (
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/preflight"
	"tombolo/config"
)

// TestKeyOfSecrets: what AKS would refuse at the end is told before anything is made.
func TestKeyOfSecrets(t *testing.T) {
	const (
		vaultID = "/subscriptions/" + subscription + "/resourceGroups/secrets/providers/Microsoft.KeyVault/vaults/etcd-keys"
		open    = `{"properties": {"enableRbacAuthorization": true, "publicNetworkAccess": "Enabled"}}`
		usable  = `{"properties": {"kty": "RSA", "keyOps": ["encrypt", "decrypt"], "attributes": {"enabled": true}}}`
		version = "0123456789abcdef0123456789abcdef"
	)
	at := strings.ToLower(vaultID)
	c := demo()
	assert.Check(t, is.Len(readKey(t.Context(), managerOf(t, "subscription.json").client(t), c), 0))
	c.Kubernetes.SecretsEncryption = config.SecretsEncryption{KeyID: "https://etcd-keys.vault.azure.net/keys/demo/" + version, Vault: vaultID}
	for _, test := range []struct {
		name, vault, key string
		level            preflight.Level
		want             string
	}{
		{"usable", open, usable, preflight.OK, "AKS can encrypt Secrets by the key "},
		{"no vault", "", "", preflight.Fail, "there is no key "},
		{"no key", open, "", preflight.Fail, "there is no key "},
		{"access policies", `{"properties": {}}`, usable, preflight.Fail, "its vault goes by access policies, and core gives a role"},
		{"a firewall", `{"properties": {"enableRbacAuthorization": true, "networkAcls": {"defaultAction": "Deny"}}}`, usable, preflight.Fail, "the network rules of its vault keep the control plane out"},
		{"another tenant", `{"properties": {"enableRbacAuthorization": true, "tenantId": "x"}}`, usable, preflight.Fail, "its vault is of tenant x"},
		{"an elliptic curve", open, strings.Replace(usable, "RSA", "EC", 1), preflight.Fail, "it is of the type EC, and not RSA"},
		{"for signatures", open, strings.Replace(usable, `"encrypt", "decrypt"`, `"sign"`, 1), preflight.Fail, "it is for sign, and not for encrypt and decrypt"},
		{"disabled", open, strings.Replace(usable, "true", "false", 1), preflight.Fail, "it is disabled, or not valid by its dates"},
		{"expired", open, strings.Replace(usable, `true`, `true, "exp": 5`, 1), preflight.Fail, "it is disabled, or not valid by its dates"},
	} {
		m := managerOf(t, "subscription.json")
		if test.vault != "" {
			m.Answers[at] = json.RawMessage(test.vault)
		}
		if test.key != "" {
			m.Answers[at+"/keys/demo/versions/"+version] = json.RawMessage(test.key)
		}
		found := judgeKey(preflight.Facts{Keys: readKey(t.Context(), m.client(t), c)})
		assert.Assert(t, is.Len(found, 1), test.name)
		assert.Check(t, found[0].Level == test.level && strings.Contains(found[0].Message, test.want), "%s: %v", test.name, found[0])
	}
	m := managerOf(t, "subscription.json")
	m.Refused = map[string]int{at: 403}
	found := judgeKey(preflight.Facts{Keys: readKey(t.Context(), m.client(t), c)})
	assert.Check(t, found[0].Level == preflight.Warn && strings.Contains(found[0].Remedy, "Microsoft.KeyVault/vaults/keys/versions/read"), "%v", found)
	assert.Check(t, Cloud{}.AsksAgain("kubernetes.secretsEncryption.keyId") && !Cloud{}.AsksAgain("kubernetes.version"))
}
