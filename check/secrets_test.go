package check

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"sigs.k8s.io/yaml"

	"tombolo/check/helm"
	"tombolo/check/manifest"
	"tombolo/check/published"
	"tombolo/check/tree/treetest"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/tests/files"
)

const (
	provider     = "kubernetes:\n  identityProvider: {issuerUrl: \"https://id.example.com/\", clientId: headlamp}\n"
	signInSecret = "  headlamp:\n    oidcSecret: headlamp-oidc\n"
	argocdSignIn = `
gitops:
  engine: argocd
  url: http://git.lab.test/platform.git
  path: clusters/mgmt
  distribution: {version: v3.5.7, path: install.yaml}
  sealedSecrets: {key: {env: TOMBOLO_KEY}, certificate: {env: TOMBOLO_CERTIFICATE}}
  argocd:
    oidc: {url: "https://argocd.example.com", issuerUrl: "https://id.example.com/", clientId: argocd, secret: argocd-oidc}
values: {chart_repository: http://charts.lab.test}
labels: {logging: "on"}
`
	onTheHub = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: headlamp-secret}
spec:
  source: {repoURL: http://git.lab.test/platform.git, path: secrets}
  destination: {name: in-cluster, namespace: headlamp}
`
	external = `apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: NAME, namespace: SPACE}
spec: {data: [{secretKey: secret, remoteRef: {key: demo}}]}
`
)

// fullWith is the fullest cluster with sign-in to Headlamp, under a name, and with another gitops.
func fullWith(t *testing.T, name, gitops string) *config.Cluster {
	t.Helper()
	text := files.Read(t, "../clusters/full.yaml")
	file := strings.NewReplacer("kubernetes:\n", provider, "  headlamp:\n", signInSecret, "name: full\n", "name: "+name+"\n").Replace(text)
	if gitops != "" {
		file = file[:strings.Index(file, "\ngitops:\n")] + gitops
	}
	path := filepath.Join(t.TempDir(), "clusters", name+".yaml")
	files.Write(t, filepath.Join(path, "..", "..", "Pulumi.yaml"), "name: tombolo\n") // its project
	files.Write(t, path, file)
	c, err := config.Load(path)
	assert.NilError(t, err)
	return c
}

// secret is a manifest of an ExternalSecret.
func secret(namespace, name string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(strings.NewReplacer("NAME", name, "SPACE", namespace).Replace(external))}
}

// warningAt is the warning of a Secret that nothing makes.
func warningAt(c *config.Cluster, place, secret, key, clusters string) string {
	return c.File + place + ": warning: nothing in the tree makes the Secret " + secret + ", which " + key + " names (" + clusters + ")"
}

// missing are the findings about Secrets.
func missing(t *testing.T, tree fs.FS, clusters []published.Set) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(check(t, tree, clusters)) {
		if strings.Contains(line, "makes the Secret") {
			out.WriteString(line)
		}
	}
	return out.String()
}

const addIt = "; add an ExternalSecret or SealedSecret of that name (docs/guide/access.md#sign-in)\n"

func TestSecretsOfSignInWithFlux(t *testing.T) {
	c := fullWith(t, "full", "")
	clusters, headlamp := []published.Set{published.To(c, c)}, "addons/headlamp/kustomization.yaml"
	tree := treetest.Copy(t, os.DirFS("../platform/flux"))
	want := warningAt(c, ":56:5", "headlamp/headlamp-oidc", "addons.headlamp.oidcSecret", "cluster full")
	assert.Check(t, is.Equal(missing(t, tree, clusters), want+addIt))

	seed(t, tree, headlamp, "  - release.yaml", "  - release.yaml\n  - secret.yaml")
	tree["addons/headlamp/secret.yaml"] = secret("headlamp", "headlamp-oidd")
	assert.Check(t, is.Equal(missing(t, tree, clusters), want+"; did you mean \"headlamp-oidd\"?\n"))
	tree["addons/headlamp/secret.yaml"] = secret("headlamp", "headlamp-oidc")
	assert.Check(t, is.Equal(missing(t, tree, clusters), ""))
}

// TestSecretsOfSignInWithArgoCD: what is made on the hub is on no spoke.
func TestSecretsOfSignInWithArgoCD(t *testing.T) {
	hub := fullWith(t, "mgmt", argocdSignIn)
	spoke := *hub
	spoke.Name, spoke.File, spoke.GitOps = "sets", "sets.yaml", config.GitOps{Engine: config.ArgoCD, Hub: "mgmt"}
	clusters := []published.Set{published.To(hub, hub), published.To(&spoke, hub)}
	tree := treetest.Copy(t, os.DirFS("../platform/argocd"))
	headlamp := func(c *config.Cluster, place, clusters string) string {
		return warningAt(c, place, "headlamp/headlamp-oidc", "addons.headlamp.oidcSecret", clusters) + addIt
	}
	argocd := warningAt(hub, ":81:103", "argocd/argocd-oidc", "gitops.argocd.oidc.secret", "cluster mgmt") + addIt
	assert.Check(t, is.Equal(missing(t, tree, clusters), headlamp(hub, ":56:5", "clusters mgmt, sets")+argocd))

	seed(t, tree, hubOverlay, "resources:\n", "resources:\n  - argocd.yaml\n  - headlamp.yaml\n")
	tree["clusters/mgmt/argocd.yaml"] = secret("argocd", "argocd-oidc")
	tree["clusters/mgmt/headlamp.yaml"] = &fstest.MapFile{Data: []byte(onTheHub)}
	tree["secrets/secret.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(external, "NAME, namespace: SPACE", "headlamp-oidc", 1))}
	assert.Check(t, is.Equal(missing(t, tree, clusters), headlamp(&spoke, "", "cluster sets")))

	set := "addons/headlamp/applicationset.yaml"
	tree[set] = &fstest.MapFile{Data: append(tree[set].Data, "        - {repoURL: http://git.lab.test/platform.git, path: secrets}\n"...)}
	assert.Check(t, is.Equal(missing(t, tree, clusters), ""))
}

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
		render := func(values string) map[string]map[string]string {
			out := map[string]map[string]string{}
			for _, document := range ofSystem(t, name, test.chart, values) {
				var o struct {
					Kind     string
					Metadata struct{ Name, Namespace string }
					Data     map[string]string
				}
				if yaml.Unmarshal([]byte(document), &o) == nil && o.Data != nil {
					out[strings.Join([]string{o.Kind, o.Metadata.Namespace, o.Metadata.Name}, " ")] = o.Data
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

// ofSystem are the documents that a tree's chart makes of the system shop with these values.
func ofSystem(t *testing.T, tree, chart, values string) []string {
	t.Helper()
	c, _, err := helm.Load(treetest.Index(t, os.DirFS(tree)), chart)
	assert.NilError(t, err)
	given, err := helm.Overlay(map[string]any{}, values)
	assert.NilError(t, err)
	made, err := helm.Render(c, "shop", "shop", given, false)
	assert.NilError(t, err)
	var out []string
	for _, text := range made {
		out = append(out, manifest.Split([]byte(text))...)
	}
	return out
}
