package automation

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/automation/upgrade"
	"tombolo/config"
)

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
