package check

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"

	"tombolo/check/tree/treetest"
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
	assert.Assert(t, is.Equal(bytes.Count(text, []byte(before)), 1), "%v %v", file, before)
	tree[file] = &fstest.MapFile{Data: bytes.Replace(text, []byte(before), []byte(after), 1)}
}

const (
	promtailSet  = "addons/promtail/applicationset.yaml"
	karpenterSet = "addons/karpenter/applicationset.yaml"
	istioSet     = "addons/istio/applicationset.yaml"
	promSet      = "addons/kube-prometheus-stack/applicationset.yaml"
	appsSet      = "clusters/base/app-of-apps.yaml"
	appsChart    = "app-of-apps/templates/applications.yaml"
)

// argocdMisspellings are seeded into the reference tree, one at a time.
var argocdMisspellings = []struct {
	name, file, old, new string
}{
	{"selector label", promtailSet, `logging: "on"`, `loging: "on"`},
	{"selector label of an addon", karpenterSet, `addon-karpenter: "on"`, `addon-karpentr: "on"`},
	{"selector label far from all others", promtailSet, `logging: "on"`, `tenancy: "on"`},
	{"selector value", promtailSet, `logging: "on"`, `logging: "onn"`},
	{"selector value far from all others", promtailSet, `logging: "on"`, `logging: everything`},
	{"selector expression", "apps/hello.yaml", "environment, operator: Exists}\n            - {key: upgrade", "envronment, operator: Exists}\n            - {key: upgrade"},
	{"selector leaves out", karpenterSet, "key: shape", "key: shap"},
	{"selector switch", appsSet, "            shape: app-of-apps\n            upgrade_testing: \"true\"", "            shap: app-of-apps\n            upgrade_testing: \"true\""},
	{"annotation", "apps/hello.yaml", ".metadata.annotations.network_id", ".metadata.annotations.network_idd"},
	{"annotation by index", karpenterSet, "          targetRevision: '{{ index .metadata.annotations \"tombolo/revision\" }}'", "          targetRevision: '{{ index .metadata.annotations \"tombolo/revison\" }}'"},
	{"annotation in a component", "clusters/base/kustomization.yaml", `"tombolo/repository"`, `"tombolo/repositry"`},
	{"annotation of another cluster", "apps/hello.yaml", ".metadata.annotations.network_id", ".metadata.annotations.contact"},
	{"label", "apps/hello.yaml", ".metadata.labels.environment", ".metadata.labels.enviroment"},
	{"label of the file name", istioSet, ".metadata.labels.environment", ".metadata.labels.env"},
	{"value of the generator", promSet, ".values.version", ".values.versoin"},
	{"addon in the values", promtailSet, ".addons.promtail", ".addons.promtial"},
	{"parameter", "apps/hello.yaml", "server: '{{ .server }}'", "server: '{{ .sever }}'"},
	{"function", promtailSet, "fromJson", "fromJsn"},
	{"function that Argo CD lacks", promtailSet, "{{ .name }}-promtail", "{{ env .name }}-promtail"},
	{"template without an end", promtailSet, "value: '{{ .name }}'", "value: '{{ .name }'"},
	{"path of resources", karpenterSet, "path: addons/karpenter/resources", "path: addons/karpenter/resource"},
	{"path in the app of apps", "app-of-apps/addons/karpenter.yaml", "resources: addons/karpenter/resources", "resources: addons/karpenter/resource"},
	{"path of the app of apps", appsSet, "path: app-of-apps", "path: app-of-app"},
	{"values file", promtailSet, "$platform/addons/promtail/values.yaml", "$platform/addons/promtail/value.yaml"},
	{"values file in the app of apps", "app-of-apps/addons/promtail.yaml", "addons/promtail/values.yaml", "addons/promtail/vals.yaml"},
	{"values files that may be missing", istioSet, "$platform/addons/istio/values.yaml\n              - $platform/addons/istio/values-", "$platform/addons/isto/values.yaml\n              - $platform/addons/isto/values-"},
	{"ref", promtailSet, "$platform/addons", "$plaform/addons"},
	{"key in resources", "addons/karpenter/resources/templates/node-pool.yaml", ".Values.cluster.karpenter_cpu_limit", ".Values.cluster.karpenter_cpu_limt"},
	{"key in the app of apps", appsChart, "cluster.environment", "cluster.enviroment"},
	{"field of the app of apps", appsChart, "wave | quote", "wave | quot"},
	{"YAML in the app of apps", "app-of-apps/addons/karpenter.yaml", "- name: karpenter-crd", "- name: [karpenter-crd"},
	{"parameter of the app of apps", appsSet, "- name: server\n", "- name: sever\n"},
	{"resource", "clusters/prod/kustomization.yaml", "../../addons/promtail", "../../addons/promtial"},
	{"label of the addon", promtailSet, "tombolo/addon: promtail", "tombolo/addon: promtial"},
	{"another generator", "apps/hello.yaml", "others.\n    - clusters:", "others.\n    - pullRequest:\n        github: {owner: a, repo: b}\n    - clusters:"},
	{"another repository", "apps/hello.yaml", "repoURL: '{{ index .metadata.annotations \"tombolo/repository\" }}'", "repoURL: https://git.example.com/apps.git"},
}

func TestMisspellingsForArgoCD(t *testing.T) {
	some := []string{"istio", "karpenter", "kube-prometheus-stack", "promtail"}
	clusters := fleetOf(t, "clusters/prod", append(some, "certificate")...)
	clusters[0].Registration.Annotations["contact"] = "team"
	for _, m := range argocdMisspellings {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			tree := treetest.Copy(t, os.DirFS("../platform/argocd"))
			tree["clusters/prod/kustomization.yaml"] = &fstest.MapFile{Data: []byte("resources:\n  - ../../addons/" +
				strings.Join(some, "\n  - ../../addons/") + "\n  - ../../apps\ncomponents:\n  - ../base\n")}
			seed(t, tree, m.file, m.old, m.new)
			found := check(t, tree, clusters)
			assert.Check(t, found != "", "nothing is found")
			golden.Assert(t, found, "golden/argocd-"+strings.ReplaceAll(m.name, " ", "-")+".golden")
		})
	}
}
