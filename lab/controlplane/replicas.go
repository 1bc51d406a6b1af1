package controlplane

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"tombolo/lab/reconcile"
)

// replicaSetName is the name of the one ReplicaSet of a Deployment.
func replicaSetName(deployment string) string { return deployment + "-light" }

// readyReplicaSet gives a Deployment a ReplicaSet of its template: Helm, when
// it waits for a release, looks for the one that has the pods.
func (c *caretaker) readyReplicaSet(ctx context.Context, d *appsv1.Deployment) error {
	sets := c.client.AppsV1().ReplicaSets(d.Namespace)
	replicas := *cmp.Or(d.Spec.Replicas, new(int32))
	set, err := sets.Get(ctx, replicaSetName(d.Name), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		set, err = sets.Create(ctx, &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{
				Name: replicaSetName(d.Name), Labels: d.Spec.Template.Labels,
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
			},
			Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: d.Spec.Selector, Template: d.Spec.Template},
		}, metav1.CreateOptions{})
	case err == nil && !reflect.DeepEqual(set.Spec.Template, d.Spec.Template):
		set.Spec.Template, set.Spec.Replicas = d.Spec.Template, &replicas
		set, err = sets.Update(ctx, set, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("make the replicas of %s/%s: %w", d.Namespace, d.Name, err)
	}
	want := appsv1.ReplicaSetStatus{
		Replicas: replicas, FullyLabeledReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
		ObservedGeneration: set.Generation,
	}
	if reflect.DeepEqual(set.Status, want) {
		return nil
	}
	set.Status = want
	_, err = sets.UpdateStatus(ctx, set, metav1.UpdateOptions{})
	return err
}

// tidy removes what belonged to an object that is gone: there is no collector
// of garbage to do so.
func (c *caretaker) tidy(ctx context.Context, gone reconcile.Object) error {
	if gone.Kind != "deployment" {
		return nil
	}
	namespace, name, err := cache.SplitMetaNamespaceKey(gone.Key)
	if err != nil {
		return err
	}
	err = c.client.AppsV1().ReplicaSets(namespace).Delete(ctx, replicaSetName(name), metav1.DeleteOptions{})
	return reconcile.IgnoreGone(err)
}
