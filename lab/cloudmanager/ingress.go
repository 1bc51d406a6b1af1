package cloudmanager

import (
	"context"
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reconcileIngress gives an Ingress of the class alb its load balancer, and
// takes it away with the Ingress.
func (w *watch) reconcileIngress(ctx context.Context, i *networkingv1.Ingress) error {
	b := w.ingressBalancer(i)
	ingresses := w.client.NetworkingV1().Ingresses(i.Namespace)
	if i.DeletionTimestamp != nil || !isALB(i) {
		return release(ctx, ingresses, i, ingressFinalizer, func() error { return w.dismantle(ctx, b.tags) })
	}
	i, err := hold(ctx, ingresses, i, ingressFinalizer)
	if err != nil {
		return err
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
