//go:build lab

package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"sigs.k8s.io/yaml"

	"tombolo/tests/tier"
)

// externalSecrets is their kind, as far as the policies read it.
const externalSecrets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: externalsecrets.external-secrets.io}
spec:
  group: external-secrets.io
  scope: Namespaced
  names: {kind: ExternalSecret, plural: externalsecrets, singular: externalsecret}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {tombolo/system: shop}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop--eu, labels: {tombolo/system: shop--eu}}
`

const othersSecret = "keys of secrets must begin with aks--shop-- or dev--shop--: others are not this system's"

// secretsInAVault are keys that the system shop tries, and the refusal of each.
var secretsInAVault = []struct{ namespace, ref, refused string }{
	{"shop", "{key: aks--shop--database}", ""},
	{"shop", "{key: dev--shop--Database-2, version: 0123456789abcdef0123456789abcdef}", ""},
	{"shop", "{key: aks--shop-eu--database}", othersSecret},
	{"shop", "{key: aks--shop2--database}", othersSecret},
	{"shop", "{key: aks-shop--database}", othersSecret},
	{"shop", "{key: aks--shop-database}", othersSecret},
	{"shop", "{key: shop--database}", othersSecret},
	{"shop", "{key: database}", othersSecret},
	{"shop", "{key: aks/shop/database}", othersSecret},
	{"shop", "{key: /aks--shop--database}", othersSecret},
	{"shop", "{key: secret/aks--blog--database}", othersSecret},
	{"shop", "{key: aks--shop--a/aks--blog--database}", "names and versions of secrets in a key vault have letters, digits and dashes only"},
	{"shop", "{key: aks--shop--database, version: ../aks--blog--database}", "names and versions of secrets in a key vault have letters, digits and dashes only"},
	{"shop--eu", "{key: aks--shop--eu--database}", "on Azure, neither the cluster nor its environment nor a system may have two dashes in a row in its name"},
}

// TestSecretsOfSystemsInAVault: the policy of either tree lets a system on Azure read secrets of
// its own, and none of another, whose name may begin as its own does.
func TestSecretsOfSystemsInAVault(t *testing.T) {
	tier.Short(t, "the trees' policies keep each system to its own secrets of a vault")
	d := start(t, checkout(t, map[string]string{"settings.yaml": settingsOf("plain")}))
	aksCluster(t, d)
	k := kubectlOf(t, d, "aks")
	apply := func(text string) {
		t.Helper()
		said, err := k.command(text, "apply", "-f", "-")
		assert.NilError(t, err, said)
	}
	apply(externalSecrets)
	olderGoes(t, k)
	_, err := k.command("", "wait", "--for=condition=Established", "customresourcedefinition/externalsecrets.external-secrets.io", "--timeout=60s")
	assert.NilError(t, err)
	for engine, policy := range map[string]string{"flux": policyOfFlux(t), "argocd": policyOfArgoCD(t, k)} {
		apply(policy)
		for _, form := range []string{"data: [{secretKey: a, remoteRef: %s}]", "dataFrom: [{extract: %s}]"} {
			for _, c := range secretsInAVault {
				try := "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: tried, namespace: " + c.namespace + "}\n" +
					"spec: {secretStoreRef: {kind: ClusterSecretStore, name: key-vault}, " + fmt.Sprintf(form, c.ref) + "}\n"
				said := ""
				for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
					if said, err = k.command(try, "create", "--dry-run=server", "-f", "-"); (err != nil) == (c.refused != "") || time.Since(began) > 30*time.Second {
						break // a policy works a moment after it was written
					}
				}
				assert.Check(t, (err != nil) == (c.refused != ""), "%s, %s in %s: %v %s", engine, c.ref, c.namespace, err, said)
				assert.Check(t, is.Contains(said, c.refused), "%s, %s in %s", engine, c.ref, c.namespace)
			}
		}
		said, err := k.command("", "delete", "validatingadmissionpolicies,validatingadmissionpolicybindings", "tombolo-system-secrets")
		assert.NilError(t, err, said)
	}
}

// olderDeployment is one that the policy of pods refuses.
const olderDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: older, namespace: shop, finalizers: [example.com/stay]}
spec:
  selector: {matchLabels: {app: older}}
  template:
    metadata: {labels: {app: older}}
    spec: {priorityClassName: system-node-critical, containers: [{name: a, image: "registry.example.com/a:1"}]}
`

// olderGoes: what a system had before a policy is refused when it is changed, and can go.
func olderGoes(t *testing.T, k kubectl) {
	t.Helper()
	said, err := k.command(olderDeployment, "apply", "-f", "-")
	assert.NilError(t, err, said)
	said, err = k.command(policyOf(t, "flux", "tombolo-system-pods"), "apply", "-f", "-")
	assert.NilError(t, err, said)
	patch := func(step string, more ...string) error {
		said, err = k.command("", append([]string{"-n", "shop", "patch", "deployment", "older", "--type", "json", "--patch", "[" + step + "]"}, more...)...)
		return err
	}
	const change = `{"op": "add", "path": "/spec/minReadySeconds", "value": 1}`
	for began := time.Now(); patch(change, "--dry-run=server") == nil && time.Since(began) < 30*time.Second; time.Sleep(100 * time.Millisecond) {
		continue // a policy works a moment after it was written
	}
	const refusal = "spec.priorityClassName must begin with systems-"
	assert.Check(t, is.Contains(said, refusal))
	said, err = k.command("", "-n", "shop", "delete", "deployment", "older", "--wait=false")
	assert.NilError(t, err, said)
	assert.Check(t, patch(change) != nil && strings.Contains(said, refusal), said)
	assert.NilError(t, patch(`{"op": "remove", "path": "/metadata/finalizers"}`), said)
}

// policyOf are a policy and its binding in a tree.
func policyOf(t *testing.T, engine, name string) string {
	t.Helper()
	text, err := os.ReadFile("../platform/" + engine + "/systems/base/policy.yaml")
	assert.NilError(t, err)
	var found []string
	for _, document := range strings.Split(string(text), "---\n") {
		if strings.Contains(document, "\n  name: "+name+"\n") {
			found = append(found, document)
		}
	}
	assert.Assert(t, is.Len(found, 2))
	return strings.Join(found, "---\n")
}

func policyOfFlux(t *testing.T) string {
	t.Helper()
	return strings.NewReplacer("${cluster_name}", "aks", "${environment}", "dev", "${cloud}", "azure").Replace(policyOf(t, "flux", "tombolo-system-secrets"))
}

// policyOfArgoCD has what the Application of the policies puts in.
func policyOfArgoCD(t *testing.T, k kubectl) string {
	t.Helper()
	var set struct {
		Spec struct {
			Template struct {
				Spec struct {
					Source struct {
						Kustomize struct{ Patches []struct{ Patch string } }
					}
				}
			}
		}
	}
	text, err := os.ReadFile("../platform/argocd/systems/hub/base.yaml")
	assert.NilError(t, err)
	assert.NilError(t, yaml.Unmarshal(text, &set))
	patch := strings.NewReplacer(
		"{{ .name }}", "aks", "{{ .metadata.labels.environment }}", "dev", "{{ .metadata.annotations.cloud }}", "azure",
	).Replace(set.Spec.Template.Spec.Source.Kustomize.Patches[0].Patch)
	assert.Check(t, !strings.Contains(patch, "{{"), patch)
	policy, binding, _ := strings.Cut(policyOf(t, "argocd", "tombolo-system-secrets"), "---\n")
	asJSON, err := yaml.YAMLToJSON([]byte(patch))
	assert.NilError(t, err)
	assert.Check(t, json.Valid(asJSON))
	patched, err := k.command(policy, "patch", "--local", "-f", "-", "--type", "json", "--patch", string(asJSON), "-o", "yaml")
	assert.NilError(t, err, patched)
	return patched + "---\n" + binding
}
