package argocd

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/kube/kubetest"
)

func TestReaches(t *testing.T) {
	on := map[string]string{secretType: secretTypeCluster, "logging": "on"}
	for _, test := range []struct {
		name, generators string
		want, alone      bool
	}{
		{"its label", logging, true, true},
		{"another label", `[{clusters: {selector: {matchLabels: {logging: "off"}}}}]`, false, true},
		{"every cluster", `[{clusters: {}}]`, true, true},
		{"flattened", `[{clusters: {flatList: true}}]`, true, false},
		{"in a matrix", `[{matrix: {generators: [{git: {}}, {clusters: {}}]}}]`, true, false},
		{"in a merge in a matrix", `[{matrix: {generators: [{merge: {generators: [{clusters: {}}]}}]}}]`, true, false},
		{"a list", `[{list: {elements: [{name: a}]}}]`, false, false},
		{"filtered by parameters", `[{clusters: {}, selector: {matchLabels: {name: b}}}]`, false, false},
		{"an operator that nobody knows", `[{clusters: {selector: {matchExpressions: [{key: x, operator: Like}]}}}]`, false, true},
		{"none", `[]`, false, false},
	} {
		s := Set{kubetest.Object(t, set("s", test.generators, ""))}
		assert.Check(t, is.Equal(s.Reaches(on), test.want), "%s: reaches the cluster", test.name)
		assert.Check(t, is.Equal(s.ByClustersAlone(), test.alone), "%s: by clusters alone", test.name)
		assert.Check(t, !s.Reaches(map[string]string{"logging": "on"}), "%s: reaches what is no cluster", test.name)
	}
}

func TestParent(t *testing.T) {
	for metadata, want := range map[string]string{
		`, annotations: {argocd.argoproj.io/tracking-id: "root:argoproj.io/Application:argocd/x"}`:       "argocd/root",
		`, annotations: {argocd.argoproj.io/tracking-id: "teams_root:argoproj.io/Application:argocd/x"}`: "teams/root",
		`, annotations: {argocd.argoproj.io/tracking-id: "root:argoproj.io/Application:argocd/copied"}`:  "",
		`, labels: {app.kubernetes.io/instance: root}`:                                                   "argocd/root",
		"": "",
	} {
		assert.Check(t, is.Equal(Parent(kubetest.Object(t, application("x", metadata, ""))), want), "%s: declared by", metadata)
	}
}

func TestIsOf(t *testing.T) {
	hub, spoke := Cluster{Name: "mgmt", Server: InCluster}, Cluster{Name: "a", Server: "https://a.test"}
	for _, test := range []struct {
		metadata, destination string
		hub, spoke            bool
	}{
		{"", "name: a", false, true},
		{"", `server: "https://a.test/"`, false, true},
		{"", "name: in-cluster", true, false},
		{"", "server: " + InCluster, true, false},
		{", labels: {tombolo/cluster: a}", "server: " + InCluster, true, true},
		{"", `name: "", server: ""`, false, false},
	} {
		a := Application{kubetest.Object(t, application("x", test.metadata, test.destination))}
		assert.Check(t, a.IsOf(hub) == test.hub && a.IsOf(spoke) == test.spoke,
			"%s %s: of the hub %v, of the spoke %v", test.metadata, test.destination, a.IsOf(hub), a.IsOf(spoke))
	}
	assert.Check(t, !(Application{kubetest.Object(t, application("x", "", "name: b"))}).IsOf(Cluster{Name: "a"}),
		"a cluster without a server has every Application without one")
}
