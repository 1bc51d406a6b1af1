package cloudmanager

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"tombolo/lab/reconcile"
)

// The finalizers that keep an object until what was made for it in the cloud is
// gone.
const (
	cleanupFinalizer = "service.kubernetes.io/load-balancer-cleanup"
	serviceFinalizer = "service.k8s.aws/resources"
	ingressFinalizer = "ingress.k8s.aws/resources"
)

// updater writes objects of a kind.
type updater[T metav1.Object] interface {
	Update(ctx context.Context, object T, o metav1.UpdateOptions) (T, error)
}

// hold gives an object a finalizer.
func hold[T metav1.Object](ctx context.Context, objects updater[T], object T, finalizer string) (T, error) {
	if slices.Contains(object.GetFinalizers(), finalizer) {
		return object, nil
	}
	object.SetFinalizers(append(object.GetFinalizers(), finalizer))
	updated, err := objects.Update(ctx, object, metav1.UpdateOptions{})
	if err != nil {
		return object, fmt.Errorf("set the finalizer: %w", err)
	}
	return updated, nil
}

// release lets an object with a finalizer go once clean has removed what was
// made for it.
func release[T metav1.Object](ctx context.Context, objects updater[T], object T, finalizer string, clean func() error) error {
	if !slices.Contains(object.GetFinalizers(), finalizer) {
		return nil
	}
	if err := clean(); err != nil {
		return err
	}
	object.SetFinalizers(slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return f == finalizer }))
	_, err := objects.Update(ctx, object, metav1.UpdateOptions{})
	return reconcile.IgnoreGone(err)
}

// untyped is an updater of objects whose kind has no client of its own.
type untyped struct{ client dynamic.ResourceInterface }

func (u untyped) Update(ctx context.Context, object *unstructured.Unstructured, o metav1.UpdateOptions) (*unstructured.Unstructured, error) {
	return u.client.Update(ctx, object, o)
}
