package upgrade

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func node(name, label, value, kubelet, ready string) unstructured.Unstructured {
	return unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": name, "labels": map[string]any{label: value}},
		"status": map[string]any{
			"nodeInfo":   map[string]any{"kubeletVersion": kubelet},
			"conditions": []any{map[string]any{"type": "Ready", "status": ready}},
		},
	}}
}

func TestAwaited(t *testing.T) {
	const groupLabel = "eks.amazonaws.com/nodegroup"
	nodes := NodesOf([]unstructured.Unstructured{
		node("e", poolLabel, "default", "v1.34.1-eks-113cf36", "True"),
		node("a", groupLabel, "system", "v1.35.0-eks-113cf36", "True"),
		node("b", groupLabel, "system", "v1.34.1-eks-113cf36", "True"),
		node("c", groupLabel, "system", "v1.35.0-eks-113cf36", "Unknown"),
		node("d", groupLabel, "system", "", "False"),
		node("f", "other", "node", "v1.33.9", "True"),
	}, groupLabel)
	assert.DeepEqual(t, Awaited(nodes, NodeGroups, "1.35"), []string{
		"node b of node group system has 1.34", "node c of node group system is not ready", "node d of node group system has not told its version yet",
	})
	assert.DeepEqual(t, Awaited(nodes, Karpenter, "1.35"), []string{"node e of node pool default has 1.34"})
	assert.Check(t, is.Len(Awaited(nodes, Karpenter, "1.34"), 0))
	assert.Equal(t, Strays(nodes, "1.35")[0].Name, "f")
	assert.Check(t, is.Len(Newer(nodes, "1.34"), 2))
}

// TestAwaitedLeaves: a node that is being deleted still has pods to be moved.
func TestAwaitedLeaves(t *testing.T) {
	leaving := Node{Name: "a", Group: "system", Version: "1.35", Ready: true, Leaving: true}
	assert.DeepEqual(t, Awaited([]Node{leaving}, NodeGroups, "1.35"), []string{"node a of node group system is leaving"})
}
