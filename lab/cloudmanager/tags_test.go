package cloudmanager

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"tombolo/lab/standin"
)

// received is what the lab's charts keep of their values.
func received(chart, values string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: chart + "-received", Namespace: "kube-system", Labels: map[string]string{"app.kubernetes.io/name": chart}},
		Data:       map[string]string{"values.yaml": values},
	}
}

// teamPolicy is an organisation's.
func teamPolicy() standin.TagPolicy {
	return standin.TagPolicy{Calls: []string{"RunInstances", "CreateVolume", "CreateLoadBalancer"}, Keys: []string{"team"}}
}

const deniedByPolicy = "with an explicit deny in a service control policy: the request has no tag team"

// TestVolumesHaveTheTagsOfTheFile: without them an organisation's policy denies the volume.
func TestVolumesHaveTheTagsOfTheFile(t *testing.T) {
	a := newAccount(t)
	a.cloud.Tags = teamPolicy()
	assert.Check(t, is.ErrorContains(a.watching(gp3(corev1.PersistentVolumeReclaimDelete), data(), nodeB).reconcileClaim(t.Context(), data()), deniedByPolicy))
	w := a.watching(gp3(corev1.PersistentVolumeReclaimDelete), data(), nodeB, received("aws-ebs-csi-driver", "controller:\n  extraVolumeTags:\n    team: platform\n    CSIVolumeName: other\n"))
	assert.NilError(t, w.reconcileClaim(t.Context(), data()))
	assert.Check(t, is.Len(a.client.Find(volumeType, map[string]string{"team": "platform", "CSIVolumeName": volumeName(data())}), 1))
}

// TestLoadBalancersHaveTheTagsOfTheFile, with their security groups and target groups.
func TestLoadBalancersHaveTheTagsOfTheFile(t *testing.T) {
	a := newAccount(t)
	a.cloud.Tags = teamPolicy()
	b := balancer{name: "web", kind: "network", ports: []port{{80, "TCP"}}, tags: map[string]string{"kubernetes.io/service-name": "apps/web"}}
	_, err := a.watching().ensure(t.Context(), b)
	assert.Check(t, is.ErrorContains(err, deniedByPolicy))
	_, err = a.watching(received("aws-load-balancer-controller", "defaultTags:\n  team: platform\n")).ensure(t.Context(), b)
	assert.NilError(t, err)
	for _, token := range []string{loadBalancerType, targetGroupType} {
		assert.Check(t, is.Len(a.client.Find(token, map[string]string{"team": "platform"}), 1), token)
	}
}

// TestKarpentersNodesHaveTheTagsOfTheFile, and are what the pool requires.
func TestKarpentersNodesHaveTheTagsOfTheFile(t *testing.T) {
	a := newAccount(t)
	a.cloud.Tags = teamPolicy()
	w := a.watching()
	claim := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
		"metadata": map[string]any{"name": "default-1", "labels": map[string]any{poolLabel: "default"}},
		"spec": map[string]any{
			"nodeClassRef": map[string]any{"name": "default"},
			"requirements": []any{
				map[string]any{"key": archLabel, "operator": "In", "values": []any{"arm64"}},
				map[string]any{"key": capacityLabel, "operator": "In", "values": []any{"on-demand", "spot"}},
			},
		},
	}}
	_, err := w.objects.Resource(nodeClaims).Create(t.Context(), claim, metav1.CreateOptions{})
	assert.NilError(t, err)
	assert.Check(t, is.ErrorContains(w.reconcileNodeClaim(t.Context(), "default-1"), deniedByPolicy))
	class := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": map[string]any{"name": "default"},
		"spec": map[string]any{"tags": map[string]any{"team": "platform"}},
	}}
	_, err = w.objects.Resource(nodeClasses).Create(t.Context(), class, metav1.CreateOptions{})
	assert.NilError(t, err)
	assert.NilError(t, w.reconcileNodeClaim(t.Context(), "default-1"))
	instances := a.client.Find(instanceType, map[string]string{"team": "platform"})
	assert.Assert(t, is.Len(instances, 1))
	assert.Equal(t, instances[0].Text("instanceType"), "m7g.large")
	node, err := w.client.CoreV1().Nodes().Get(t.Context(), instances[0].Text("privateDns"), metav1.GetOptions{})
	assert.NilError(t, err)
	assert.Equal(t, node.Labels[archLabel]+" "+node.Labels[capacityLabel], "arm64 spot")
}
