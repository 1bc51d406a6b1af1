package teardown

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// with adds labels to an object that has none.
func with(object, labels string) string {
	return strings.Replace(object, "metadata: {", "metadata: {labels: {"+labels+"}, ", 1)
}

// TestDrainOfOthersCluster: in a cluster that others own, only what bootstrap or the engine
// has made goes. The rest is named, and not touched.
func TestDrainOfOthersCluster(t *testing.T) {
	theirClaim := strings.NewReplacer("monitoring", "theirs", "data-0", "data").Replace(claim)
	theirVolume := strings.Replace(strings.Replace(volume, "pvc-1", "pvc-2", 1), "spec: {", "spec: {claimRef: {namespace: theirs, name: data}, ", 1)
	theirPod := "apiVersion: v1\nkind: Pod\nmetadata: {namespace: theirs, name: db}\nspec: {volumes: [{persistentVolumeClaim: {claimName: data}}]}"
	ourVolume := strings.Replace(volume, "spec: {", "spec: {claimRef: {namespace: monitoring, name: data-0}, ", 1)
	ourPool := with(strings.Replace(pool, "default", "ours", 1), "kustomize.toolkit.fluxcd.io/name: platform")
	ourNode := with(strings.Replace(node, "default", "ours", 1), "karpenter.sh/nodepool: ours")
	theirNode := with(node, "karpenter.sh/nodepool: default")
	ourFront := with(strings.Replace(front, "front", "ours", 1), "helm.toolkit.fluxcd.io/name: shop")

	w := newWorld(t, front, ourFront, site, claim, ourVolume, theirClaim, theirVolume, theirPod, pool, theirNode, ourPool, ourNode)
	w.alive = controllersLive()
	w.provisioned["PersistentVolumeClaim monitoring/data-0"] = "PersistentVolume pvc-1"
	options := w.options()
	options.Ours = &Ours{Namespaces: []string{"monitoring"}}
	before := map[string]bool{}
	for _, name := range w.names() {
		before[name] = true
	}
	assert.NilError(t, w.Drain(t.Context(), options))
	assert.Check(t, is.DeepEqual(w.deleted, []string{"Service shop/ours", "PersistentVolumeClaim monitoring/data-0", "NodePool ours", "NodeClaim ours-1"}))
	assert.Check(t, is.Len(w.names(), len(before)-5))
	for _, name := range w.names() {
		assert.Check(t, before[name], name)
	}
	for _, patched := range w.patched {
		assert.Check(t, !strings.Contains(patched, "theirs") && !strings.Contains(patched, "default"), patched)
	}
	notes := strings.Join(w.notes, "\n")
	for _, want := range []string{
		"of the load balancers, what is not Tombolo's stays: Ingress shop/site, Service shop/front",
		"of the volumes, what is not Tombolo's stays: PersistentVolumeClaim theirs/data, PersistentVolume pvc-2",
		"of the nodes, what is not Tombolo's stays: NodePool default, NodeClaim default-1",
	} {
		assert.Check(t, is.Contains(notes, want))
	}
}

// TestOursByArgoCD: an object of Argo CD's is ours where that is the engine, and with Flux
// it is others'.
func TestOursByArgoCD(t *testing.T) {
	tracked := strings.Replace(front, "metadata: {", "metadata: {annotations: {argocd.argoproj.io/tracking-id: 'shop:/Service:shop/front'}, ", 1)
	for argo, want := range map[bool]int{true: 1, false: 0} {
		w := newWorld(t, tracked)
		w.alive = controllersLive()
		options := w.options()
		options.Ours = &Ours{ArgoCD: argo}
		assert.NilError(t, w.Drain(t.Context(), options))
		assert.Check(t, is.Len(w.deleted, want))
	}
}
