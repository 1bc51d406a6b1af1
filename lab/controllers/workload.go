package controllers

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// The kinds of workloads that controllers are asked for with.
const (
	deployment  = "deployment"
	statefulSet = "statefulset"
)

// workload is what its kinds have in common.
type workload struct {
	kind            string
	namespace, name string
	labels          map[string]string
	template        corev1.PodTemplateSpec
	wanted          bool // it asks for a pod, and is not being deleted
	ready           bool // it has a pod that is ready
}

func newWorkload(kind string, meta metav1.ObjectMeta, replicas *int32, template corev1.PodTemplateSpec, ready int32) workload {
	return workload{
		kind: kind, namespace: meta.Namespace, name: meta.Name, labels: meta.Labels, template: template,
		ready:  ready > 0,
		wanted: meta.DeletionTimestamp == nil && (replicas == nil || *replicas > 0),
	}
}

// asWorkload reads an object of a watched kind.
func asWorkload(object any) workload {
	if s, ok := object.(*appsv1.StatefulSet); ok {
		return newWorkload(statefulSet, s.ObjectMeta, s.Spec.Replicas, s.Spec.Template, s.Status.ReadyReplicas)
	}
	d := object.(*appsv1.Deployment)
	return newWorkload(deployment, d.ObjectMeta, d.Spec.Replicas, d.Spec.Template, d.Status.ReadyReplicas)
}

// watched are the informers of the kinds, by kind.
func watched(factory informers.SharedInformerFactory) map[string]cache.SharedIndexInformer {
	return map[string]cache.SharedIndexInformer{
		deployment:  factory.Apps().V1().Deployments().Informer(),
		statefulSet: factory.Apps().V1().StatefulSets().Informer(),
	}
}
