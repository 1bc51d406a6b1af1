package automation

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"tombolo/config"
)

// requestedAt is the annotation by which Flux is asked to reconcile an object
// now, and not at its next interval; `flux reconcile` sets it too.
const requestedAt = "reconcile.fluxcd.io/requestedAt"

// fetchManager owns the annotation, and nothing else of the object.
const fetchManager = "tombolo-verify"

// fetchNow asks Flux to look at the platform's repository now: what was pushed
// a moment ago is what should be verified. Who may not ask gets a note, and
// what Flux has fetched by itself.
func (d *Driver) fetchNow(ctx context.Context, c *config.Cluster, k cluster) {
	if err := k.requestFetch(ctx, d.now()); err != nil && ctx.Err() == nil {
		d.opts.Observer.Note(c.Name, fmt.Sprintf("verifying what Flux fetched last, as it cannot be asked to fetch now: %v", err))
	}
}

// requestFetch sets the annotation. A repository that does not exist is left
// for verify to miss.
func (k cluster) requestFetch(ctx context.Context, at time.Time) error {
	repositories, err := k.repositories()
	if meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask the Kubernetes API for its kinds: %w", err)
	}
	o, err := repositories.Get(ctx, platformName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	request := &unstructured.Unstructured{}
	request.SetGroupVersionKind(o.GroupVersionKind())
	request.SetNamespace(o.GetNamespace())
	request.SetName(o.GetName())
	request.SetAnnotations(map[string]string{requestedAt: at.UTC().Format(time.RFC3339Nano)})
	_, err = repositories.Apply(ctx, platformName, request, metav1.ApplyOptions{FieldManager: fetchManager, Force: true})
	return err
}

func (k cluster) repositories() (dynamic.ResourceInterface, error) {
	mapper, err := k.mapper()
	if err != nil {
		return nil, err
	}
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: sourceGroup, Kind: "GitRepository"})
	if err != nil {
		return nil, err
	}
	return k.dynamic.Resource(mapping.Resource).Namespace(infraNamespace), nil
}

// asked says that Flux was asked to reconcile the object and has not yet.
func asked(o *unstructured.Unstructured) bool {
	at := o.GetAnnotations()[requestedAt]
	return at != "" && at != text(o, "status", "lastHandledReconcileAt")
}
