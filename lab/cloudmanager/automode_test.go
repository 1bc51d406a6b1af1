package cloudmanager

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tombolo/lab/aws/eks"
)

// TestAutoNode: pods that no node takes get one node of a built-in pool, which goes when the
// cluster's nodes get another image.
func TestAutoNode(t *testing.T) {
	a := newAccount(t)
	w := a.watching()
	net, there := w.network()
	assert.Assert(t, there && !net.auto)
	for range 2 {
		assert.NilError(t, w.ensureAutoNode(t.Context(), pending(""), net))
	}
	assert.NilError(t, w.ensureAutoNode(t.Context(), pending("system"), net))
	assert.NilError(t, w.ensureAutoNode(t.Context(), pending("team-a"), net))

	general := a.client.Find(instanceType, map[string]string{eks.ClusterNameTag: "demo", eks.NodePoolTag: "general-purpose"})
	assert.Assert(t, is.Len(general, 1))
	assert.Check(t, is.Len(a.client.Find(instanceType, nil), 2), "a pool that is not built in has nodes")
	node, err := w.client.CoreV1().Nodes().Get(t.Context(), general[0].ID, metav1.GetOptions{})
	assert.NilError(t, err)
	assert.Check(t, is.Equal(node.Labels["eks.amazonaws.com/compute-type"], "auto"))
	system := a.client.Find(instanceType, map[string]string{eks.NodePoolTag: "system"})
	node, err = w.client.CoreV1().Nodes().Get(t.Context(), system[0].ID, metav1.GetOptions{})
	assert.NilError(t, err)
	assert.Check(t, is.Len(node.Spec.Taints, 1))

	assert.NilError(t, w.replaceAutoNodes(t.Context(), net))
	assert.Check(t, is.Len(a.client.Find(instanceType, nil), 2), "nodes with the image of the cluster are gone")
	net.version = "1.33"
	assert.NilError(t, w.replaceAutoNodes(t.Context(), net))
	assert.Check(t, is.Len(a.client.Find(instanceType, nil), 0))
	nodes, err := w.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	assert.NilError(t, err)
	assert.Check(t, is.Len(nodes.Items, 0))
}
