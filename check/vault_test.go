package check

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/published"
	"tombolo/config"
	"tombolo/config/addon"
)

const vaultsDirectory = "  - ../../../addons/external-secrets/vault\n"

// TestVaultNeedsItsSetting: the store of Vault is in the tree of a cluster whose file names the server.
func TestVaultNeedsItsSetting(t *testing.T) {
	const list = "clusters/teams/addons/kustomization.yaml"
	c, err := config.Load("../clusters/teams.yaml")
	assert.NilError(t, err)
	tree := os.DirFS("../platform/flux")
	text, err := os.ReadFile("../platform/flux/" + list)
	assert.NilError(t, err)
	dir := t.TempDir()
	assert.NilError(t, os.CopyFS(dir, tree))
	assert.NilError(t, os.WriteFile(dir+"/"+list, append(text, vaultsDirectory...), 0o644))
	found := func() string {
		f, err := Check(os.DirFS(dir), "platform/flux", []published.Set{published.To(c, c)})
		assert.NilError(t, err)
		return fmt.Sprint(f)
	}
	assert.Check(t, is.Contains(found(), "${vault_store_provider} is not published"))
	c.Addons["external-secrets"].(*addon.SecretsOptions).VaultServer = &addon.VaultServer{Address: "https://vault.example.com"}
	assert.Check(t, !strings.Contains(found(), "vault"), found())
}

// TestVaultOfASystem: a system's store logs in with the role of its name, as an account of its
// namespace, in both engines; without a server of Vault's there is none.
func TestVaultOfASystem(t *testing.T) {
	c, err := config.Load("../clusters/teams.yaml")
	assert.NilError(t, err)
	c.Addons["external-secrets"].(*addon.SecretsOptions).VaultServer = &addon.VaultServer{Address: "https://vault.example.com", CertificateAuthority: "authority"}
	secrets := c.Addons.Enabled()[slices.IndexFunc(c.Addons.Enabled(), func(e addon.Enabled) bool { return e.Name == "external-secrets" })]
	keys := secrets.Keys()
	provider := keys[slices.IndexFunc(keys, func(k addon.Key) bool { return k.Name == "vault_store_provider" })].Value(c.AddonFacts(), secrets.Options, addon.Outputs{})
	const file = "team: a\ngroup: a\nrepository: {url: https://git.example.com/a.git}\n"
	for tree, test := range map[string]struct{ chart, with, without string }{
		"../platform/flux":   {"charts/system", file + "vault: " + provider, file + "vault: null"},
		"../platform/argocd": {"charts/namespace", "group: a\nvault: '" + provider + "'", "group: a\nvault: \"null\""},
	} {
		made := func(values string) map[string]map[string]any {
			out := map[string]map[string]any{}
			for _, document := range ofSystem(t, tree, test.chart, values) {
				addOwn(t, out, document)
			}
			return out
		}
		with, without := made(test.with), made(test.without)
		assert.Check(t, is.Len(with, len(without)+3), tree)
		assert.Check(t, with["ServiceAccount vault"] != nil && with["ClusterRoleBinding tombolo-system-vault-shop"] != nil, tree)
		store := field(with["SecretStore vault"], "spec", "provider", "vault")
		assert.DeepEqual(t, store, map[string]any{
			"server": "https://vault.example.com", "path": "secret", "version": "v2", "caBundle": "YXV0aG9yaXR5",
			"auth": map[string]any{"kubernetes": map[string]any{"mountPath": "teams", "role": "shop", "serviceAccountRef": map[string]any{"name": "vault"}}},
		})
	}
}
