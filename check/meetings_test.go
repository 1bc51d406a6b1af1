package check

import (
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/check/published"
	"tombolo/check/tree/treetest"
	"tombolo/config"
)

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
