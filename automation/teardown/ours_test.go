package teardown

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
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
	ourPool := with(strings.Replace(pool, "default", "ours", 1), "kustomize.toolkit.fluxcd.io/name: platform, kustomize.toolkit.fluxcd.io/namespace: flux-system")
	ourNode := with(strings.Replace(node, "default", "ours", 1), "karpenter.sh/nodepool: ours")
	theirNode := with(node, "karpenter.sh/nodepool: default")
	ourFront := with(strings.Replace(front, "front", "ours", 1), "helm.toolkit.fluxcd.io/name: shop, helm.toolkit.fluxcd.io/namespace: flux-system")
	// A Flux of another cluster applies objects here.
	remote := with(strings.Replace(front, "front", "remote", 1), "kustomize.toolkit.fluxcd.io/name: flux-system, kustomize.toolkit.fluxcd.io/namespace: flux-system")
	platform := "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {namespace: flux-system, name: platform}"
	release := "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {namespace: flux-system, name: shop}"

	w := newWorld(t, platform, release, front, ourFront, remote, site, claim, ourVolume, theirClaim, theirVolume, theirPod, pool, theirNode, ourPool, ourNode)
	w.alive = controllersLive()
	w.provisioned["PersistentVolumeClaim monitoring/data-0"] = "PersistentVolume pvc-1"
	options := w.options()
	options.Ours = &Ours{Engine: config.Flux, Namespaces: []string{"monitoring"}}
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
		"of the load balancers, what is not Tombolo's stays: Ingress shop/site, Service shop/front, Service shop/remote",
		"of the volumes, what is not Tombolo's stays: PersistentVolumeClaim theirs/data, PersistentVolume pvc-2",
		"of the nodes, what is not Tombolo's stays: NodePool default, NodeClaim default-1",
	} {
		assert.Check(t, is.Contains(notes, want))
	}
}

// TestOursByArgoCD: an object of Argo CD's is ours where that is the engine here; with Flux,
// and on a spoke, it is others'.
func TestOursByArgoCD(t *testing.T) {
	tracked := strings.Replace(front, "metadata: {", "metadata: {annotations: {argocd.argoproj.io/tracking-id: 'shop:/Service:shop/front'}, ", 1)
	for engine, want := range map[config.Engine]int{config.ArgoCD: 1, config.Flux: 0, "": 0} {
		w := newWorld(t, tracked)
		w.alive = controllersLive()
		options := w.options()
		options.Ours = &Ours{Engine: engine}
		assert.NilError(t, w.Drain(t.Context(), options))
		assert.Check(t, is.Len(w.deleted, want))
	}
}
