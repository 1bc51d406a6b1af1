package check

import (
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/published"
	"tombolo/check/tree/treetest"
	"tombolo/config"
	"tombolo/internal/names"
)

// one is a cluster that publishes one variable and starts at start.
func one() []published.Set {
	return []published.Set{{
		Cluster: "one", Path: "start",
		Variables: map[string]published.Variable{"region": {Example: "eu-central-1"}},
	}}
}

const stage = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: NAME
  namespace: flux-system
spec:
  path: PATH
  sourceRef:
    kind: GitRepository
    name: platform
`

// kustomizationAt is a Flux Kustomization, with more of its spec.
func kustomizationAt(name, path, more string) string {
	return strings.NewReplacer("NAME", name, "PATH", path).Replace(stage) + more
}

const settings = `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: flux-system
data:
  domain: example.com
`

const usesDomain = `apiVersion: v1
kind: ConfigMap
metadata:
  name: user
  namespace: default
data:
  domain: ${domain}
`

const fromSettings = `  postBuild:
    substituteFrom:
      - kind: ConfigMap
        name: settings
`

const helmRelease = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: app
  namespace: apps
spec:
  chart:
    spec:
      sourceRef: {kind: HelmRepository, name: SOURCE}
  valuesFrom:
    - {kind: ConfigMap, name: VALUES}
`

// TestAsFluxDoes holds the check to what Flux does in cases in which a simple
// reading of the files would be wrong.
func TestAsFluxDoes(t *testing.T) {
	for name, test := range map[string]struct {
		tree map[string]string
		want string
	}{
		"a directory without a kustomization file has all of its YAML": {
			map[string]string{"start/below/a.yaml": usesDomain, "start/b.txt": "${none}"},
			"tree/start/below/a.yaml:7:11: error: ${domain} is not published: Kustomization flux-system/platform stops at it (cluster one); add domain to the values of the cluster file, or give it a default, ${domain:=…}\n",
		},
		"an empty directory is built, and no start": {
			map[string]string{"start/a.yaml": kustomizationAt("a", "./empty", ""), "empty/README.md": ""}, "",
		},
		"a start has to make something": {
			map[string]string{"start/README.md": ""},
			": error: gitops.path \"start\" makes no objects (cluster one); add what the cluster has to follow to the directory, or correct the path\n",
		},
		"a ConfigMap that a later Kustomization makes is waited for": {
			map[string]string{
				"start/a.yaml": kustomizationAt("a", "./user", fromSettings), "start/b.yaml": kustomizationAt("b", "./maker", ""),
				"user/user.yaml": usesDomain, "maker/settings.yaml": settings,
			}, "",
		},
		"an optional ConfigMap that another one makes is waited for": {
			map[string]string{
				"start/a.yaml":   kustomizationAt("a", "./user", fromSettings+"        optional: true\n"),
				"start/b.yaml":   kustomizationAt("b", "./maker", ""),
				"user/user.yaml": usesDomain, "maker/settings.yaml": settings,
			}, "",
		},
		"inline variables, components, a namespace and a prefix": {
			map[string]string{
				"start/a.yaml": kustomizationAt("a", "./user", `  targetNamespace: there
  namePrefix: my-
  components: [../component, ../none]
  ignoreMissingComponents: true
  postBuild:
    substitute: {domain: example.com}
`),
				"user/user.yaml":                   usesDomain,
				"component/kustomization.yaml":     "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [more.yaml]\n",
				"component/more.yaml":              strings.NewReplacer("name: user", "name: more", "${domain}", "${domian}").Replace(usesDomain),
				"component/not-a-resource.yaml":    "${none}",
				"start/kustomization.yaml":         "resources: [a.yaml]",
				"start/not-in-the-kustomization.y": "",
			},
			"tree/component/more.yaml:7:11: error: ${domian} is not published: Kustomization flux-system/a stops at it (cluster one); did you mean \"domain\"?\n",
		},
		"an escaped variable of a patch is the next Kustomization's": {
			map[string]string{
				"start/a.yaml": kustomizationAt("a", "./user", `  patches:
    - patch: |
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: user, namespace: default}
        data: {domain: "$${domian}"}
`+fromSettings),
				"start/settings.yaml": settings, "user/user.yaml": usesDomain,
			},
			"tree/start/a.yaml:16:26: error: ${domian} is not published: Kustomization flux-system/a stops at it (cluster one); did you mean \"domain\"?\n",
		},
		"what is missing may come from what is not followed": {
			map[string]string{
				"start/kustomization.yaml": "resources: [https://example.com/all.yaml, release.yaml]\n",
				"start/release.yaml":       strings.NewReplacer("SOURCE", "elsewhere", "VALUES", "values").Replace(helmRelease),
			},
			`tree/start/release.yaml:9:47: warning: HelmRelease apps/app: sourceRef refers to HelmRepository apps/elsewhere, which is not in the tree (cluster one); add it to the tree
tree/start/release.yaml:11:31: warning: HelmRelease apps/app: valuesFrom refers to ConfigMap values, which neither bootstrap nor the tree makes in namespace apps (cluster one); turn on the addon or service that publishes it in the cluster file, or make it in the tree
tree/start/kustomization.yaml:1:13: note: https://example.com/all.yaml is not followed: it is not in this tree (cluster one)
`,
		},
		"a value that is not substituted": {
			map[string]string{"start/a.yaml": strings.NewReplacer("${domain}", "$${HOME} $HOME", "namespace: default", "namespace: default\n  annotations: {}").Replace(usesDomain)}, "",
		},
		"a disabled object is left alone": {
			map[string]string{"start/a.yaml": strings.Replace(usesDomain, "namespace: default", "namespace: default\n  annotations:\n    kustomize.toolkit.fluxcd.io/substitute: disabled", 1)}, "",
		},
		"Flux's own objects in the tree are those of its start": {
			map[string]string{"start/sync.yaml": kustomizationAt("platform", "./start", `  postBuild: {substituteFrom: [{kind: ConfigMap, name: infra-config}]}
`)}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for line := range strings.Lines(check(t, treetest.FS(test.tree), one())) {
				if !strings.Contains(line, ": note: of what every cluster is given") {
					got.WriteString(line)
				}
			}
			assert.Check(t, is.Equal(got.String(), test.want))
		})
	}
}

func TestWrongStart(t *testing.T) {
	got := check(t, treetest.FS(map[string]string{"starts/a.yaml": usesDomain}), one())
	assert.Check(t, is.Equal(got, `: error: gitops.path "start" is not a directory of the platform tree (cluster one); did you mean "starts"?`+"\n"))
}

// TestKeysOfClouds: a tree that clusters on several clouds have in common takes keys that all of
// them have, and is told which do not.
func TestKeysOfClouds(t *testing.T) {
	var both []published.Set
	for _, cloud := range []config.Cloud{
		{Provider: config.AWS, Region: "eu-central-1", Account: "111122223333"},
		{Provider: config.Azure, Region: "germanywestcentral", Account: "00000000-0000-4000-8000-000000000001", Tenant: "00000000-0000-4000-8000-00000000000a"},
	} {
		c := &config.Cluster{Name: string(cloud.Provider), Cloud: cloud, GitOps: config.GitOps{Engine: config.Flux, Path: "start"}}
		both = append(both, published.To(c, c))
	}
	tree := map[string]string{
		"start/a.yaml": kustomizationAt("a", "./user", strings.Replace(fromSettings, "settings", names.InfraConfig, 1)),
		"user/a.yaml":  strings.Replace(usesDomain, "${domain}", "${network_id} ${cluster_id} ${vpc_id}", 1),
		"user/b.yaml":  strings.NewReplacer("${domain}", "${tenant_id:=none}", "name: user", "name: other").Replace(usesDomain),
	}
	var got strings.Builder
	for line := range strings.Lines(check(t, treetest.FS(tree), both)) {
		if !strings.Contains(line, ": note: of what every cluster is given") {
			got.WriteString(line)
		}
	}
	assert.Check(t, is.Equal(got.String(), "tree/user/a.yaml:7:39: error: ${vpc_id} is not published: Kustomization flux-system/a stops at it (cluster azure); "+
		"only clusters on aws have vpc_id: take a key that clusters on every cloud have, such as cluster_id or network_id, or give it a default, ${vpc_id:=…}\n"))
}

// TestMeetingsWithFlux: a value of a release goes over the published one. It is
// said, and refused where the software needs what core has made.
func TestMeetingsWithFlux(t *testing.T) {
	full, err := config.Load("../clusters/full.yaml")
	assert.NilError(t, err)
	const loki, collector = "addons/loki/release.yaml", "addons/alloy/release.yaml"
	for name, test := range map[string]struct{ file, old, new, want string }{
		"a Loki elsewhere is the tree's alone": {
			collector, "http://loki-gateway.loki.svc.cluster.local/loki/api/v1/push", "https://loki.example.com/push", "",
		},
		"a label": {
			collector, "    global:\n      loki:\n", "    global:\n      loki:\n        labels:\n          cluster: another\n",
			"tree/addons/alloy/release.yaml:35:20: note: HelmRelease monitoring/alloy sets global.loki.labels.cluster, which bootstrap publishes too: the tree's value wins (cluster full)\n",
		},
		"a published value again": {
			collector, "    global:\n      loki:\n", "    global:\n      loki:\n        labels:\n          cluster: full\n", "",
		},
		"a role": {
			loki, "  values:\n", "  values:\n    serviceAccount:\n      annotations:\n        eks.amazonaws.com/role-arn: arn:aws:iam::111122223333:role/mine\n",
			"tree/addons/loki/release.yaml:33:37: error: HelmRelease loki/loki sets serviceAccount.annotations.eks.amazonaws.com/role-arn, which bootstrap publishes for what core has made: with the tree's value loki does not work (cluster full); remove it from the release's values\n",
		},
		"the name that a role is for": {
			loki, "  values:\n", "  values:\n    serviceAccount:\n      name: logs\n",
			"tree/addons/loki/release.yaml:32:13: error: HelmRelease loki/loki sets serviceAccount.name, which bootstrap publishes for what core has made: with the tree's value loki does not work (cluster full); remove it from the release's values\n",
		},
		"all of a service account": {
			loki, "  values:\n", "  values:\n    serviceAccount: null\n",
			"tree/addons/loki/release.yaml:31:21: error: HelmRelease loki/loki sets serviceAccount, which bootstrap publishes for what core has made: with the tree's value loki does not work (cluster full); remove it from the release's values\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := treetest.Copy(t, os.DirFS("../platform/flux"))
			clusters := []published.Set{published.To(full, full)}
			before := check(t, tree, clusters)
			seed(t, tree, test.file, test.old, test.new)
			assert.Equal(t, beyond(before, check(t, tree, clusters)), test.want)
		})
	}
}

// beyond are the lines of a check that another lacks.
func beyond(known, found string) string {
	var out strings.Builder
	for line := range strings.Lines(found) {
		if !strings.Contains(known, line) {
			out.WriteString(line)
		}
	}
	return out.String()
}

// TestMeetingsWithArgoCD: a published value goes over that of a values file, and a
// parameter over both.
func TestMeetingsWithArgoCD(t *testing.T) {
	const values, set, entry = "addons/loki/values.yaml", "addons/loki/applicationset.yaml", "app-of-apps/addons/loki.yaml"
	const retention = "loki.limits_config.retention_period"
	for name, test := range map[string]struct{ file, old, new, want string }{
		"a Loki elsewhere is the tree's alone": {
			"addons/promtail/values.yaml", "http://loki-gateway.loki.svc.cluster.local/loki/api/v1/push", "https://loki.example.com/push", "",
		},
		"a values file": {
			values, "loki:\n", "loki:\n  limits_config:\n    retention_period: 24h\n",
			"tree/addons/loki/values.yaml:4:5: warning: " + retention + " is published by bootstrap, whose value wins over that of a values file: this one has no effect (clusters apps, prod, sets); remove it, or set it in helm.parameters, which win\n",
		},
		"a role in a values file": {
			values, "deploymentMode", "serviceAccount:\n  annotations:\n    eks.amazonaws.com/role-arn: arn:aws:iam::111122223333:role/mine\ndeploymentMode",
			"tree/addons/loki/values.yaml:3:5: warning: serviceAccount.annotations.eks.amazonaws.com/role-arn is published by bootstrap, whose value wins over that of a values file: this one has no effect (clusters apps, prod, sets); remove it: the software needs what core has made\n",
		},
		"a parameter of an ApplicationSet": {
			set, "          helm:\n", "          helm:\n            parameters:\n              - name: " + retention + "\n                value: 24h\n",
			"tree/addons/loki/applicationset.yaml:29:23: note: an Application of ApplicationSet argocd/loki sets " + retention + ", which bootstrap publishes too: the tree's value wins (clusters prod, sets)\n",
		},
		"a role as a parameter": {
			set, "          helm:\n", "          helm:\n            parameters:\n              - name: serviceAccount.name\n                value: logs\n",
			"tree/addons/loki/applicationset.yaml:29:23: error: an Application of ApplicationSet argocd/loki sets serviceAccount.name, which bootstrap publishes for what core has made: with the tree's value the addon does not work (clusters prod, sets); remove the parameter\n",
		},
		"a parameter of the app of apps": {
			entry, "  published: true\n", "  published: true\n  parameters:\n    - name: " + retention + "\n      value: 24h\n",
			"tree/app-of-apps/addons/loki.yaml:10:13: note: Application argocd/apps-loki sets " + retention + ", which bootstrap publishes too: the tree's value wins (cluster apps)\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clusters := fleetOfAll(t, "clusters/prod")
			tree := treetest.Copy(t, os.DirFS("../platform/argocd"))
			seed(t, tree, test.file, test.old, test.new)
			assert.Equal(t, check(t, tree, clusters), test.want)
		})
	}
}
