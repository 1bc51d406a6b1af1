package cloudmanager

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestServicesAreGuarded: the webhook is there while its controller is, and cannot answer.
func TestServicesAreGuarded(t *testing.T) {
	w := newAccount(t).watching()
	guarded := func() bool {
		t.Helper()
		list, err := w.client.AdmissionregistrationV1().MutatingWebhookConfigurations().List(t.Context(), metav1.ListOptions{})
		assert.NilError(t, err)
		return len(list.Items) == 1
	}
	deployments := w.client.AppsV1().Deployments("kube-system")
	d, err := deployments.Create(t.Context(), controller(balancerChart), metav1.CreateOptions{})
	assert.NilError(t, err)
	assert.NilError(t, w.guardServices(t.Context(), controller("reloader")))
	assert.Check(t, !guarded(), "another chart has made it")
	for range 2 {
		assert.NilError(t, w.guardServices(t.Context(), d))
		assert.Check(t, guarded(), "no pod is ready")
	}
	for _, pods := range []int32{1, 0} {
		d.Status.ReadyReplicas = pods
		_, err = deployments.Update(t.Context(), d, metav1.UpdateOptions{})
		assert.NilError(t, err)
		assert.NilError(t, w.guardServices(t.Context(), d))
		assert.Equal(t, guarded(), pods == 0)
	}
	assert.NilError(t, deployments.Delete(t.Context(), d.Name, metav1.DeleteOptions{}))
	assert.NilError(t, w.guardServices(t.Context(), nil))
	assert.Check(t, !guarded(), "it has outlived its controller")
	services, err := w.client.CoreV1().Services(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	assert.NilError(t, err)
	assert.Check(t, is.Len(services.Items, 0), "its Service has outlived its controller")
}
