//go:build lab

package automation

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/approved"
	"tombolo/stacks"
	"tombolo/tests/tier"
)

// TestUpThatStraysWithTheRealCLI: the real engine takes a step in the up that no preview has shown. It is
// cancelled while it takes it; what comes after is not begun.
func TestUpThatStraysWithTheRealCLI(t *testing.T) {
	tier.Long(t, "the real engine is stopped at a step that nobody approved; the short tier has the driver's part of it")
	t.Parallel()
	strays := true
	d, _ := realBench(t, func(p *pulumi.Context) error {
		var before []pulumi.Resource
		for _, name := range []string{"planned", "stray", "last"} {
			if name == "stray" && (!strays || p.DryRun()) {
				continue
			}
			r := &pulumi.CustomResourceState{}
			if err := p.RegisterResource("aws:iam/role:Role", name, pulumi.Map{"name": pulumi.String(name)}, r, pulumi.DependsOn(before)); err != nil {
				return err
			}
			before = []pulumi.Resource{r}
		}
		return nil
	})
	c, attach := serveCloud(t)
	d.env["PULUMI_DEBUG_PROVIDERS"] = attach
	c.making = func(name string) {
		if name == "stray" {
			select {
			case <-c.cancelled: // by then the engine begins nothing more
			case <-time.After(time.Minute):
			}
		}
	}
	cluster := demo()
	cluster.File = filepath.Join(t.TempDir(), "demo.yaml")
	assert.NilError(t, os.WriteFile(cluster.File, []byte("version: 1\n"), 0o600))
	plan := func() *approved.Cluster {
		t.Helper()
		r, err := d.Preview(t.Context(), cluster, PreviewOptions{Plan: true})
		assert.NilError(t, err)
		return r.Plan
	}
	_, err := d.Up(t.Context(), cluster, UpOptions{Approved: plan()})
	refused := new(approved.Error)
	assert.Assert(t, errors.As(err, &refused), "%v", err)
	assert.Check(t, is.ErrorContains(err, "the up began to create aws:iam/role:Role stray, which is not in the plan; the up was cancelled"))
	assert.DeepEqual(t, c.creations, []string{"planned", "stray"})
	st, err := d.backend.State(t.Context(), stacks.Name(cluster.Name, stacks.Bootstrap))
	assert.Check(t, err == nil && st.Resources() == 0, "bootstrap was begun: %v", err)

	// What is there now is in the next plan, and with it in what is applied.
	strays = false
	_, err = d.Up(t.Context(), cluster, UpOptions{Approved: plan()})
	assert.NilError(t, err)
	assert.DeepEqual(t, c.creations, []string{"planned", "stray", "last", "planned", "last"})
	assert.DeepEqual(t, c.deleted, []string{"stray"})
}
