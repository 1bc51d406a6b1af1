package teardown

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tombolo/automation/kube"
	"tombolo/internal/wording"
)

// restartedAt is the annotation of `kubectl rollout restart`.
const restartedAt = "kubectl.kubernetes.io/restartedAt"

// Suspend keeps Flux from making things again: it holds what Flux has, or with only what
// of that is ours, and ends what Flux waits for. note is told what people should know.
func (c Cluster) Suspend(ctx context.Context, only *Ours, note func(string)) error {
	n, err := c.Hold(ctx, only)
	if err != nil {
		return fmt.Errorf("suspend Flux: %w", err)
	}
	if n > 0 {
		note(fmt.Sprintf("Flux is stopped: %s suspended", wording.Plural(n, "object is", "objects are")))
	}
	restarted, err := c.Interrupt(ctx)
	if err != nil {
		return fmt.Errorf("end what Flux waits for: %w", err)
	}
	if restarted {
		note("kustomize-controller is restarted: it was waiting for what is suspended now")
	}
	return nil
}

// Interrupt restarts kustomize-controller, as `kubectl rollout restart` does,
// when it is at work on a Kustomization that is held, and says whether it was.
//
// A Kustomization that is to wait for what it has made does so until its timeout,
// and is not removed before; what it waits for is held, and will not be ready. So
// it is with a cluster that is destroyed before Flux is done for the first time.
func (c Cluster) Interrupt(ctx context.Context) (bool, error) {
	mapper, err := c.Mapper()
	if err != nil {
		return false, err
	}
	all, err := c.list(ctx, mapper, fluxKinds[0])
	if err != nil || !anyAtWork(all) {
		return false, err
	}
	deployments, err := c.list(ctx, mapper, schema.GroupKind{Group: "apps", Kind: "Deployment"})
	if err != nil {
		return false, err
	}
	restarted := false
	for _, d := range deployments {
		labels := d.GetLabels()
		if labels["app.kubernetes.io/part-of"] != "flux" || labels["app.kubernetes.io/component"] != "kustomize-controller" {
			continue
		}
		if err := d.restart(ctx, time.Now()); err != nil {
			return restarted, err
		}
		restarted = true
	}
	return restarted, nil
}

func anyAtWork(all []object) bool {
	for _, o := range all {
		if _, ours := o.GetAnnotations()[heldAnnotation]; ours && !o.deleting() && atWork(o.Unstructured) {
			return true
		}
	}
	return false
}

// atWork says that a controller has begun with the object, and does not know yet
// whether it will be ready.
func atWork(o *unstructured.Unstructured) bool {
	return meta.IsStatusConditionPresentAndEqual(kube.Conditions(o), "Ready", metav1.ConditionUnknown)
}

// restart has a Deployment make new pods.
func (o object) restart(ctx context.Context, now time.Time) error {
	return o.patch(ctx, "restart", map[string]any{"template": map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{restartedAt: now.UTC().Format(time.RFC3339)},
	}}}, nil)
}
