package graph

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"gotest.tools/v3/golden"

	"tombolo/config"
	"tombolo/internal/cli/clitest"
	"tombolo/internal/cli/factory"
	"tombolo/internal/cli/streams"
	"tombolo/internal/render"
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

func TestSVG(t *testing.T) {
	golden.Assert(t, arrange(some()).svg(), "fleet.svg")
}

// TestOrderDoesNotMatter: the same clusters give the same drawing.
func TestOrderDoesNotMatter(t *testing.T) {
	all := some()
	want := arrange(all).svg() + arrange(all).mermaid()
	for range all {
		all = append(all[1:], all[0])
		if got := arrange(all).svg() + arrange(all).mermaid(); got != want {
			t.Fatalf("another order of the clusters gives another drawing: %s", cmp.Diff(want, got))
		}
	}
}

// TestSVGStaysInside draws many clusters: the picture is well formed, no two
// boxes share a place, and nothing is outside.
func TestSVGStaysInside(t *testing.T) {
	var many []*config.Cluster
	many = append(many, cluster("hub-with-a-name-that-is-rather-long-for-a-cluster", "prod", 0, "hub-with-a-name-that-is-rather-long-for-a-cluster"))
	for i := range 60 {
		many = append(many, cluster(fmt.Sprintf("c%02d", i), "prod", i/25, many[0].Name))
	}
	f := arrange(many)
	decoder := xml.NewDecoder(strings.NewReader(f.svg()))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is not well formed: %v", err)
		}
	}
	d := f.place()
	places := map[string]string{}
	for _, b := range d.boxes {
		at := fmt.Sprintf("%.0f/%.0f", b.x, b.y)
		if other, taken := places[at]; taken {
			t.Errorf("%s and %s are at the same place", other, b.Name)
		}
		places[at] = b.Name
		if b.x+d.boxWidth > d.width || b.y+boxHeight > d.height {
			t.Errorf("%s is outside the picture", b.Name)
		}
		if float64(len(b.Name))*letterWidth > d.boxWidth {
			t.Errorf("%s is wider than its box of %.0f", b.Name, d.boxWidth)
		}
	}
	assert.Check(t, len(d.boxes) == len(many), "%d boxes are drawn of %d clusters", len(d.boxes), len(many))
}

// TestHubElsewhere: a hub that is not among the clusters is named, and no arrow
// comes from nowhere.
func TestHubElsewhere(t *testing.T) {
	f := arrange([]*config.Cluster{cluster("shop", "prod", 1, "mgmt")})
	for format, got := range map[string]string{"mermaid": f.mermaid(), "svg": f.svg()} {
		assert.Check(t, strings.Contains(got, "argocd of mgmt"), "%s: the hub is not named in %s", format, got)
		if strings.Contains(got, "runs") && strings.Contains(got, "c_mgmt") || strings.Contains(got, "mgmt runs") {
			t.Errorf("%s: there is an arrow from a hub that is not drawn: %s", format, got)
		}
	}
}

func run(t *testing.T, output render.Format, args ...string) (string, error) {
	t.Helper()
	root := clitest.Project(t, map[string]string{"demo": clitest.ClusterFile("demo", "dev", 0)})
	s, _, out, _ := streams.Test()
	cmd := NewCmdGraph(&factory.Factory{Streams: s, Globals: &factory.Globals{Output: output, Root: root}, Dir: root}, nil)
	err := clitest.Execute(t, cmd, args...)
	return out.String(), err
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		output render.Format
		args   []string
		want   string
	}{
		{render.Text, nil, "flowchart LR\n  subgraph wave0"},
		{render.Text, []string{"--format", "svg", "demo"}, "<svg xmlns="},
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
	_, err := run(t, render.Text, "--format", "png")
	assert.Check(t, is.Error(err, `invalid argument "png" for "--format" flag: must be one of: mermaid, svg`))
	_, err = run(t, render.Text, "--wave", "7")
	assert.Check(t, is.Error(err, "no cluster matches --wave 7; `tombolo list` shows the clusters; their labels are in their files"))
	if _, err = run(t, render.Text, "other"); err == nil || !strings.Contains(err.Error(), `cluster "other" is not known`) {
		t.Errorf("got %v", err)
	}
}

// failing is a pipe whose reader is gone.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestWriteFails(t *testing.T) {
	s, _, _, _ := streams.Test()
	s.Out = failing{}
	o := &Options{Out: s.Out, JSON: func() bool { return false }, Format: Mermaid}
	o.Clusters = func([]string) ([]*config.Cluster, error) { return some(), nil }
	if err := graphRun(t.Context(), o); err == nil || err.Error() != "writing the graph: broken pipe" {
		t.Errorf("got %v", err)
	}
}
