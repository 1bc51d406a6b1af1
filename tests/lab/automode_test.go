//go:build lab

package lab

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/tests/tier"
)

// TestAutoMode is the way of a cluster whose nodes EKS Auto Mode makes: without a node group
// Flux and an app come up, on a node that was made for them and goes with the cluster.
func TestAutoMode(t *testing.T) {
	tier.Long(t, "nodes that EKS Auto Mode makes, beside the node groups of all other tests")
	p := newProject(t)
	const file = "clusters/demo.yaml"
	p.edit(t, file, "  nodeGroups:\n    - name: system\n      instanceTypes: [m7i.large]\n      size: {min: 2, max: 4}\n      labels:\n        workload: system\n", "  compute: auto\n")
	p.edit(t, file, "  karpenter: {}\n", "")
	const tree = "platform/flux/clusters/demo/"
	p.edit(t, tree+"karpenter/kustomization.yaml", "resources:\n  - ../../../addons/karpenter\n", "resources: []\n")
	p.edit(t, tree+"crds/kustomization.yaml", "resources:\n  - ../../../addons/karpenter/crds\n", "resources: []\n")
	p.must(t, "lab", "up")
	p.up(t, "demo").created(t)
	p.must(t, "verify", "demo")

	nodes := strings.Fields(p.kubectl(t, "demo", "get", "nodes", "-l", "eks.amazonaws.com/compute-type=auto", "-o", "jsonpath={.items[*].metadata.name}"))
	assert.Assert(t, is.Len(nodes, 1))
	on := strings.Fields(p.kubectl(t, "demo", "-n", "reporting", "get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}"))
	assert.Assert(t, len(on) > 0, "the app has no pods")
	for _, node := range on {
		assert.Check(t, is.Equal(node, nodes[0]))
	}
	assert.Check(t, is.Len(p.made(t, "aws:eks/nodeGroup:NodeGroup"), 0))
	assert.Check(t, is.Len(p.made(t, "aws:ec2/instance:Instance"), 1))
	p.unchanged(t, "demo")
	p.must(t, "destroy", "demo", "--yes")
	p.nothingExists(t)
}
