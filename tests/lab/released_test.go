//go:build lab

package lab

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"tombolo/automation/plugins"
	"tombolo/tests/tier"
)

// TestReleasedEKS makes one cluster with the EKS plugin that the other tests have,
// and with the versions that its release has in it, which is what users get: core
// has the same resources with the same inputs, but for what is in
// releasedDifferences, and a second up changes nothing.
func TestReleasedEKS(t *testing.T) {
	tier.Long(t, "the EKS plugin as it is released, whose tools the short tier does not build", releasedPlugin())
	p := newProject(t)
	states := map[string]map[string]string{}
	for build, other := range map[string]string{"pinned": "released", "released": "pinned"} {
		p.must(t, "lab", "up", "--profile", "light", "--eks", build)
		p.up(t, "demo").created(t)
		p.up(t, "demo").unchanged(t)
		states[build] = p.inputs(t)
		if build == "released" {
			p.asksAreKnown(t)
		}
		o := p.run(t, "lab", "up", "--eks", other)
		if o.code != 4 || !strings.Contains(o.stderr, "the lab's is "+build) {
			t.Errorf("another EKS plugin: exit code %d\n%s", o.code, o.stderr)
		}
		p.must(t, "destroy", "demo", "--yes")
		p.must(t, "lab", "down")
	}
	if diff := cmp.Diff(states["pinned"], states["released"]); diff != "" {
		t.Errorf("with the released EKS plugin (-pinned +released):\n%s", diff)
	}
}

// releasedDifferences are what may differ between the two: by type, what is replaced
// before they are compared. The component makes a provider of Kubernetes, in the
// version of its SDK; and the older SDK of Pulumi keeps no inputs of a component itself
// in the state.
var releasedDifferences = map[string]*regexp.Regexp{
	"eks:index:Cluster":           regexp.MustCompile(`^.+$`),
	"aws:eks/nodeGroup:NodeGroup": regexp.MustCompile(`"nodeGroupName":"[a-z-]+-[0-9a-f]{8}"`), // of the subnets' ids, among others
	"pulumi:providers:kubernetes": regexp.MustCompile(`"version":"4\.(15|25)\.0"`),
}

// renewed are values that are new in each lab: ids, ends of names, ports, keys and
// certificates, and the owner.
var renewed = regexp.MustCompile(`-[0-9a-f]{7}\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[0-9a-f]{17}\b|` +
	`127\.0\.0\.1:\d+|[A-Za-z0-9+/]{100,}=*|\b[a-z2-7]{26}\b|\b[0-9A-F]{32}\b|\b[0-9a-f]{40}\b`)

// state is one resource in a stack's state.
type state struct {
	URN, Type string
	Inputs    json.RawMessage
}

// inputs are those of every resource of core, by its URN.
func (p project) inputs(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, r := range p.states(t, "demo-core") {
		compact, err := json.Marshal(r.Inputs)
		assert.NilError(t, err)
		text := renewed.ReplaceAllString(string(compact), "*")
		if differs := releasedDifferences[r.Type]; differs != nil {
			text = differs.ReplaceAllString(text, "*")
		}
		out[renewed.ReplaceAllString(r.URN, "*")] = text
	}
	if len(out) < 40 {
		t.Fatalf("core has %d resources, too few to show anything", len(out))
	}
	return out
}

func (p project) states(t *testing.T, stack string) []state {
	t.Helper()
	var all struct{ Deployment struct{ Resources []state } }
	decode(t, p.mustTool(t, "pulumi", "stack", "export", "--stack", stack), &all)
	return all.Deployment.Resources
}

// asksAreKnown: the providers that both stacks have are those that `tombolo plugins
// install` and doctor know of, and the older Kubernetes plugin is one.
func (p project) asksAreKnown(t *testing.T) {
	t.Helper()
	info, err := buildinfo.ReadFile(p.tombolo)
	assert.NilError(t, err)
	onAWS := func(name string) bool { return name != "azure-native" }
	needed, err := plugins.Needed(info, "", onAWS)
	assert.NilError(t, err)
	var known, asked []string
	for _, n := range needed {
		known = append(known, n.String())
	}
	for _, r := range append(p.states(t, "demo-core"), p.states(t, "demo-bootstrap")...) {
		var inputs struct{ Version string }
		name, isProvider := strings.CutPrefix(r.Type, "pulumi:providers:")
		if !isProvider || name == "pulumi" {
			continue
		}
		assert.NilError(t, json.Unmarshal(r.Inputs, &inputs))
		if one := name + " " + inputs.Version; !slices.Contains(asked, one) {
			asked = append(asked, one)
		}
	}
	slices.Sort(known)
	slices.Sort(asked)
	assert.DeepEqual(t, asked, known)
}

// releasedPlugin is which build of the released plugin there is, an input of TestReleasedEKS
// alone; "" where there is none.
func releasedPlugin() string {
	build, _ := os.Readlink("../../.tools/plugins-released")
	return build
}
