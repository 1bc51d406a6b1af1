//go:build lab

package lab

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// TestLiveCluster changes the nodes and the zones of a cluster that lives: what EKS
// cannot change stays, what an autoscaler decided stays, and a node group that has to be
// replaced goes after the new one is there. Its parts build on each other.
func TestLiveCluster(t *testing.T) {
	tier.Long(t, "nodes and zones of a live cluster change; TestEffects holds the plans of it")
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light")
	p.up(t, "demo")
	inOrder(t, p, []step[project]{
		{"an autoscaler's size is no change", project.autoscaled},
		{"a higher maximum keeps the autoscaler's size", project.higherMaximum},
		{"a higher minimum takes the nodes along", project.higherMinimum},
		{"a size that somebody changed by hand first", project.changedByHandFirst},
		{"a zone more is one for nodes", project.zoneMore},
		{"what EKS cannot change is refused", project.impossible},
		destroyStep[project]("demo"),
	})
}

// record is what the stand-in holds of a resource.
type record struct {
	Type    string
	ID      string
	Inputs  map[string]any
	Outputs map[string]any
}

// nodeGroup is the only node group that there is.
func (p project) nodeGroup(t *testing.T) record {
	t.Helper()
	return p.only(t, "aws:eks/nodeGroup:NodeGroup")
}

// only is the only resource of a type.
func (p project) only(t *testing.T, token string) record {
	t.Helper()
	var found []record
	for _, text := range p.records(t) {
		var r record
		decode(t, text, &r)
		if r.Type == token {
			found = append(found, r)
		}
	}
	assert.Assert(t, len(found) == 1, "there are %d of %s", len(found), token)
	return found[0]
}

// sized asserts the size of the node group in EKS.
func (p project) sized(t *testing.T, low, want, high float64) {
	t.Helper()
	assert.Check(t, is.DeepEqual(p.nodeGroup(t).Outputs["scalingConfig"], map[string]any{"minSize": low, "desiredSize": want, "maxSize": high}))
}

// autoscale sets the size of the node group as an autoscaler does.
func (p project) autoscale(t *testing.T, changes ...string) {
	t.Helper()
	name, _ := p.nodeGroup(t).Outputs["nodeGroupName"].(string)
	p.must(t, append([]string{"lab", "drift", "change", "NodeGroup", name}, changes...)...)
}

// quiet asserts that nothing is to be done.
func (p project) quiet(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{
		{"preview", "demo", "--output", "json"},
		{"up", "demo", "--yes", "--force", "--output", "json"},
	} {
		lastResult(t, p.must(t, args...)).unchanged(t)
	}
}

func (p project) autoscaled(t *testing.T) {
	p.autoscale(t, "scalingConfig.desiredSize=3")
	p.quiet(t)
	p.must(t, "drift", "demo")
	p.sized(t, 2, 3, 4)
}

func (p project) higherMaximum(t *testing.T) {
	p.edit(t, demoFile, "{min: 2, max: 4}", "{min: 2, max: 6}")
	p.up(t, "demo")
	p.sized(t, 2, 3, 6)
	p.autoscale(t, "scalingConfig.desiredSize=4")
	p.quiet(t)
	p.must(t, "drift", "demo")
	lastResult(t, p.must(t, "up", "demo", "--yes", "--refresh", "--output", "json")).unchanged(t)
	p.sized(t, 2, 4, 6)
}

func (p project) higherMinimum(t *testing.T) {
	p.edit(t, demoFile, "{min: 2, max: 6}", "{min: 5, max: 6}")
	p.up(t, "demo")
	p.sized(t, 5, 5, 6)
	p.quiet(t)
}

// changedByHandFirst: the file follows what somebody did in a hurry.
func (p project) changedByHandFirst(t *testing.T) {
	p.autoscale(t, "scalingConfig.minSize=7", "scalingConfig.desiredSize=8", "scalingConfig.maxSize=9")
	p.edit(t, demoFile, "{min: 5, max: 6}", "{min: 7, max: 9}")
	p.up(t, "demo")
	p.sized(t, 7, 8, 9)
	p.quiet(t)
}

func (p project) zoneMore(t *testing.T) {
	before, plane := p.nodeGroup(t), p.only(t, "aws:eks/cluster:Cluster")
	p.edit(t, demoFile, "zones: [eu-central-1a, eu-central-1b]", "zones: [eu-central-1a, eu-central-1b, eu-central-1c]")
	steps := nodeGroupSteps(t, p.must(t, "up", "demo", "--yes", "--output", "json"))
	assert.Check(t, is.DeepEqual(steps, []string{"create-replacement", "replace", "delete-replaced"}))
	after := p.nodeGroup(t)
	assert.Check(t, before.ID != after.ID, "the node group is the one of before, without the new subnet")
	assert.Check(t, is.Len(after.Outputs["subnetIds"], 3))
	p.sized(t, 7, 8, 9)
	assert.Check(t, is.DeepEqual(plane.Outputs["vpcConfig"], p.only(t, "aws:eks/cluster:Cluster").Outputs["vpcConfig"]))
	p.quiet(t)
}

// nodeGroupSteps are the steps of an up that were done on the node group, in order.
func nodeGroupSteps(t *testing.T, stdout string) []string {
	t.Helper()
	var steps []string
	for _, line := range strings.Split(strings.TrimSpace(stdout), "\n") {
		var e struct{ Type, Operation, Op, Status, Resource string }
		decode(t, line, &e)
		if e.Type == "resource" && e.Operation == "up" && e.Status == "done" && e.Resource == "aws:eks:NodeGroup" {
			steps = append(steps, e.Op)
		}
	}
	return steps
}

// impossible is refused, and nothing is begun.
func (p project) impossible(t *testing.T) {
	text := p.read(t, demoFile)
	for old, change := range map[string][2]string{
		"zones: [eu-central-1a, eu-central-1b, eu-central-1c]": {"zones: [eu-central-1a, eu-central-1c]", "the control plane keeps the zones of its creation"},
		"  admins:\n": {"  secretsEncryption: {enabled: false}\n  admins:\n", "EKS never turns encryption off again"},
	} {
		p.edit(t, demoFile, old, change[0])
		p.run(t, "up", "demo", "--yes").refuses(t, change[1])
		p.write(t, demoFile, text)
	}
	p.quiet(t)
}
