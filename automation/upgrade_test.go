package automation

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/automation/clouds"
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
			p := UpgradePlan{Has: tt.has, To: tt.o.To, Terms: terms(config.AWS)}
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

// terms of a cloud.
func terms(p config.Provider) upgrade.Terms {
	return clouds.All().Of(&config.Cluster{Cloud: config.Cloud{Provider: p}}, nil).Terms()
}

// TestPlanDecidesOnAzure: AKS takes no control plane back.
func TestPlanDecidesOnAzure(t *testing.T) {
	has := upgrade.Versions{ControlPlane: "1.34", Nodes: "1.33"}
	for _, tt := range []struct {
		o    UpgradeOptions
		want string
	}{
		{UpgradeOptions{Rollback: true}, "demo: AKS takes no control plane back to an earlier version; make a new cluster in its place with `tombolo rebuild demo`"},
		{UpgradeOptions{To: "1.33"}, "demo: the control plane has 1.34, which is newer than 1.33; choose 1.34 or a newer one: AKS takes no control plane back"},
		{UpgradeOptions{To: "1.99"}, `demo: "1.99" is not a version that AKS and this program have`},
	} {
		p := UpgradePlan{Has: has, To: tt.o.To, Terms: terms(config.Azure)}
		assert.ErrorContains(t, p.decide(&config.Cluster{Name: "demo"}, tt.o), tt.want)
	}
	p := UpgradePlan{Has: has, To: "1.34", Terms: terms(config.Azure)}
	assert.NilError(t, p.decide(&config.Cluster{Name: "demo"}, UpgradeOptions{To: "1.34"}))
	assert.Equal(t, p.Steps[0].Phase, upgrade.NodeGroups)
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
