package cloudmanager

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"tombolo/lab/reconcile"
	"tombolo/lab/standin"
)

const (
	driftedCondition = "Drifted"
	// imageDrift is Karpenter's reason where the AMI is not the one of the class any
	// more: https://karpenter.sh/docs/concepts/disruption/#drift
	imageDrift = "AMIDrift"
	// driftPause is between two looks for claims that have drifted.
	driftPause = 2 * time.Second
)

// pollDrift has claims reconciled that have drifted, until ctx ends: no object of the
// cluster changes when its version does. A look asks no API.
func (w *watch) pollDrift(ctx context.Context, claims cache.Store) {
	tick := time.NewTicker(driftPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		w.rememberPods()
		net, there := w.network()
		if !there {
			continue
		}
		for _, object := range claims.List() {
			if claim, ok := object.(*unstructured.Unstructured); ok && w.moved(claim, net) {
				w.loop.Add(reconcile.Object{Kind: nodeClaim, Key: claim.GetName()})
			}
		}
	}
}

// rememberPods has pods looked at again that have found no node: Karpenter, or its pool, may have come later.
func (w *watch) rememberPods() {
	for _, object := range w.pods.List() {
		if p, ok := object.(*corev1.Pod); ok && unschedulable(p) {
			w.loop.Add(reconcile.Object{Kind: pod, Key: p.Namespace + "/" + p.Name})
		}
	}
}

// moved says that a claim of a pool has drifted, or does not any more and says so still.
func (w *watch) moved(claim *unstructured.Unstructured, net network) bool {
	if claim.GetLabels()[poolLabel] == "" || claim.GetDeletionTimestamp() != nil {
		return false
	}
	instances := w.instancesOf(claim.GetName())
	drifted := len(instances) > 0 && instances[0].Text("ami") != net.image()
	return drifted || holds(claim, driftedCondition)
}

// followImage replaces a claim of a pool whose instance has another image than the
// cluster's nodes get now. A claim without a pool stays: Karpenter disrupts none.
func (w *watch) followImage(ctx context.Context, claim *unstructured.Unstructured, drifted bool) error {
	name := claim.GetLabels()[poolLabel]
	if name == "" {
		return nil
	}
	if err := w.tellDrift(ctx, claim, drifted); err != nil || !drifted {
		return err
	}
	pool, err := w.objects.Resource(nodePools).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil // its claims go with it
	}
	if err != nil {
		return fmt.Errorf("look up the node pool %s: %w", name, err)
	}
	if forbidden(pool) {
		return nil
	}
	return w.replace(ctx, claim, pool)
}

// tellDrift says in a claim's status whether it has drifted.
func (w *watch) tellDrift(ctx context.Context, claim *unstructured.Unstructured, drifted bool) error {
	if holds(claim, driftedCondition) == drifted {
		return nil
	}
	told := claim.DeepCopy()
	conditions := slices.DeleteFunc(conditionsOf(told), func(c any) bool { return isCondition(c, driftedCondition) })
	if drifted {
		conditions = append(conditions, condition(driftedCondition, imageDrift))
	}
	if err := unstructured.SetNestedSlice(told.Object, conditions, "status", "conditions"); err != nil {
		return fmt.Errorf("tell the drift: %w", err)
	}
	if _, err := w.objects.Resource(nodeClaims).UpdateStatus(ctx, told, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("tell the drift: %w", err)
	}
	return nil
}

// replace makes a successor of a drifted claim, and deletes the claim once the
// successor is ready. One claim of a pool is replaced after the other.
func (w *watch) replace(ctx context.Context, claim, pool *unstructured.Unstructured) error {
	claims, err := w.objects.Resource(nodeClaims).List(ctx, metav1.ListOptions{LabelSelector: poolLabel + "=" + pool.GetName()})
	if err != nil {
		return fmt.Errorf("list the node claims of %s: %w", pool.GetName(), err)
	}
	wanted := successor(claim, pool)
	at := slices.IndexFunc(claims.Items, func(c unstructured.Unstructured) bool { return c.GetName() == wanted.GetName() })
	switch {
	case at < 0 && !next(claim, pool, claims.Items):
		return nil
	case at < 0:
		w.log.Info("a node claim has drifted and is replaced", "claim", claim.GetName(), "by", wanted.GetName())
		_, err := w.objects.Resource(nodeClaims).Create(ctx, wanted, metav1.CreateOptions{})
		return err
	case !holds(&claims.Items[at], readyCondition):
		return nil
	}
	err = w.objects.Resource(nodeClaims).Delete(ctx, claim.GetName(), metav1.DeleteOptions{})
	return reconcile.IgnoreGone(err)
}

// successor of a claim; its name follows from the claim's.
func successor(claim, pool *unstructured.Unstructured) *unstructured.Unstructured {
	return newClaim(pool, "drifted/"+claim.GetName()+"/"+string(claim.GetUID()))
}

// next says that a claim is the one to be replaced now: no other claim of the pool is
// being replaced or deleted, and it is the first of those that have drifted.
func next(claim, pool *unstructured.Unstructured, claims []unstructured.Unstructured) bool {
	exists := map[string]bool{}
	for _, c := range claims {
		exists[c.GetName()] = true
	}
	for _, c := range claims {
		if c.GetName() == claim.GetName() {
			continue
		}
		if c.GetDeletionTimestamp() != nil {
			return false
		}
		if holds(&c, driftedCondition) && (c.GetName() < claim.GetName() || exists[successor(&c, pool).GetName()]) {
			return false
		}
	}
	return true
}

// forbidden says that a pool has no node disrupted that has drifted: by a budget of
// none that holds at any time. Source: https://karpenter.sh/docs/concepts/disruption/#nodes
func forbidden(pool *unstructured.Unstructured) bool {
	for _, budget := range standin.Props(pool.Object).Sub("spec").Sub("disruption").Objects("budgets") {
		reasons, nodes := budget.List("reasons"), budget.Str("nodes")
		none := nodes == "0" || nodes == "0%"
		if none && budget.Str("schedule") == "" && (len(reasons) == 0 || slices.Contains(reasons, driftedCondition)) {
			return true
		}
	}
	return false
}

// holds says that a condition of an object is true.
func holds(object *unstructured.Unstructured, kind string) bool {
	return slices.ContainsFunc(conditionsOf(object), func(c any) bool {
		return isCondition(c, kind) && c.(map[string]any)["status"] == "True"
	})
}

func conditionsOf(object *unstructured.Unstructured) []any {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	return conditions
}

func isCondition(c any, kind string) bool {
	fields, ok := c.(map[string]any)
	return ok && fields["type"] == kind
}
