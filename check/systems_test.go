package check

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"

	"tombolo/check/published"
	"tombolo/check/tree/treetest"
	"tombolo/config"
)

const (
	channels = "clusters/teams/systems/channels.yaml"
	shop     = "systems/shop.yaml"
)

// systemFaults are seeded into the reference tree's systems, one at a time.
var systemFaults = []struct{ name, file, old, new string }{
	{"name of the platform", shop, "name: shop\n  namespace: systems", "name: monitoring\n  namespace: systems"},
	{"namespace of another name", shop, "name: shop\n  labels", "name: shopp\n  labels"},
	{"label of another system", shop, "tombolo/system: shop", "tombolo/system: blog"},
	{"no label", shop, "  labels:\n    tombolo/system: shop\n", ""},
	{"namespace without a release", shop, "  namespace: systems", "  namespace: default"},
	{"release in the namespace of another", shop, "spec:\n  values", "spec:\n  targetNamespace: blog\n  values"},
	{"release of another name", shop, "spec:\n  values", "spec:\n  releaseName: blog\n  values"},
	{"release by another account", shop, "spec:\n  values", "spec:\n  serviceAccountName: admin\n  values"},
	{"release on another cluster", shop, "spec:\n  values", "spec:\n  kubeConfig: {secretRef: {name: other}}\n  values"},
	{"release that is changed", shop, "spec:\n  values", "spec:\n  postRenderers: [{kustomize: {}}]\n  values"},
	{"value misspelt", shop, "path: ./deploy", "pth: ./deploy"},
	{"value of a wrong type", shop, "team: sellers", "suspend: sometimes\n    team: sellers"},
	{"channel of an unknown type", shop, "type: slack", "type: slak"},
	{"team missing", shop, "    team: sellers\n", ""},
	{"group of the system itself", shop, "group: sellers", "group: system:masters"},
	{"group of another team", shop, "group: sellers", "group: editors"},
	{"repository without a scheme", shop, "url: http://git", "url: git"},
	{"credentials in the address", shop, "url: http://git", "url: https://me:secret@git"},
	{"credentials in clear", shop, "path: ./deploy", "secret: channel\n      path: ./deploy"},
	{"directory of another system", shop, "lab.test/shop.git", "lab.test/blog.git"},
	{"host of another team", shop, "    tombolo/system: shop\n", "    tombolo/system: shop\n  annotations:\n    tombolo/hosts: \"shop.example.com *.lab.test\"\n"},
	{"host of the platform", shop, "    tombolo/system: shop\n", "    tombolo/system: shop\n  annotations:\n    tombolo/hosts: grafana.teams.test\n"},
	{"host that is none", shop, "    tombolo/system: shop\n", "    tombolo/system: shop\n  annotations:\n    tombolo/hosts: shop_1\n"},
	{"connections to the platform", shop, "    team: sellers\n", "    team: sellers\n    allowTo: [{namespace: blog}, {namespace: loki}]\n"},
	{"connections to the node", shop, "    team: sellers\n", "    team: sellers\n    allowTo: [{cidr: 169.254.0.0/16, ports: [80]}]\n"},
	{"connections to no range", shop, "    team: sellers\n", "    team: sellers\n    allowTo: [{cidr: 10.60.3.4/16}]\n"},
	{"connections to no port", shop, "    team: sellers\n", "    team: sellers\n    allowTo: [{cidr: 10.60.0.0/16, ports: [0]}]\n"},
	{"connections to whom", shop, "    team: sellers\n", "    team: sellers\n    allowTo: [{namespace: blog, cidr: 10.60.0.0/16}]\n"},
	{"connections in no list", shop, "    team: sellers\n", "    team: sellers\n    allowTo: internet\n"},
	{"secret that nothing makes", shop, "secret: channel", "secret: chanel"},
	{"retired connector", channels, "http://inbox.lab.test/blog", "https://company.webhook.office.com/webhookb2/1"},
	{"address in clear", channels, "http://inbox.lab.test/shop", "https://hooks.slack.com/services/1"},
	{"address in clear in base64", channels, "stringData:\n  address: http://inbox.lab.test/shop", "data:\n  address: aHR0cHM6Ly9ob29rcy5zbGFjay5jb20vc2VydmljZXMvMQ=="},
}

func teams(t *testing.T) []published.Set {
	t.Helper()
	c, err := config.Load("../clusters/teams.yaml")
	assert.NilError(t, err)
	set := published.To(c, c)
	set.File = "clusters/teams.yaml"
	set.Pages["grafana.teams.test"] = "kube-prometheus-stack"
	return []published.Set{set}
}

// checkTeams is what the check finds, but for the note of what the tree leaves unused.
func checkTeams(t *testing.T, tree fs.FS) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(check(t, tree, teams(t))) {
		if !strings.Contains(line, ": note: of what every cluster is given") {
			out.WriteString(line)
		}
	}
	return out.String()
}

func TestSystems(t *testing.T) {
	assert.Check(t, is.Equal(checkTeams(t, os.DirFS("../platform/flux")), ""))
	for _, f := range systemFaults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			tree := treetest.Copy(t, os.DirFS("../platform/flux"))
			seed(t, tree, f.file, f.old, f.new)
			found := checkTeams(t, tree)
			assert.Check(t, found != "", "nothing is found")
			golden.Assert(t, found, "golden/systems-"+strings.ReplaceAll(f.name, " ", "-")+".golden")
		})
	}
}

// TestManySystems: two hundred are as right as three are, and one that is wrong is found
// among them.
func TestManySystems(t *testing.T) {
	tree, err := treetest.Systems(os.DirFS("../platform/flux"), 200)
	assert.NilError(t, err)
	assert.Check(t, is.Equal(checkTeams(t, tree), ""))
	seed(t, tree, "systems/team-117.yaml", "group: team-117", "group: team-042")
	want := "systems/team-117.yaml:16:12: error: system team-117: the group team-042 is that of system team-042, too"
	assert.Check(t, is.Contains(checkTeams(t, tree), want))
}
