package graph

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"

	"tombolo/cmd/tombolo/cli/clitest"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

func cluster(name, environment string, wave int, hub string) *config.Cluster {
	c := &config.Cluster{Name: name, Environment: environment, Wave: wave}
	c.Cloud.Region = "eu-central-1"
	c.GitOps.Engine = config.Flux
	if hub != "" {
		c.GitOps.Engine, c.GitOps.Hub = config.ArgoCD, hub
	}
	return c
}

// some are a hub with spokes in its own wave and in another, two that stand
// alone, and one with a word of Mermaid's as its name.
func some() []*config.Cluster {
	return []*config.Cluster{
		cluster("mgmt", "prod", 0, "mgmt"),
		cluster("build", "dev", 0, ""),
		cluster("spoke-near", "dev", 0, "mgmt"),
		cluster("shop-eu", "prod", 2, "mgmt"),
		cluster("shop-us", "prod", 2, "mgmt"),
		cluster("end", "staging", 1, ""),
	}
}

func TestMermaid(t *testing.T) {
	golden.Assert(t, arrange(some()).mermaid(), "fleet.mmd")
}

// TestOrderDoesNotMatter: the same clusters give the same drawing.
func TestOrderDoesNotMatter(t *testing.T) {
	all := some()
	want := arrange(all).mermaid()
	for range all {
		all = append(all[1:], all[0])
		if got := arrange(all).mermaid(); got != want {
			t.Fatalf("another order of the clusters gives another drawing: %s", cmp.Diff(want, got))
		}
	}
}

// TestHubElsewhere: a hub that is not among the clusters is named, and no arrow
// comes from nowhere.
func TestHubElsewhere(t *testing.T) {
	f := arrange([]*config.Cluster{cluster("shop", "prod", 1, "mgmt")})
	got := f.mermaid()
	assert.Check(t, strings.Contains(got, "argocd of mgmt"), "the hub is not named in %s", got)
	assert.Check(t, !strings.Contains(got, "c_mgmt"), "there is an arrow from a hub that is not drawn: %s", got)
}

func run(t *testing.T, output render.Format, args ...string) (string, error) {
	t.Helper()
	root := clitest.Project(t, map[string]string{"demo": clitest.ClusterFile("demo", "dev", 0)})
	f := clitest.At(root, output)
	err := clitest.Execute(t, NewCmdGraph(f.Factory), args...)
	return f.Out.String(), err
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		output render.Format
		args   []string
		want   string
	}{
		{render.Text, nil, "flowchart LR\n  subgraph wave0"},
		{render.Text, []string{"demo"}, "flowchart LR\n  subgraph wave0"},
		{render.Text, []string{"--wave", "0", "--selector", "environment=dev"}, "flowchart LR\n  subgraph wave0"},
		{
			render.JSON, nil,
			`{"type":"graph","clusters":[{"cluster":"demo","wave":0,"environment":"dev","region":"eu-central-1",` +
				`"engine":"flux","stacks":["demo-core","demo-bootstrap"]}]}`,
		},
	} {
		got, err := run(t, c.output, c.args...)
		if err != nil || !strings.HasPrefix(got, c.want) {
			t.Errorf("%v: got %s, %v; want %s", c.args, got, err, c.want)
		}
	}
}

func TestCommandRefuses(t *testing.T) {
	_, err := run(t, render.Text, "--wave", "7")
	assert.Check(t, is.Error(err, "no cluster matches --wave 7; `tombolo list` shows the clusters; their labels are in their files"))
	if _, err = run(t, render.Text, "other"); err == nil || !strings.Contains(err.Error(), `cluster "other" is not known`) {
		t.Errorf("got %v", err)
	}
}

// failing is a pipe whose reader is gone.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestWriteFails(t *testing.T) {
	o := &Options{Base: factory.Base{Out: failing{}, JSON: func() bool { return false }}}
	o.Clusters = clitest.Clusters(some()...)
	if err := graphRun(o); err == nil || err.Error() != "writing the graph: broken pipe" {
		t.Errorf("got %v", err)
	}
}
