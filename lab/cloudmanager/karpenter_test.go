package cloudmanager

import (
	"context"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

func pending(pool string) *corev1.Pod {
	var selector map[string]string
	if pool != "" {
		selector = map[string]string{poolLabel: pool}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "apps", UID: "1"},
		Spec:       corev1.PodSpec{NodeSelector: selector},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		}}},
	}
}

// controller is the Deployment of a chart, without a pod that is ready.
func controller(chart string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: chart, Namespace: "kube-system", Labels: map[string]string{chartLabel: chart}},
		Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{chartLabel: chart}}},
	}
}

// late lists come back when others have come in between.
type late struct{ dynamic.Interface }

type lateLists struct {
	dynamic.NamespaceableResourceInterface
}

func (l late) Resource(r schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return lateLists{l.Interface.Resource(r)}
}

func (l lateLists) List(ctx context.Context, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	defer time.Sleep(2 * time.Millisecond)
	return l.NamespaceableResourceInterface.List(ctx, o)
}

// TestPodHasANode: a pod that waits for a pool's node gets a claim, the claim an
// instance and a node, and all of it goes with the claim.
func TestPodHasANode(t *testing.T) {
	a := newAccount(t)
	karpenter := controller(karpenterChart)
	w := a.watching(karpenter, pending("default"))
	pool := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": "default", "uid": "2"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"nodeClassRef": map[string]any{"name": "default"}}}},
	}}
	if _, err := w.objects.Resource(nodePools).Create(t.Context(), pool, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	assert.NilError(t, w.reconcilePod(t.Context(), pending("default")))
	claims, err := w.objects.Resource(nodeClaims).List(t.Context(), metav1.ListOptions{})
	assert.Assert(t, err == nil && len(claims.Items) == 0, "Karpenter, which has no node, has made one: %+v, %v", claims, err)
	karpenter.Status.ReadyReplicas = 1
	_, err = w.client.AppsV1().Deployments("kube-system").Update(t.Context(), karpenter, metav1.UpdateOptions{})
	assert.NilError(t, err)
	w.objects = late{w.objects}
	var all errgroup.Group // at the same time, as the workers do; every second one asks for room alone
	for i := range 20 {
		pod := pending([]string{"default", ""}[i%2])
		pod.UID = types.UID(strconv.Itoa(i))
		all.Go(func() error { return w.reconcilePod(t.Context(), pod) })
	}
	assert.NilError(t, all.Wait())
	claims, err = w.objects.Resource(nodeClaims).List(t.Context(), metav1.ListOptions{})
	assert.Assert(t, err == nil && len(claims.Items) == 1 && claims.Items[0].GetOwnerReferences()[0].Name == "default", "claims %+v, %v", claims, err)
	name := claims.Items[0].GetName()
	for range 2 {
		assert.NilError(t, w.reconcileNodeClaim(t.Context(), name))
	}
	instances := a.client.Find(instanceType, map[string]string{
		"karpenter.sh/nodepool": "default", "kubernetes.io/cluster/demo": "owned", "karpenter.k8s.aws/ec2nodeclass": "default",
	})
	assert.Assert(t, len(instances) == 1, "instances %+v", instances)
	claim, err := w.objects.Resource(nodeClaims).Get(t.Context(), name, metav1.GetOptions{})
	assert.NilError(t, err)
	node, _, _ := unstructured.NestedString(claim.Object, "status", "nodeName")
	made, err := w.client.CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{})
	assert.Check(t, err == nil && made.Labels[poolLabel] == "default", "node %q: %+v, %v", node, made, err)
	now := metav1.Now()
	claim.SetDeletionTimestamp(&now)
	_, err = w.objects.Resource(nodeClaims).Update(t.Context(), claim, metav1.UpdateOptions{})
	assert.NilError(t, err)
	assert.NilError(t, w.reconcileNodeClaim(t.Context(), name))
	assert.Check(t, is.Equal(a.kinds(), ""))
	nodes, err := w.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	assert.Check(t, err == nil && len(nodes.Items) == 0, "nodes are left: %+v, %v", nodes, err)
	pods, err := w.client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}) // the fake client knows no fields: all are on the node
	assert.Check(t, err == nil && len(pods.Items) == 0, "the node went before its pods: %+v, %v", pods, err)
}

// TestPodWithoutPool: a pod that waits for something else, and one of a pool
// that does not exist, get no node.
func TestPodWithoutPool(t *testing.T) {
	a := newAccount(t)
	w := a.watching()
	waiting := pending("")
	for _, pod := range []*corev1.Pod{waiting, pending("default")} {
		assert.Check(t, w.reconcilePod(t.Context(), pod))
	}
	claims, err := w.objects.Resource(nodeClaims).List(t.Context(), metav1.ListOptions{})
	assert.Check(t, err == nil && len(claims.Items) == 0, "claims %+v, %v", claims, err)
}
