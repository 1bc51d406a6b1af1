package cloudmanager

import (
	"context"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"tombolo/lab/reconcile"
)

// What the chart of the AWS Load Balancer Controller calls its webhook of Services, version 3.4.0:
// helm/aws-load-balancer-controller/templates/webhook.yaml of
// https://github.com/kubernetes-sigs/aws-load-balancer-controller
const (
	balancerChart  = "aws-load-balancer-controller"
	webhookConfig  = "aws-load-balancer-webhook"
	webhookService = "aws-load-balancer-webhook-service"
	chartLabel     = "app.kubernetes.io/name"
)

// deploymentsOf are the Deployments of a chart.
func (w *watch) deploymentsOf(ctx context.Context, chart string) ([]appsv1.Deployment, error) {
	list, err := w.client.AppsV1().Deployments(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		LabelSelector: labels.Set{chartLabel: chart}.String(),
	})
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", chart, err)
	}
	return list.Items, nil
}

func answers(d appsv1.Deployment) bool { return d.Status.ReadyReplicas > 0 }

// runs says that a controller has a ready pod: without one it does nothing.
func (w *watch) runs(ctx context.Context, chart string) (bool, error) {
	found, err := w.deploymentsOf(ctx, chart)
	return slices.ContainsFunc(found, answers), err
}

// guardServices has the API server ask the load balancer controller's webhook about each new Service, as
// long as the controller is installed and has no ready pod: then its Service has no endpoints, and the Service is
// refused. What the webhook answers when it runs, the lab does without. changed is the Deployment that has
// changed, nil for one that is gone.
func (w *watch) guardServices(ctx context.Context, changed *appsv1.Deployment) error {
	if changed != nil && changed.Labels[chartLabel] != balancerChart {
		return nil
	}
	found, err := w.deploymentsOf(ctx, balancerChart)
	if err == nil && len(found) == 0 {
		err = w.removeWebhookService(ctx)
	}
	if err != nil {
		return err
	}
	configs := w.client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	if len(found) == 0 || slices.ContainsFunc(found, answers) {
		return reconcile.IgnoreGone(configs.Delete(ctx, webhookConfig, metav1.DeleteOptions{}))
	}
	namespace := found[0].Namespace
	_, err = w.client.CoreV1().Services(namespace).Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name: webhookService, Labels: map[string]string{chartLabel: balancerChart},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(&found[0], appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: corev1.ServiceSpec{Selector: found[0].Spec.Selector.MatchLabels, Ports: []corev1.ServicePort{{Name: "webhook-server", Port: 443}}},
	}, metav1.CreateOptions{})
	if err == nil || apierrors.IsAlreadyExists(err) {
		_, err = configs.Create(ctx, serviceWebhook(namespace), metav1.CreateOptions{})
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make the webhook of %s: %w", balancerChart, err)
	}
	return nil
}

// removeWebhookService removes the webhook's Service with the release, as Helm does: not every cluster of the
// lab has a garbage collector.
func (w *watch) removeWebhookService(ctx context.Context) error {
	services := w.client.CoreV1().Services
	all, err := services(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + webhookService})
	if err != nil {
		return fmt.Errorf("look up the webhook's Service: %w", err)
	}
	for _, s := range all.Items {
		if err := reconcile.IgnoreGone(services(s.Namespace).Delete(ctx, s.Name, metav1.DeleteOptions{})); err != nil {
			return fmt.Errorf("delete the webhook's Service: %w", err)
		}
	}
	return nil
}

func serviceWebhook(namespace string) *admissionv1.MutatingWebhookConfiguration {
	path := "/mutate-v1-service"
	return &admissionv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: webhookConfig, Labels: map[string]string{chartLabel: balancerChart}},
		Webhooks: []admissionv1.MutatingWebhook{{
			Name: "mservice.elbv2.k8s.aws", FailurePolicy: new(admissionv1.Fail), SideEffects: new(admissionv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
			ClientConfig:            admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: namespace, Name: webhookService, Path: &path}},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"services"}},
			}},
			ObjectSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: chartLabel, Operator: metav1.LabelSelectorOpNotIn, Values: []string{balancerChart}},
			}},
		}},
	}
}
