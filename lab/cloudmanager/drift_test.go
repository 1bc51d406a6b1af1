package cloudmanager

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// upgrade gives the cluster demo a version of Kubernetes.
func (a *account) upgrade(version string) {
	a.t.Helper()
	defer a.cloud.Lock()()
	r := a.cloud.Get(clusterType, "eu-central-1", "demo").Clone()
	r.Outputs["version"] = version
	assert.NilError(a.t, a.cloud.Put(r))
}

// pooled makes a NodePool with budgets of its disruption.
func pooled(t *testing.T, w *watch, budgets ...any) *unstructured.Unstructured {
	t.Helper()
	pool := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": "default", "uid": "2"},
		"spec": map[string]any{"disruption": map[string]any{"budgets": budgets}},
	}}
	made, err := w.objects.Resource(nodePools).Create(t.Context(), pool, metav1.CreateOptions{})
	assert.NilError(t, err)
	return made
}

// claims are the names of the claims.
func claims(t *testing.T, w *watch) []string {
	t.Helper()
	list, err := w.objects.Resource(nodeClaims).List(t.Context(), metav1.ListOptions{})
	assert.NilError(t, err)
	var names []string
	for _, c := range list.Items {
		names = append(names, c.GetName())
	}
	slices.Sort(names)
	return names
}

// settle reconciles every claim once.
func settle(t *testing.T, w *watch) {
	t.Helper()
	for _, name := range claims(t, w) {
		assert.NilError(t, w.reconcileNodeClaim(t.Context(), name))
	}
}

func drifts(t *testing.T, w *watch, name string) bool {
	t.Helper()
	claim, err := w.objects.Resource(nodeClaims).Get(t.Context(), name, metav1.GetOptions{})
	assert.NilError(t, err)
	return holds(claim, driftedCondition)
}

// kubelets are the versions of the nodes.
func kubelets(t *testing.T, w *watch) string {
	t.Helper()
	nodes, err := w.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	assert.NilError(t, err)
	var versions []string
	for _, n := range nodes.Items {
		versions = append(versions, n.Status.NodeInfo.KubeletVersion)
	}
	slices.Sort(versions)
	return strings.Join(versions, " ")
}

// TestDriftedClaimsAreReplaced: after an upgrade of the cluster each node of a pool
// has a successor before it goes, one after the other.
func TestDriftedClaimsAreReplaced(t *testing.T) {
	a := newAccount(t)
	a.upgrade("1.34")
	w := a.watching()
	pool := pooled(t, w)
	for _, pod := range []string{"1", "2"} {
		_, err := w.objects.Resource(nodeClaims).Create(t.Context(), newClaim(pool, pod), metav1.CreateOptions{})
		assert.NilError(t, err)
	}
	settle(t, w)
	before := claims(t, w)
	assert.Equal(t, kubelets(t, w), "v1.34.0-eks-0000000 v1.34.0-eks-0000000")
	assert.Check(t, !drifts(t, w, before[0]) && !drifts(t, w, before[1]))

	a.upgrade("1.35")
	net, _ := w.network()
	claim, err := w.objects.Resource(nodeClaims).Get(t.Context(), before[0], metav1.GetOptions{})
	assert.Check(t, err == nil && w.moved(claim, net), "the drift is not seen: %v", err)
	settle(t, w)
	assert.Check(t, drifts(t, w, before[0]) && drifts(t, w, before[1]))
	assert.Equal(t, len(claims(t, w)), 3, "one successor")
	settle(t, w) // the successor's turn may come after the claim's
	settle(t, w)
	assert.Check(t, !slices.Contains(claims(t, w), before[0]), "the first has gone")
	for range 4 {
		settle(t, w)
	}
	after := claims(t, w)
	assert.Check(t, len(after) == 2 && !slices.Contains(after, before[1]), "claims %v were %v", after, before)
	for _, name := range after {
		assert.Check(t, !drifts(t, w, name))
	}
}

// TestBudgetHoldsDriftedClaims: a budget of no node keeps the claims, and says that
// they have drifted until the cluster is back.
func TestBudgetHoldsDriftedClaims(t *testing.T) {
	for name, test := range map[string]struct {
		budget map[string]any
		stays  bool
	}{
		"none":              {map[string]any{"nodes": "0"}, true},
		"none for drift":    {map[string]any{"nodes": "0", "reasons": []any{"Drifted"}}, true},
		"none for others":   {map[string]any{"nodes": "0", "reasons": []any{"Underutilized"}}, false},
		"none at some time": {map[string]any{"nodes": "0", "schedule": "0 9 * * *", "duration": "8h"}, false},
		"some":              {map[string]any{"nodes": "10%"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAccount(t)
			a.upgrade("1.34")
			w := a.watching()
			claim := newClaim(pooled(t, w, test.budget), "1")
			_, err := w.objects.Resource(nodeClaims).Create(t.Context(), claim, metav1.CreateOptions{})
			assert.NilError(t, err)
			settle(t, w)
			a.upgrade("1.35")
			settle(t, w)
			assert.Check(t, drifts(t, w, claim.GetName()))
			assert.Equal(t, len(claims(t, w)) == 1, test.stays)
			a.upgrade("1.34")
			settle(t, w)
			assert.Check(t, !drifts(t, w, claim.GetName()), "the cluster is back")
		})
	}
}

// TestClaimWithoutPoolStays: Karpenter replaces what a pool asks for, and nothing else.
func TestClaimWithoutPoolStays(t *testing.T) {
	a := newAccount(t)
	a.upgrade("1.34")
	w := a.watching()
	claim := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": map[string]any{"name": "mine"}, "spec": map[string]any{},
	}}
	_, err := w.objects.Resource(nodeClaims).Create(t.Context(), claim, metav1.CreateOptions{})
	assert.NilError(t, err)
	settle(t, w)
	a.upgrade("1.35")
	settle(t, w)
	assert.DeepEqual(t, claims(t, w), []string{"mine"})
	assert.Check(t, !drifts(t, w, "mine"))
	assert.Equal(t, kubelets(t, w), "v1.34.0-eks-0000000")
}
