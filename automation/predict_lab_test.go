//go:build lab

package automation

import (
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"

	"tombolo/tests/tier"
)

// started are the operations that the observer was told of since the last call,
// sorted: two at the same time have no order.
func (w *witness) started() []string {
	var out []string
	for _, line := range w.lines {
		if len(line) > 8 && line[:8] == "started " {
			out = append(out, line[8:])
		}
	}
	w.lines = nil
	slices.Sort(out)
	return out
}

// TestUnchangedWithTheRealCLI: an up that changes nothing is two previews, and
// what only the state shows is a change.
func TestUnchangedWithTheRealCLI(t *testing.T) {
	tier.Short(t, "an up that changes nothing is two previews with the real CLI")
	t.Parallel()
	output, protect := "first", false
	d, seen := realBench(t, func(p *pulumi.Context) error {
		var r pulumi.CustomResourceState
		err := p.RegisterResource("aws:iam/role:Role", "one", pulumi.Map{"name": pulumi.String("one")}, &r, pulumi.Protect(protect))
		p.Export("output", pulumi.String(output))
		return err
	})
	_, attach := serveCloud(t)
	d.env["PULUMI_DEBUG_PROVIDERS"] = attach
	up := func(want ...string) {
		t.Helper()
		result, err := d.Up(t.Context(), demo(), UpOptions{Force: true})
		assert.NilError(t, err)
		got := seen.started()
		assert.Check(t, slices.Equal(got, want), "it did %q, want %q", got, want)
		for _, r := range result.Stacks {
			assert.Check(t, r.Outputs["output"] == output, "outputs of %s are %v, want %s", r.Stack, r.Outputs, output)
		}
	}
	made := []string{"up demo-bootstrap", "up demo-core"}
	same := []string{"preview demo-bootstrap", "preview demo-core"}
	up(made...)
	up(same...)
	output = "second"
	// What core is to change, bootstrap's preview is given up for.
	changed := []string{"preview demo-core", "up demo-bootstrap", "up demo-core"}
	up(changed...)
	up(same...)
	protect = true
	up(changed...)
	up(same...)
	st, err := d.backend.State(t.Context(), "demo-core")
	assert.Check(t, err == nil && len(st.Deployment.Resources) == 3 && st.Deployment.Resources[2].Protect,
		"the state has %+v, error %v", st, err)
}
