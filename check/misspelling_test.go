package check

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

// misspellings are seeded into the good tree, one at a time. The golden files
// hold what is found beyond what the good tree has.
var misspellings = []struct {
	name, file, old, new string
}{
	{"variable in a manifest", "apps/hello/hello.yaml", "${environment}", "${enviromt}"},
	{"variable in a value", "addons/dns/release.yaml", "region: ${region}", "region: ${regionn}"},
	{"variable in a text of a value", "addons/dns/release.yaml", `} ${partition}"`, `} ${partitoin}"`},
	{"variable in a patch", "addons/dns/kustomization.yaml", "owner: ${cluster_name}", "owner: ${zone_id}"},
	{"variable in a patch of a stage", "clusters/demo/kustomization.yaml", "value: ${chart_repository}", "value: ${chart_repo}"},
	{"variable in a path", "clusters/base/apps.yaml", "./${gitops_path}/apps", "./${gitops_pth}/apps"},
	{"variable in a generated file", "addons/vault/settings.yaml", "${cluster_endpoint}", "${cluster_endpont}"},
	{"variable in what looks like a comment", "addons/vault/settings.yaml", "# Helm values of the vault.", "# Helm values of ${valut}."},
	{"variable twice", "addons/metrics/release.yaml", "vpc: ${vpc_id}", "vpc: ${vpcid}\n    again: \"${vpcid}\""},
	{"variable far from all others", "apps/hello/hello.yaml", "${environment}", "${something_else_altogether}"},
	{"variable of another cluster", "apps/hello/hello.yaml", "${environment}", "${nightly}"},
	{"variable with a function", "addons/metrics/release.yaml", "${cluster_name:0:3}", "${cluster_nam:0:3}"},
	{"variable with and without a function", "apps/hello/hello.yaml", "${environment}", "${envi:=a} ${envi^} ${envi} ${envi:0:1}"},
	{"variable within a default", "addons/dns/kustomization.yaml", "${dns_interval:=10m}", "${dns_interval:=${chart_repositry}}"},
	{"variable that is none", "apps/hello/hello.yaml", "${environment}", "${environment.name}"},
	{"variable without an end", "apps/hello/hello.yaml", "${environment}", "${environment"},
	{"variable without substitution", "apps/plain/plain.yaml", "${HOME}", "${HOME} ${region}"},
	{"variable of another source", "apps/more.yaml", "      - kind: ConfigMap\n        name: app-settings\n", ""},
	{"variable that breaks YAML", "apps/hello/hello.yaml", "  namespace: default\n", "  namespace: default\n  generation: ${zones} more\n"},
	{"substituteFrom name", "clusters/base/addons.yaml", "name: infra-config", "name: infra-confg"},
	{"substituteFrom kind", "clusters/base/addons.yaml", "- kind: ConfigMap", "- kind: Secret"},
	{"substituteFrom optional", "apps/more.yaml", "name: app-settings", "name: app-setings\n        optional: true"},
	{"substituteFrom Helm values", "apps/more.yaml", "name: app-settings", "name: helm-values"},
	{"valuesFrom name", "addons/dns/release.yaml", "name: dns-values", "name: dns-vals"},
	{"valuesFrom name in a patch", "addons/dns/kustomization.yaml", "        interval: ${dns", "        valuesFrom:\n          - kind: ConfigMap\n            name: dns-valuse\n        interval: ${dns"},
	{"valuesFrom namespace", "addons/vault/release.yaml", "name: vault-admin", "name: dns-values"},
	{"valuesFrom other namespace", "addons/vault/release.yaml", "- kind: Secret\n      name: vault-admin", "- kind: ConfigMap\n      name: dns-values"},
	{"valuesFrom key", "addons/vault/release.yaml", "valuesKey: password", "valuesKey: pasword"},
	{"valuesFrom default key", "addons/vault/release.yaml", "      valuesKey: token\n", ""},
	{"valuesFrom generated", "addons/vault/release.yaml", "name: vault-settings", "name: vault-setting"},
	{"valuesFrom optional", "addons/vault/release.yaml", "name: vault-extra", "name: vault-seald"},
	{"valuesFrom optional key", "addons/vault/release.yaml", "valuesKey: token\n", "valuesKey: tokn\n      optional: true\n"},
	{"chart sourceRef name", "addons/vault/release.yaml", "name: dns\n        namespace", "name: dnss\n        namespace"},
	{"chart sourceRef namespace", "addons/vault/release.yaml", "        name: dns\n        namespace: dns\n  values", "        name: dns\n        namespace: dsn\n  values"},
	{"chart sourceRef kind", "addons/dns/release.yaml", "kind: HelmRepository", "kind: GitRepository"},
	{"chartRef name", "addons/metrics/release.yaml", "    name: metrics\n  values", "    name: metric\n  values"},
	{"sourceRef name", "clusters/base/apps.yaml", "    name: platform", "    name: platfor"},
	{"path", "clusters/base/apps.yaml", "./${gitops_path}/apps", "./${gitops_path}/app"},
	{"dependsOn of a Kustomization", "clusters/base/apps.yaml", "- name: addons", "- name: addon"},
	{"dependsOn of a HelmRelease", "addons/vault/release.yaml", "- name: dns\n", "- name: dnss\n"},
	{"dependsOn in a circle", "clusters/base/crds.yaml", "spec:\n", "spec:\n  dependsOn:\n    - name: apps\n"},
	{"dependsOn itself", "clusters/base/crds.yaml", "spec:\n", "spec:\n  dependsOn:\n    - name: crds\n"},
	{"resource", "apps/kustomization.yaml", "more.yaml", "mor.yaml"},
	{"resource directory", "clusters/prod/addons/kustomization.yaml", "addons/vault", "addons/valt"},
	{"resource that is remote", "apps/kustomization.yaml", "- more.yaml", "- https://example.com/all.yaml\n  - more.yaml"},
	{"file that is not YAML", "addons/metrics/release.yaml", "subnets: ${private_subnet_ids}", "subnets: [${private_subnet_ids}]"},
	{"kustomization file", "apps/kustomization.yaml", "resources:", "resource:"},
	{"other tree", "apps/more.yaml", "kind: GitRepository\n    name: platform\n  postBuild", "kind: OCIRepository\n    name: metrics\n    namespace: metrics\n  postBuild"},
}

func TestMisspellings(t *testing.T) {
	known := check(t, goodTree(t), twoClusters(t))
	for _, m := range misspellings {
		t.Run(m.name, func(t *testing.T) {
			tree := goodTree(t)
			tree["addons/metrics/values.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: helm-values\n  namespace: flux-system\ndata:\n  values.yaml: ''\n")}
			seed(t, tree, "addons/metrics/kustomization.yaml", "- release.yaml", "- release.yaml\n  - values.yaml")
			seed(t, tree, m.file, m.old, m.new)
			var found strings.Builder
			for line := range strings.Lines(check(t, tree, twoClusters(t))) {
				if !strings.Contains(known, line) && !strings.Contains(line, ": note: of what every cluster is given") {
					found.WriteString(line)
				}
			}
			assert.Check(t, found.Len() != 0, "nothing is found")
			golden.Assert(t, found.String(), "golden/"+strings.ReplaceAll(m.name, " ", "-")+".golden")
		})
	}
}

// seed replaces the one place of a text in a file of the tree.
func seed(t *testing.T, tree fstest.MapFS, file, before, after string) {
	t.Helper()
	text := tree[file].Data
	if n := bytes.Count(text, []byte(before)); n != 1 {
		t.Fatalf("%s has %q %d times", file, before, n)
	}
	tree[file] = &fstest.MapFile{Data: bytes.Replace(text, []byte(before), []byte(after), 1)}
}
