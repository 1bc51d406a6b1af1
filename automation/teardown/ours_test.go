package teardown

import (
	"slices"
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

// TestDrainBesideOthersOfFlux: where others had installed the Flux that is ours now, too,
// only what follows from the platform is suspended and goes.
func TestDrainBesideOthersOfFlux(t *testing.T) {
	by := func(kind, name string) string {
		group := map[string]string{"Kustomization": "kustomize", "HelmRelease": "helm"}[kind]
		return group + ".toolkit.fluxcd.io/name: " + name + ", " + group + ".toolkit.fluxcd.io/namespace: flux-system"
	}
	set := func(kind, name string) string {
		version := map[string]string{"Kustomization": "kustomize.toolkit.fluxcd.io/v1", "HelmRelease": "helm.toolkit.fluxcd.io/v2"}[kind]
		return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {namespace: flux-system, name: " + name + "}\nspec: {}"
	}
	service := func(name, labels string) string { return with(strings.Replace(front, "front", name, 1), labels) }
	w := newWorld(t,
		set("Kustomization", "flux-system"), with(set("HelmRelease", "theirs"), by("Kustomization", "flux-system")),
		// The release comes before what has applied it, and that before the platform.
		with(set("HelmRelease", "ours"), by("Kustomization", "apps")), with(set("Kustomization", "apps"), by("Kustomization", "platform")), set("Kustomization", "platform"),
		strings.Replace(set("HelmRelease", "inside"), "flux-system", "reports", 1),
		service("a", by("HelmRelease", "theirs")), service("b", by("HelmRelease", "ours")), service("c", by("Kustomization", "flux-system")),
	)
	w.alive = controllersLive()
	options := w.options()
	options.Ours = &Ours{Engine: config.Flux, TakenOver: true, Namespaces: []string{"reports"}}
	assert.NilError(t, w.Suspend(t.Context(), options.Ours, options.Note))
	for name, want := range map[string]bool{
		"Kustomization flux-system/flux-system": false, "HelmRelease flux-system/theirs": false,
		"Kustomization flux-system/platform": true, "Kustomization flux-system/apps": true, "HelmRelease flux-system/ours": true, "HelmRelease reports/inside": true,
	} {
		assert.Check(t, is.Equal(suspended(w.get(name)), want), name)
	}
	assert.NilError(t, w.Drain(t.Context(), options))
	assert.Check(t, is.DeepEqual(w.deleted, []string{"Service shop/b"}))
}

// TestOursByArgoCD: an object of Argo CD's is ours where an Application that was ours has
// made it; one of another Argo CD, which manages the cluster from elsewhere, is others'. So
// it is with Flux, and on a spoke.
func TestOursByArgoCD(t *testing.T) {
	tracked := func(name, application string) string {
		return strings.Replace(strings.Replace(front, "front", name, 1), "metadata: {", "metadata: {annotations: {argocd.argoproj.io/tracking-id: '"+application+":/Service:shop/"+name+"'}, ", 1)
	}
	for engine, want := range map[config.Engine][]string{config.ArgoCD: {"Service shop/a", "Service shop/b"}, config.Flux: nil, "": nil} {
		w := newWorld(t, tracked("a", "shop"), tracked("b", "team_shop"), tracked("c", "company-shop"), tracked("d", "shop-2"))
		w.alive = controllersLive()
		options := w.options()
		options.Ours = &Ours{Engine: engine, Applications: []string{"shop", "team_shop"}}
		assert.NilError(t, w.Drain(t.Context(), options))
		slices.Sort(w.deleted)
		assert.Check(t, is.DeepEqual(w.deleted, want))
	}
}
