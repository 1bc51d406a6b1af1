package controlplane

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"tombolo/lab/reconcile"
)

// errNotEmpty says that something of a namespace is still being deleted, such
// as what has a finalizer.
var errNotEmpty = errors.New("the namespace is not empty yet")

// emptyNamespace deletes what is in a namespace; when nothing is left, it lets
// the namespace go.
func (c *caretaker) emptyNamespace(ctx context.Context, space *corev1.Namespace) error {
	kinds, err := c.deletableKinds()
	if err != nil {
		return fmt.Errorf("list the kinds of objects: %w", err)
	}
	empty := true
	for _, kind := range kinds {
		gone, err := c.deleteAll(ctx, kind, space.Name)
		if err != nil {
			return fmt.Errorf("delete the %s of namespace %s: %w", kind.Resource, space.Name, err)
		}
		empty = empty && gone
	}
	if !empty {
		return errNotEmpty
	}
	return c.releaseNamespace(ctx, space)
}

// releaseNamespace lets an empty namespace go, also where its deletion waits
// for what belongs to it: the API asks that of namespaces even without a
// collector of garbage.
func (c *caretaker) releaseNamespace(ctx context.Context, space *corev1.Namespace) error {
	namespaces := c.client.CoreV1().Namespaces()
	final := space.DeepCopy()
	final.Spec.Finalizers = nil
	left, err := namespaces.Finalize(ctx, final, metav1.UpdateOptions{})
	if err == nil && slices.Contains(left.Finalizers, metav1.FinalizerDeleteDependents) {
		left.Finalizers = slices.DeleteFunc(left.Finalizers, func(f string) bool { return f == metav1.FinalizerDeleteDependents })
		_, err = namespaces.Update(ctx, left, metav1.UpdateOptions{})
	}
	return reconcile.IgnoreGone(err)
}

// deletableKinds are the kinds of objects in namespaces that can be listed and
// deleted together.
func (c *caretaker) deletableKinds() ([]schema.GroupVersionResource, error) {
	lists, err := c.client.Discovery().ServerPreferredNamespacedResources()
	if err != nil {
		return nil, err
	}
	verbs := discovery.SupportsAllVerbs{Verbs: []string{"list", "deletecollection"}}
	var kinds []schema.GroupVersionResource
	for _, list := range discovery.FilteredBy(verbs, lists) {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range list.APIResources {
			kinds = append(kinds, version.WithResource(r.Name))
		}
	}
	return kinds, nil
}

// deleteAll deletes the objects of a kind, and says whether none is left.
func (c *caretaker) deleteAll(ctx context.Context, kind schema.GroupVersionResource, namespace string) (gone bool, _ error) {
	objects := c.metadata.Resource(kind).Namespace(namespace)
	list, err := objects.List(ctx, metav1.ListOptions{Limit: 1})
	if apierrors.IsNotFound(err) {
		return true, nil // its definition has just gone
	}
	if err != nil || len(list.Items) == 0 {
		return err == nil, err
	}
	if err := objects.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return false, err
	}
	list, err = objects.List(ctx, metav1.ListOptions{Limit: 1})
	return err == nil && len(list.Items) == 0, err
}

// readyNode is what a kubelet reports.
func (c *caretaker) readyNode(ctx context.Context, node *corev1.Node) error {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	ready := node.DeepCopy()
	ready.Status.Conditions = append(ready.Status.Conditions, corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
		LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now(),
	})
	_, err := c.client.CoreV1().Nodes().UpdateStatus(ctx, ready, metav1.UpdateOptions{})
	return err
}

// readyDeployment is what a Deployment's pods would bring about.
func (c *caretaker) readyDeployment(ctx context.Context, d *appsv1.Deployment) error {
	if err := c.readyReplicaSet(ctx, d); err != nil {
		return err
	}
	replicas := *cmp.Or(d.Spec.Replicas, new(int32))
	if d.Status.ObservedGeneration == d.Generation && d.Status.ReadyReplicas == replicas {
		return nil
	}
	ready := d.DeepCopy()
	ready.Status = appsv1.DeploymentStatus{
		ObservedGeneration: d.Generation, Replicas: replicas, UpdatedReplicas: replicas,
		ReadyReplicas: replicas, AvailableReplicas: replicas,
		Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable", LastUpdateTime: metav1.Now(), LastTransitionTime: metav1.Now()},
			{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable", LastUpdateTime: metav1.Now(), LastTransitionTime: metav1.Now()},
		},
	}
	_, err := c.client.AppsV1().Deployments(d.Namespace).UpdateStatus(ctx, ready, metav1.UpdateOptions{})
	return err
}

// readyStatefulSet is what a StatefulSet's pods would bring about.
func (c *caretaker) readyStatefulSet(ctx context.Context, s *appsv1.StatefulSet) error {
	replicas := *cmp.Or(s.Spec.Replicas, new(int32))
	if s.Status.ObservedGeneration == s.Generation && s.Status.ReadyReplicas == replicas {
		return nil
	}
	ready := s.DeepCopy()
	ready.Status = appsv1.StatefulSetStatus{
		ObservedGeneration: s.Generation, Replicas: replicas, UpdatedReplicas: replicas, CurrentReplicas: replicas,
		ReadyReplicas: replicas, AvailableReplicas: replicas, CurrentRevision: "1", UpdateRevision: "1",
	}
	_, err := c.client.AppsV1().StatefulSets(s.Namespace).UpdateStatus(ctx, ready, metav1.UpdateOptions{})
	return err
}

// readyQuota says that nothing of a quota is used, since nothing runs.
func (c *caretaker) readyQuota(ctx context.Context, q *corev1.ResourceQuota) error {
	if reflect.DeepEqual(q.Status.Hard, q.Spec.Hard) {
		return nil
	}
	ready := q.DeepCopy()
	ready.Status = corev1.ResourceQuotaStatus{Hard: q.Spec.Hard, Used: corev1.ResourceList{}}
	for name := range q.Spec.Hard {
		ready.Status.Used[name] = resource.Quantity{}
	}
	_, err := c.client.CoreV1().ResourceQuotas(q.Namespace).UpdateStatus(ctx, ready, metav1.UpdateOptions{})
	return err
}
