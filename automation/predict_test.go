package automation

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"gotest.tools/v3/assert"

	"tombolo/automation/pulumicli"
	"tombolo/stacks"
)

// unchangedBench is a bench with a cluster that is deployed, and that a preview
// finds nothing to change in.
func unchangedBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	for _, k := range stacks.Kinds() {
		name := stacks.Name("demo", k)
		state := deployed(name)
		b.cli.states[name] = state
		planned := state.Resources[2]
		planned.ID, planned.Outputs = "", nil
		b.cli.same[name] = planned
	}
	return b
}

// edit changes the state of bootstrap, or what its preview plans.
func (b *bench) edit(stack string, change func(state *apitype.DeploymentV3, planned *apitype.ResourceV3)) {
	state, planned := b.cli.states[stack], b.cli.same[stack]
	change(&state, &planned)
	b.cli.states[stack], b.cli.same[stack] = state, planned
}

func (b *bench) sorted() []string {
	ops := b.cli.operations()
	slices.Sort(ops)
	return ops
}

func TestUpLeavesAlone(t *testing.T) {
	b := unchangedBench(t)
	result := b.mustUp(t, demo(), UpOptions{})
	assert.DeepEqual(t, b.sorted(), []string{"preview demo-bootstrap", "preview demo-core"})
	for _, r := range result.Stacks {
		assert.Check(t, r.Operation == "up" && r.Changes["same"] == 3 && r.Changes.Total() == 0 && r.Outputs["vpcId"] == "vpc-1",
			"the result is %+v", r)
	}
	assert.Check(t, len(result.Stacks) == 2 && result.Stacks[0].Kind == stacks.Core, "results of %+v", result.Stacks)
	for _, want := range []string{"finished demo-core map[same:3] true", "finished demo-bootstrap map[same:3] true"} {
		assert.Check(t, slices.Contains(b.seen.lines, want), "the observer was not told %q but %q", want, b.seen.lines)
	}
}

// TestUpOfWhatOnlyThePlanShows: the engine calls all of these the same.
func TestUpOfWhatOnlyThePlanShows(t *testing.T) {
	for name, change := range map[string]func(*apitype.DeploymentV3, *apitype.ResourceV3){
		"protection":       func(_ *apitype.DeploymentV3, p *apitype.ResourceV3) { p.Protect = true },
		"a dependency":     func(_ *apitype.DeploymentV3, p *apitype.ResourceV3) { p.Dependencies = []resource.URN{"a"} },
		"retention":        func(s *apitype.DeploymentV3, _ *apitype.ResourceV3) { s.Resources[2].RetainOnDelete = true },
		"another provider": func(_ *apitype.DeploymentV3, p *apitype.ResourceV3) { p.Provider = "b" },
	} {
		t.Run(name, func(t *testing.T) {
			b := unchangedBench(t)
			b.edit("demo-bootstrap", change)
			b.mustUp(t, demo(), UpOptions{})
			want := []string{"preview demo-bootstrap", "preview demo-core", "up demo-bootstrap"}
			assert.Check(t, slices.Equal(b.sorted(), want), "operations %q, want %q", b.sorted(), want)
		})
	}
}

// TestUpDoesNotPredict what a preview cannot show.
func TestUpDoesNotPredict(t *testing.T) {
	for name, change := range map[string]func(*apitype.DeploymentV3){
		"an interrupted operation": func(s *apitype.DeploymentV3) {
			s.PendingOperations = []apitype.OperationV2{{Resource: s.Resources[2], Type: apitype.OperationTypeUpdating}}
		},
		"no outputs": func(s *apitype.DeploymentV3) { s.Resources[0].Outputs = nil },
		"a secret output": func(s *apitype.DeploymentV3) {
			s.Resources[0].Outputs["list"] = []any{map[string]any{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "x"}}
		},
		"no resources": func(s *apitype.DeploymentV3) { s.Resources = s.Resources[:1] },
	} {
		t.Run(name, func(t *testing.T) {
			b := unchangedBench(t)
			b.edit("demo-bootstrap", func(s *apitype.DeploymentV3, _ *apitype.ResourceV3) { change(s) })
			b.mustUp(t, demo(), UpOptions{})
			ops := slices.DeleteFunc(b.cli.operations(), func(op string) bool { return strings.HasPrefix(op, "refresh ") })
			want := []string{"up demo-core", "up demo-bootstrap"}
			assert.Check(t, slices.Equal(ops, want), "operations %q, want %q", ops, want)
		})
	}
}

func TestUpOfAFailedPreview(t *testing.T) {
	b := unchangedBench(t)
	b.cli.fail["preview demo-bootstrap"] = failure{stderr: "error: no such host"}
	result, err := b.Up(t.Context(), demo(), UpOptions{})
	var deployment *pulumicli.Error
	assert.Check(t, errors.As(err, &deployment) && strings.HasPrefix(err.Error(), "preview demo-bootstrap: no such host"),
		"error is %T: %v", err, err)
	core, ok := result.Stack(stacks.Core)
	assert.Check(t, ok && core.Changes["same"] == 3, "core's result is %+v", core)
}
