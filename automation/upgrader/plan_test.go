package upgrader

import (
	"errors"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/automation/fault"
	"tombolo/automation/upgrade"
	"tombolo/config"
)

var (
	eks = upgrade.Terms{Service: "EKS", Versions: []string{"1.33", "1.34", "1.35"}, RollbackDays: 7}
	aks = upgrade.Terms{Service: "AKS", Versions: []string{"1.33", "1.34", "1.35"}}
)

func TestPlanDecides(t *testing.T) {
	for _, tt := range []struct {
		name string
		has  upgrade.Versions
		o    Options
		want string // the error, or the last version
	}{
		{"up", upgrade.Versions{ControlPlane: "1.33", Nodes: "1.33"}, Options{To: "1.35"}, "1.35"},
		{"no such version", upgrade.Versions{ControlPlane: "1.33", Nodes: "1.33"}, Options{To: "1.99"}, `demo: "1.99" is not a version that EKS and this program have`},
		{"an older one", upgrade.Versions{ControlPlane: "1.35", Nodes: "1.35"}, Options{To: "1.34"}, "demo: the control plane has 1.35, which is newer than 1.34; within seven days"},
		{"back", upgrade.Versions{ControlPlane: "1.35", Nodes: "1.34"}, Options{Rollback: true}, "1.34"},
		{"back, named", upgrade.Versions{ControlPlane: "1.35", Nodes: "1.34"}, Options{Rollback: true, To: "1.34"}, "1.34"},
		{"too far back", upgrade.Versions{ControlPlane: "1.35", Nodes: "1.34"}, Options{Rollback: true, To: "1.33"}, "EKS takes it back to 1.34 only, not to 1.33; leave --to out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Plan{Has: tt.has, To: tt.o.To, Terms: eks}
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

// TestPlanDecidesOnAzure: AKS takes no control plane back.
func TestPlanDecidesOnAzure(t *testing.T) {
	has := upgrade.Versions{ControlPlane: "1.34", Nodes: "1.33"}
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{Rollback: true}, "demo: AKS takes no control plane back to an earlier version; make a new cluster in its place with `tombolo rebuild demo`"},
		{Options{To: "1.33"}, "demo: the control plane has 1.34, which is newer than 1.33; choose 1.34 or a newer one: AKS takes no control plane back"},
		{Options{To: "1.99"}, `demo: "1.99" is not a version that AKS and this program have`},
	} {
		p := Plan{Has: has, To: tt.o.To, Terms: aks}
		assert.ErrorContains(t, p.decide(&config.Cluster{Name: "demo"}, tt.o), tt.want)
	}
	p := Plan{Has: has, To: "1.34", Terms: aks}
	assert.NilError(t, p.decide(&config.Cluster{Name: "demo"}, Options{To: "1.34"}))
	assert.Equal(t, p.Steps[0].Phase, upgrade.NodeGroups)
}

// TestPlanGoesTogether: while AKS upgrades a cluster by itself, no node is held back.
func TestPlanGoesTogether(t *testing.T) {
	c := &config.Cluster{Name: "demo", Cloud: config.Cloud{Provider: config.Azure}}
	c.Kubernetes.Upgrades.Kubernetes = config.PatchUpgrades
	p := Plan{Has: upgrade.Versions{ControlPlane: "1.34", Nodes: "1.34"}, To: "1.35", Terms: aks}
	assert.ErrorContains(t, p.decide(c, Options{To: "1.35", HoldNodes: true}),
		"demo: AKS takes control plane and nodes on together with kubernetes.upgrades.kubernetes: patch; leave --hold-nodes out")
	assert.NilError(t, p.decide(c, Options{To: "1.35"}))
	assert.Equal(t, len(p.Steps), 1)
	assert.Equal(t, p.Steps[0].Phase, upgrade.Together)
	assert.Check(t, p.beginsWithControlPlane())
	c.Kubernetes.Upgrades.Kubernetes = config.NoUpgrades
	assert.NilError(t, p.decide(c, Options{To: "1.35", HoldNodes: true}))
	assert.Equal(t, p.Steps[0].Phase, upgrade.ControlPlane)
}

func TestRefuseOtherChanges(t *testing.T) {
	c := &config.Cluster{Name: "demo"}
	versions := config.Changes{{Path: "kubernetes.version", Effect: config.Impossible}, {Path: "kubernetes.nodeVersion"}}
	assert.NilError(t, refuseOtherChanges(c, versions), "the file may be ahead after a kill")
	err := refuseOtherChanges(c, append(versions, config.Change{Path: "network.nat"}))
	assert.ErrorContains(t, err, "differs from the live cluster in more than the version: network.nat; nothing was started: run `tombolo up demo` first")
}

// TestWaitsForWork: the first step alone waits for what a cloud has under way, where the cloud tells of
// it, unless the plan has asked and nothing is.
func TestWaitsForWork(t *testing.T) {
	tells := aks
	tells.TellsOfWork = true
	busy, free := upgrade.Insight{Name: "state", Status: upgrade.Warning, Busy: true}, upgrade.Insight{Name: "state", Status: upgrade.Passing}
	for _, tt := range []struct {
		name  string
		terms upgrade.Terms
		asked []upgrade.Insight
		step  int
		waits int
	}{
		{"at work", tells, []upgrade.Insight{free, busy}, 0, 1},
		{"nothing under way", tells, []upgrade.Insight{free}, 0, 0},
		{"the plan has not asked: nodes go first", tells, nil, 0, 1},
		{"a later step", tells, []upgrade.Insight{busy}, 1, 0},
		{"a cloud that does not tell", eks, nil, 0, 0},
	} {
		waits := Upgrader{}.settle(&config.Cluster{Name: "demo"}, Plan{Terms: tt.terms, Insights: tt.asked}, tt.step, Options{})
		assert.Equal(t, len(waits), tt.waits, tt.name)
	}
}
