package check

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"tombolo/check/tree/treetest"
)

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
	{"another generator", "apps/hello.yaml", "others.\n    - clusters:", "others.\n    - list:\n        elements: []\n    - clusters:"},
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
