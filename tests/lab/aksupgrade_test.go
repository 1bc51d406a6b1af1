//go:build lab

package lab

import (
	"fmt"
	"maps"
	"path"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/azure/keyvault"
	"tombolo/tests/tier"
)

// TestUpgradeOnAKS takes a cluster of three node pools over three minor versions of Kubernetes, at
// a speed at which a kill meets AKS at work: over the first with long-term support, the control plane
// ahead of the nodes, and over two while AKS upgrades patches by itself, both together. The
// profile is light: no engine has to run for it. Its parts build on each other.
func TestUpgradeOnAKS(t *testing.T) {
	tier.Long(t, "three minor versions on AKS, at a speed at which a kill meets AKS at work")
	p := newProject(t)
	p.env = append(p.env, "TOMBOLO_LAB_LATENCY=0.02") // an update of a pool takes two and a half seconds
	p.edit(t, aksFile, aksKubernetes, `  version: "1.33"
  tier: premium
  support: extended
  upgrades: {kubernetes: none}
  secretsEncryption: {keyId: "`+keyvault.TeamKeyID+`", vault: `+keyvault.TeamVaultID+`}
`)
	p.edit(t, aksFile, "\naddons:\n", aksThirdPool+"\naddons:\n")
	p.must(t, "lab", "up", "--profile", "light")
	p.aksMade(t)
	inOrder(t, p, []step[project]{
		{"the control plane goes ahead of its pools", project.aksPlaneAhead},
		{"a kill while the pools follow, and again", project.aksKilledApart},
		{"the cluster leaves long-term support, has another key, and AKS upgrades patches by itself", project.aksFollowsPatches},
		{"a kill in the middle of two minors, all together, and again", project.aksKilledTogether},
		destroyStep[project]("aks", "--leftovers", "delete"), // Loki's account
	})
}

const (
	aksFile       = "clusters/aks.yaml"
	aksKubernetes = "  version: \"1.35\"\n"
	// aksThirdPool has spot capacity, which AKS marks by itself.
	aksThirdPool = `    - name: batch
      vmSize: Standard_D4s_v5
      capacity: spot
      size: {min: 1, max: 3}
`
	aksPool = "azure-native:containerservice/v20240901:AgentPool"
	ofAKS   = "kubernetes.azure.com/agentpool"
)

// aksMade makes the cluster. At this speed AKS may be asked for it before the roles count that its
// identity has got: the same command goes on.
func (p project) aksMade(t *testing.T) {
	t.Helper()
	eventually(t, func() (bool, string) {
		o := p.run(t, "up", "aks", "--yes")
		if o.code != 0 {
			assert.Assert(t, is.Contains(o.stderr, "has reached Azure"))
		}
		return o.code == 0, o.stderr
	})
}

// aksRecord is what the stand-in holds of a cluster or a pool of one.
type aksRecord struct {
	record
	Status string
}

// aksRecords are the cluster and its pools, by their names.
func (p project) aksRecords(t *testing.T) (cluster aksRecord, pools map[string]aksRecord) {
	t.Helper()
	pools = map[string]aksRecord{}
	for file, text := range p.azureRecords(t) {
		if !strings.Contains(file, "ManagedCluster") && !strings.Contains(file, "AgentPool") {
			continue
		}
		var r aksRecord
		decode(t, text, &r)
		switch r.Type {
		case aksCluster:
			cluster = r
		case aksPool:
			pools[path.Base(r.ID)] = r
		}
	}
	return cluster, pools
}

// aksHas asserts the minor versions of the control plane, of all pools and of their nodes, and
// what the file says.
func (p project) aksHas(t *testing.T, plane, nodes string) {
	t.Helper()
	cluster, pools := p.aksRecords(t)
	minor := func(r aksRecord, key string) string {
		parts := strings.Split(fmt.Sprint(r.Outputs[key]), ".")
		return strings.Join(parts[:min(2, len(parts))], ".")
	}
	assert.Check(t, is.Equal(minor(cluster, "currentKubernetesVersion"), plane))
	want := map[string][]string{}
	for name, pool := range pools {
		assert.Check(t, is.Equal(minor(pool, "currentOrchestratorVersion"), nodes), name)
		assert.Check(t, pool.Status == "" || pool.Status == "ACTIVE", "%s is %s", name, pool.Status)
		want[name] = []string{nodes}
	}
	want["system"] = []string{nodes, nodes}
	assert.Check(t, is.Len(pools, 3))
	assert.Check(t, is.DeepEqual(p.kubelets(t, "aks", ofAKS), want))
	text := p.read(t, aksFile)
	assert.Check(t, is.Contains(text, fmt.Sprintf("  version: %q\n", plane)))
	assert.Check(t, is.Equal(strings.Contains(text, fmt.Sprintf("  nodeVersion: %q\n", nodes)), nodes != plane))
}

func (p project) aksPlaneAhead(t *testing.T) {
	args := []string{"upgrade", "aks", "--to", "1.34", "--hold-nodes", "--no-gate", "--accept", "untested-engine", "--yes"}
	before := p.kubectl(t, "aks", "get", "nodes", "-o", "jsonpath={.items[*].metadata.uid}")
	p.aksKilledAt(t, "the cluster", args...)
	assert.Check(t, is.Contains(p.read(t, aksFile), "  version: \"1.34\"\n  nodeVersion: \"1.33\"\n"), "the file says what was under way")
	p.must(t, args...)
	p.aksHas(t, "1.34", "1.33")
	assert.Equal(t, p.kubectl(t, "aks", "get", "nodes", "-o", "jsonpath={.items[*].metadata.uid}"), before)
	p.unchanged(t, "aks")
}

// aksKilledAt begins an upgrade, and kills it and the Pulumi CLI when one of the pools is at work.
func (p project) aksKilledAt(t *testing.T, pool string, args ...string) {
	t.Helper()
	cmd, out := p.start(t, args...)
	eventually(t, func() (bool, string) {
		cluster, pools := p.aksRecords(t)
		states := map[string]string{"the cluster": cluster.Status}
		for name, r := range pools {
			states[name] = r.Status
		}
		return states[pool] == "UPDATING", fmt.Sprintf("%s is not at work: %v\n%s", pool, maps.All(states), out.String())
	})
	killAll(t, cmd, p)
}

func (p project) aksKilledApart(t *testing.T) {
	args := []string{"upgrade", "aks", "--to", "1.34", "--no-gate", "--yes"}
	p.aksKilledAt(t, "the cluster", args...)
	p.aksKilledAt(t, "batch", args...)
	p.run(t, args...).ends(t, 0, "node groups to 1.34, in")
	p.aksHas(t, "1.34", "1.34")
	p.unchanged(t, "aks")
}

func (p project) aksFollowsPatches(t *testing.T) {
	p.edit(t, aksFile, "  tier: premium\n  support: extended\n  upgrades: {kubernetes: none}\n", "")
	p.edit(t, aksFile, keyvault.TeamKeyID, keyvault.TeamKeyNext)
	p.must(t, "up", "aks", "--yes")
	cluster, _ := p.aksRecords(t)
	assert.Check(t, is.Contains(fmt.Sprint(cluster.Outputs["securityProfile"]), keyvault.TeamKeyNext))
	assert.Check(t, is.DeepEqual(cluster.Outputs["autoUpgradeProfile"], map[string]any{"upgradeChannel": "patch", "nodeOSUpgradeChannel": "NodeImage"}))
	p.run(t, "upgrade", "aks", "--to", "1.35", "--hold-nodes", "--no-gate", "--yes").ends(t, 2, "AKS takes control plane and nodes on together with kubernetes.upgrades.kubernetes: patch")
	p.aksHas(t, "1.34", "1.34")
}

// aksKilledTogether: the cluster's own update has the versions of all pools, and a pool that the
// state has as before is no step back.
func (p project) aksKilledTogether(t *testing.T) {
	args := []string{"upgrade", "aks", "--to", "1.36", "--no-gate", "--yes"}
	p.aksKilledAt(t, "the cluster", args...)
	p.aksKilledAt(t, "apps", args...)
	p.run(t, args...).ends(t, 0, "control plane and node groups to 1.36, in")
	p.aksHas(t, "1.36", "1.36")
	p.unchanged(t, "aks")
	p.must(t, "drift", "aks")
}
