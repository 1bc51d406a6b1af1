package rollout

import (
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
)

func cluster(name string, wave int, hub string, labels map[string]string) *config.Cluster {
	c := &config.Cluster{Name: name, Environment: "dev", Wave: wave, Labels: labels}
	if hub != "" {
		c.GitOps = config.GitOps{Engine: config.ArgoCD, Hub: hub}
	}
	return c
}

func TestFilter(t *testing.T) {
	prod := cluster("prod", 2, "", map[string]string{"logging": "on"})
	prod.Environment = "prod"
	all := []*config.Cluster{
		cluster("a", 0, "", nil), cluster("b", 1, "", map[string]string{"logging": "on"}),
		cluster("c", 1, "", map[string]string{"logging": "off"}), prod,
	}
	for _, test := range []struct {
		selection Selection
		want      []string
	}{
		{Selection{All: true}, []string{"a", "b", "c", "prod"}},
		{Selection{Selector: "logging=on"}, []string{"b", "prod"}},
		{Selection{Selector: "logging!=on,environment=dev"}, []string{"a", "c"}},
		{Selection{Selector: "wave in (0, 2)"}, []string{"a", "prod"}},
		{Selection{Selector: "tombolo/cluster=c"}, []string{"c"}},
		{Selection{Selector: "logging"}, []string{"b", "c", "prod"}},
		{Selection{Waves: []int{1, 2}, Selector: "logging=on"}, []string{"b", "prod"}},
		{Selection{Waves: []int{9}}, nil},
	} {
		got, err := test.selection.Filter(all)
		assert.NilError(t, err)
		var names []string
		for _, c := range got {
			names = append(names, c.Name)
		}
		assert.Check(t, slices.Equal(names, test.want), "%s: got %v, want %v", test.selection, names, test.want)
	}
}

func TestSelectionCheck(t *testing.T) {
	for want, s := range map[string]Selection{
		"--all and a b: name clusters, or take all":                        {All: true, Names: []string{"a", "b"}},
		`selector "a==b==c": found '==', expected: ',' or 'end of string'`: {Selector: "a==b==c"},
	} {
		assert.Error(t, s.Check(), want)
	}
	assert.NilError(t, (Selection{Names: []string{"a"}, Selector: "a=b"}).Check())
}

func TestSelectionString(t *testing.T) {
	s := Selection{All: true, Selector: "a=b", Waves: []int{1, 2}}
	assert.Check(t, is.Equal(s.String(), "--all --selector a=b --wave 1 --wave 2"))
	assert.Check(t, (Selection{}).Empty() && !s.Empty() && !s.Everything() && (Selection{All: true}).Everything() && !(Selection{Names: []string{"a"}}).Everything(),
		"what is chosen is misjudged")
}

func TestJobs(t *testing.T) {
	all := []*config.Cluster{cluster("hub", 0, "hub", nil), cluster("spoke", 0, "hub", nil), cluster("flux", 1, "", nil), cluster("far", 1, "elsewhere", nil)}
	expected := func(name string) time.Duration { return time.Duration(len(name)) * time.Second }
	hubs := map[string]string{"spoke": "hub", "far": "elsewhere"}
	for order, want := range map[Order][]Job{
		Forward: {job("hub", 0, 3), job("spoke", 0, 5, "hub"), job("flux", 1, 4), job("far", 1, 3)},
		Reverse: {job("far", 1, 3), job("flux", 1, 4), job("spoke", 0, 5), job("hub", 0, 3, "spoke")},
		Free:    {job("hub", 0, 3), job("spoke", 0, 5), job("flux", 1, 4), job("far", 1, 3)},
	} {
		got := Jobs(all, order, expected)
		if !slices.EqualFunc(got, want, func(a, b Job) bool {
			return a.Cluster == b.Cluster && a.Wave == b.Wave && a.Hub == hubs[b.Cluster] && a.Expected == b.Expected && slices.Equal(a.After, b.After)
		}) {
			t.Errorf("%s: got %+v, want %+v", order, got, want)
		}
	}
}
