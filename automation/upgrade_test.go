package automation

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/automation/fault"
	"tombolo/automation/upgrade"
	"tombolo/config"
)

func TestPlanDecides(t *testing.T) {
	for _, tt := range []struct {
		name string
		has  upgrade.Versions
		o    UpgradeOptions
		want string // the error, or the last version
	}{
		{"up", upgrade.Versions{ControlPlane: "1.33", Nodes: "1.33"}, UpgradeOptions{To: "1.35"}, "1.35"},
		{"no such version", upgrade.Versions{ControlPlane: "1.33", Nodes: "1.33"}, UpgradeOptions{To: "1.99"}, `demo: "1.99" is not a version that EKS and this program have`},
		{"an older one", upgrade.Versions{ControlPlane: "1.35", Nodes: "1.35"}, UpgradeOptions{To: "1.34"}, "demo: the control plane has 1.35, which is newer than 1.34; within seven days"},
		{"back", upgrade.Versions{ControlPlane: "1.35", Nodes: "1.34"}, UpgradeOptions{Rollback: true}, "1.34"},
		{"back, named", upgrade.Versions{ControlPlane: "1.35", Nodes: "1.34"}, UpgradeOptions{Rollback: true, To: "1.34"}, "1.34"},
		{"too far back", upgrade.Versions{ControlPlane: "1.35", Nodes: "1.34"}, UpgradeOptions{Rollback: true, To: "1.33"}, "EKS takes it back to 1.34 only, not to 1.33; leave --to out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := UpgradePlan{Has: tt.has, To: tt.o.To}
			err := p.decide(&config.Cluster{Name: "demo"}, tt.o)
			if err == nil {
				assert.Equal(t, p.Steps[len(p.Steps)-1].File.ControlPlane, tt.want)
				assert.Equal(t, p.To, tt.want)
				return
			}
			var f *fault.Error
			assert.Assert(t, errors.As(err, &f) && f.Class == fault.Usage)
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

func TestRefuseOtherChanges(t *testing.T) {
	c := &config.Cluster{Name: "demo"}
	versions := config.Changes{{Path: "kubernetes.version", Effect: config.Impossible}, {Path: "kubernetes.nodeVersion"}}
	assert.NilError(t, refuseOtherChanges(c, versions), "the file may be ahead after a kill")
	err := refuseOtherChanges(c, append(versions, config.Change{Path: "network.nat"}))
	assert.ErrorContains(t, err, "differs from the live cluster in more than the version: network.nat; nothing was started: run `tombolo up demo` first")
}

// TestPlanUpgradeOfNothing: a cluster that does not live is made with its version.
func TestPlanUpgradeOfNothing(t *testing.T) {
	b := newBench(t)
	_, err := b.PlanUpgrade(t.Context(), demo(), UpgradeOptions{To: "1.35"})
	assert.ErrorContains(t, err, "is not deployed; deploy it with `tombolo up")
}

// TestUpgradeWithoutSteps has the file follow the cluster.
func TestUpgradeWithoutSteps(t *testing.T) {
	file := filepath.Join(t.TempDir(), "demo.yaml")
	text, err := os.ReadFile("../config/testdata/base.yaml")
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(file, text, 0o600))
	c, err := config.Load(file)
	assert.NilError(t, err)
	p := UpgradePlan{Has: upgrade.Versions{ControlPlane: "1.36", Nodes: "1.35"}}
	assert.NilError(t, (&Driver{}).Upgrade(t.Context(), c, p, UpgradeOptions{}))
	now, err := config.Load(file)
	assert.NilError(t, err)
	assert.Equal(t, now.Kubernetes.Version+" "+now.Kubernetes.NodeVersion, "1.36 1.35")
	assert.Equal(t, c.Kubernetes.Version, "1.35", "the caller's cluster is its own")
}
