//go:build lab

package controlplane

import (
	"context"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"tombolo/lab/standin"
	"tombolo/tests/tier"
)

// TestPace: the real kwok takes the time of boots and images.
func TestPace(t *testing.T) {
	tier.Long(t, "a control plane at a pace: TestStagesTakeTheirTime has what kwok is told")
	const pace = 0.2
	m, _ := managerOf(t, t.TempDir(), func(o *Options) {
		reviewer := tokenReviewer(t)
		o.TokenReviewURL = func(string) string { return reviewer.URL }
		o.Pace = pace
	})
	_, err := m.Start(t.Context(), standin.ClusterSpec{Name: "demo", Version: "1.35", Region: "eu-central-1", ServiceCIDR: "172.20.0.0/16", Issuer: "https://oidc.test/id/1"})
	assert.NilError(t, err)
	client, err := m.client("demo")
	assert.NilError(t, err)
	assert.NilError(t, m.SetNodes(t.Context(), "demo", "group", []standin.Node{{Name: "grouped", Version: "1.35"}}))
	grouped := time.Now()
	awaitNode(t, client, "grouped")
	assert.Check(t, time.Since(grouped) < 10*time.Second, "a node of a group has booted")
	began := time.Now()
	assert.NilError(t, m.SetNodes(t.Context(), "demo", "claim", []standin.Node{{Name: "claimed", Version: "1.35", Labels: map[string]string{"karpenter.sh/nodepool": "default"}}}))

	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "apps"}}
	_, err = client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{})
	assert.NilError(t, err)
	made := time.Now()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{
		NodeName: "grouped", AutomountServiceAccountToken: new(bool),
		InitContainers: []corev1.Container{{Name: "before", Image: "a:1"}},
		Containers:     []corev1.Container{{Name: "web", Image: "a:1"}, {Name: "proxy", Image: "b:1"}},
	}}
	eventually(t, "the pod is made", func(ctx context.Context) (bool, error) { // its account comes first
		_, err := client.CoreV1().Pods("apps").Create(ctx, pod, metav1.CreateOptions{})
		return err == nil, nil
	})
	eventually(t, "the pod is ready", func(ctx context.Context) (bool, error) {
		p, err := client.CoreV1().Pods("apps").Get(ctx, "web", metav1.GetOptions{})
		return err == nil && p.Status.Phase == corev1.PodRunning, err
	})
	least := func(d time.Duration) time.Duration { return time.Duration(float64(d) * pace) }
	assert.Check(t, time.Since(made) >= least(2*pullTime), "two images took %v", time.Since(made))
	awaitNode(t, client, "claimed")
	assert.Check(t, time.Since(began) >= least(nodeBoot), "Karpenter's node took %v", time.Since(began))
}

func awaitNode(t *testing.T, client kubernetes.Interface, name string) {
	t.Helper()
	eventually(t, "the node is ready", func(ctx context.Context) (bool, error) {
		n, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	})
}
