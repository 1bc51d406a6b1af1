package teardown

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const (
	front = "apiVersion: v1\nkind: Service\nmetadata: {namespace: shop, name: front, finalizers: [service.kubernetes.io/load-balancer-cleanup]}\nspec: {type: LoadBalancer}"
	back  = "apiVersion: v1\nkind: Service\nmetadata: {namespace: shop, name: back}\nspec: {type: ClusterIP}"
	site  = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {namespace: shop, name: site, finalizers: [ingress.k8s.aws/resources]}"
	pool  = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default, finalizers: [karpenter.sh/termination]}"
	node  = "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: default-1, finalizers: [karpenter.sh/termination]}"

	claim      = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: monitoring, name: data-0, finalizers: [kubernetes.io/pvc-protection]}"
	volume     = "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pvc-1, annotations: {pv.kubernetes.io/provisioned-by: ebs.csi.aws.com}}\nspec: {persistentVolumeReclaimPolicy: Delete, csi: {volumeHandle: vol-1}}"
	prometheus = "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {namespace: monitoring, name: main}"
	set        = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {namespace: monitoring, name: main, ownerReferences: [{apiVersion: monitoring.coreos.com/v1, kind: Prometheus, name: main, uid: Prometheus monitoring/main, controller: true}]}"
	pod        = "apiVersion: v1\nkind: Pod\nmetadata: {namespace: monitoring, name: main-0, ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: main, uid: StatefulSet monitoring/main, controller: true}]}\nspec: {volumes: [{persistentVolumeClaim: {claimName: data-0}}]}"
)

func controllersLive() []string {
	return []string{
		"service.kubernetes.io/load-balancer-cleanup", "ingress.k8s.aws/resources", "karpenter.sh/termination", "kubernetes.io/pvc-protection",
	}
}

func TestDrain(t *testing.T) {
	w := newWorld(t, front, back, site, pool, node)
	w.alive = controllersLive()
	assert.NilError(t, w.Drain(t.Context(), w.options()))
	assert.DeepEqual(t, w.names(), []string{"Service shop/back"})
	assert.Check(t, is.Equal(strings.Join(w.deleted, ", "), "Ingress shop/site, Service shop/front, NodePool default, NodeClaim default-1"),
		"deleted in the order")
	assert.DeepEqual(t, w.waits, []string{
		"load balancers to be given back: Ingress shop/site, Service shop/front", "nodes to be given back: NodePool default, NodeClaim default-1",
		"",
	})
}

// TestDrainOfAzure: what Azure Service Operator has made goes first, while the operator is there
// to give it back.
func TestDrainOfAzure(t *testing.T) {
	const account = "apiVersion: storage.azure.com/v1\nkind: StorageAccount\nmetadata: {namespace: shop, name: files, finalizers: [serviceoperator.azure.com/finalizer]}"
	w := newWorld(t, front, account)
	w.alive = append(controllersLive(), "serviceoperator.azure.com/finalizer")
	assert.NilError(t, w.Drain(t.Context(), w.options()))
	assert.DeepEqual(t, w.deleted, []string{"StorageAccount shop/files", "Service shop/front"})
	assert.Equal(t, w.waits[0], "resources in Azure to be given back: StorageAccount shop/files")
}

// TestDrainOfExternalSecrets: they go while their controller has a node, and hold no namespace afterwards.
func TestDrainOfExternalSecrets(t *testing.T) {
	const secret = "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {namespace: shop, name: db, finalizers: [externalsecrets.external-secrets.io/externalsecret-cleanup]}"
	w := newWorld(t, front, secret, pool)
	w.alive = append(controllersLive(), "externalsecrets.external-secrets.io/externalsecret-cleanup")
	assert.NilError(t, w.Drain(t.Context(), w.options()))
	assert.DeepEqual(t, w.deleted, []string{"Service shop/front", "ExternalSecret shop/db", "NodePool default"})
}

func TestDrainOfNothing(t *testing.T) {
	w := newWorld(t, back)
	assert.NilError(t, w.Drain(t.Context(), w.options()))
	assert.Check(t, len(w.deleted)+len(w.patched) == 0 && slices.Equal(w.waits, []string{""}),
		"deleted %v, patched %v, waited for %v", w.deleted, w.patched, w.waits)
}

// TestDrainStopsWhoeverMakesClaimsAgain has an operator's StatefulSet make pod
// and claim again: only without the operator's resource do they stay away.
func TestDrainStopsWhoeverMakesClaimsAgain(t *testing.T) {
	w := newWorld(t, prometheus, set, pod, claim, volume)
	w.alive = controllersLive()
	w.makes["Prometheus monitoring/main"] = []string{set}
	w.makes["StatefulSet monitoring/main"] = []string{pod, claim}
	w.provisioned["PersistentVolumeClaim monitoring/data-0"] = "PersistentVolume pvc-1"
	assert.NilError(t, w.Drain(t.Context(), w.options()))
	left := w.names()
	assert.Check(t, len(left) == 0, "left: %v", left)
	assert.Check(t, slices.Contains(w.deleted, "Prometheus monitoring/main") && !slices.Contains(w.deleted, "StatefulSet monitoring/main"),
		"deleted %v: the StatefulSet is its owner's", w.deleted)
	assert.Check(t, !slices.Contains(w.deleted, "PersistentVolume pvc-1"), "the volume was deleted, and not left to its provisioner")
}

func TestDrainTellsOfRetainedVolumes(t *testing.T) {
	w := newWorld(t, strings.Replace(volume, "Delete", "Retain", 1))
	assert.NilError(t, w.Drain(t.Context(), w.options()))
	assert.DeepEqual(t, w.notes, []string{"PersistentVolume pvc-1 keeps its volume vol-1: its reclaim policy is Retain"})
}

func TestDrainNamesWhoHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, front)
		o := w.options()
		o.Timeout = 20 * time.Millisecond
		err := w.Drain(t.Context(), o)
		want := "load balancers were not given back within 20ms: Service shop/front is held by service.kubernetes.io/load-balancer-cleanup"
		held := new(HeldError)
		assert.Check(t, errors.As(err, &held) && err.Error() == want, "error is %T\n%v, want\n%s", err, err, want)
		assert.Check(t, w.get("Service shop/front") != nil, "the Service is gone, with a finalizer that nobody took off")
	})
}

func TestDrainTakesFinalizersOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, front, pool, node)
		w.alive = []string{"karpenter.sh/termination"}
		o := w.options()
		o.Timeout, o.TakeOff = 20*time.Millisecond, true
		assert.NilError(t, w.Drain(t.Context(), o))
		left := w.names()
		assert.Check(t, len(left) == 0, "left: %v", left)
		want := "finalizer service.kubernetes.io/load-balancer-cleanup was removed from Service shop/front, because no controller did so within 20ms: " +
			"its resource in the cloud may be left over"
		assert.DeepEqual(t, w.notes, []string{want})
	})
}

func TestDrainIsInterrupted(t *testing.T) {
	w := newWorld(t, front)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := w.options()
	o.Waiting = func(what string) {
		if what != "" {
			cancel()
		}
	}
	err := w.Drain(ctx, o)
	assert.Check(t, errors.Is(err, ctx.Err()) && ctx.Err() != nil, "error is %v", err)
}
