package cloudmanager

import (
	"context"
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reconcileIngress gives an Ingress of the class alb its load balancer, and
// takes it away with the Ingress.
func (w *watch) reconcileIngress(ctx context.Context, i *networkingv1.Ingress) error {
	b := w.ingressBalancer(i)
	if i.DeletionTimestamp != nil || !isALB(i) {
		return w.releaseIngress(ctx, i, b)
	}
	ingresses := w.client.NetworkingV1().Ingresses(i.Namespace)
	if !slices.Contains(i.Finalizers, ingressFinalizer) {
		i.Finalizers = append(i.Finalizers, ingressFinalizer)
		updated, err := ingresses.Update(ctx, i, metav1.UpdateOptions{})
		if err != nil {
			return fmt.Errorf("set the finalizer: %w", err)
		}
		i = updated
	}
	host, err := w.ensure(ctx, b)
	if err != nil {
		return err
	}
	if at := i.Status.LoadBalancer.Ingress; len(at) == 1 && at[0].Hostname == host {
		return nil
	}
	i.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{Hostname: host}}
	if _, err := ingresses.UpdateStatus(ctx, i, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("tell the host: %w", err)
	}
	return nil
}

// releaseIngress lets an Ingress go once its load balancer is gone.
func (w *watch) releaseIngress(ctx context.Context, i *networkingv1.Ingress, b balancer) error {
	if !slices.Contains(i.Finalizers, ingressFinalizer) {
		return nil
	}
	if err := w.dismantle(ctx, b.tags); err != nil {
		return err
	}
	i.Finalizers = slices.DeleteFunc(i.Finalizers, func(f string) bool { return f == ingressFinalizer })
	_, err := w.client.NetworkingV1().Ingresses(i.Namespace).Update(ctx, i, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func isALB(i *networkingv1.Ingress) bool {
	if class := i.Spec.IngressClassName; class != nil {
		return *class == "alb"
	}
	return i.Annotations["kubernetes.io/ingress.class"] == "alb"
}

func (w *watch) ingressBalancer(i *networkingv1.Ingress) balancer {
	return balancer{
		name: controllerName(w.cluster, i.Namespace, i.Name), kind: "application",
		internal: i.Annotations["alb.ingress.kubernetes.io/scheme"] != "internet-facing",
		ports:    []port{{80, "HTTP"}},
		tags:     map[string]string{"elbv2.k8s.aws/cluster": w.cluster, "ingress.k8s.aws/stack": i.Namespace + "/" + i.Name},
		role:     "ingress.k8s.aws/resource",
	}
}
