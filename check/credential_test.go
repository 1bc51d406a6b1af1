package check

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"sigs.k8s.io/yaml"

	"tombolo/check/helm"
	"tombolo/check/manifest"
	"tombolo/check/tree/treetest"
	"tombolo/config/addon"
)

// TestCredentialOfASystem: a system gets its own identity in Azure and no other, without a
// secret in it, alike with both engines; one without an identity gets none.
func TestCredentialOfASystem(t *testing.T) {
	identities := map[string]addon.SystemIdentity{
		"shop": {ClientID: "client-shop", SubscriptionID: "sub", TenantID: "tenant", Scope: "/subscriptions/sub/resourceGroups/shop"},
		"blog": {ClientID: "client-blog", SubscriptionID: "sub", TenantID: "tenant", Scope: "/subscriptions/sub/resourceGroups/blog"},
	}
	const file = "team: a\ngroup: a\nrepository: {url: https://git.example.com/a.git}\n"
	one, err := json.Marshal(identities["shop"])
	assert.NilError(t, err)
	all, err := json.Marshal(identities)
	assert.NilError(t, err)
	for name, test := range map[string]struct{ chart, with, without string }{
		"../platform/flux":   {"charts/system", file + "identities: " + string(all), file + "identities: null"},
		"../platform/argocd": {"charts/namespace", "group: a\nidentity: '" + string(one) + "'", "group: a\nidentity: \"null\""},
	} {
		files := treetest.Index(t, os.DirFS(name))
		c, _, err := helm.Load(files, test.chart)
		assert.NilError(t, err)
		render := func(values string) map[string]map[string]string {
			given, err := helm.Overlay(map[string]any{}, values)
			assert.NilError(t, err)
			made, err := helm.Render(c, "shop", "shop", given, false)
			assert.NilError(t, err)
			out := map[string]map[string]string{}
			for _, text := range made {
				for _, document := range manifest.Split([]byte(text)) {
					var o struct {
						Kind     string
						Metadata struct{ Name, Namespace string }
						Data     map[string]string
					}
					if yaml.Unmarshal([]byte(document), &o) == nil && o.Data != nil {
						out[strings.Join([]string{o.Kind, o.Metadata.Namespace, o.Metadata.Name}, " ")] = o.Data
					}
				}
			}
			return out
		}
		with, without := render(test.with), render(test.without)
		assert.Check(t, is.DeepEqual(with["Secret shop aso-credential"], map[string]string{
			"AZURE_CLIENT_ID": "Y2xpZW50LXNob3A=", "AZURE_SUBSCRIPTION_ID": "c3Vi", "AZURE_TENANT_ID": "dGVuYW50", "USE_WORKLOAD_IDENTITY_AUTH": "dHJ1ZQ==",
		}), name)
		assert.Check(t, is.Equal(with["ConfigMap shop platform"]["azure_scope"], identities["shop"].Scope), name)
		assert.Check(t, without["ConfigMap shop platform"]["system"] == "shop" && without["Secret shop aso-credential"] == nil, "%s: %v", name, without)
		assert.Check(t, is.Equal(without["ConfigMap shop platform"]["azure_scope"], ""), name)
	}
}
