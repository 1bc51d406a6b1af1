//go:build lab

package controlplane

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"tombolo/lab/standin"
	"tombolo/tests/tier"
)

// TestLightClusters runs two light control planes on one etcd: they are apart,
// and what others wait for comes about in each.
func TestLightClusters(t *testing.T) {
	tier.Short(t, "two light control planes on one etcd are apart")
	reviewer := tokenReviewer(t)
	dir := t.TempDir()
	m, s := managerOf(t, dir, func(o *Options) {
		o.Light = true
		o.TokenReviewURL = func(cluster string) string { return reviewer.URL + "/" + cluster }
	})
	t.Cleanup(m.Close)
	clients := map[string]kubernetes.Interface{}
	spec := func(name string) standin.ClusterSpec {
		return standin.ClusterSpec{Name: name, Version: "1.35", Region: "eu-central-1", Issuer: "https://oidc.test/id/" + name}
	}
	for _, name := range []string{"one", "one-two"} {
		if _, err := m.Start(t.Context(), spec(name)); err != nil {
			t.Fatal(err)
		}
		client, err := m.client(name)
		assert.NilError(t, err)
		clients[name] = client
	}
	var names []string
	for _, p := range s.List() {
		names = append(names, p.Name)
	}
	got, want := strings.Join(names, " "), "etcd one-kube-apiserver one-two-kube-apiserver"
	assert.Check(t, got == want, "runs %s, want %s", got, want)
	t.Run("nodes", func(t *testing.T) { lightNode(t, m, clients["one"]) })
	t.Run("workloads", func(t *testing.T) { lightDeployment(t, clients["one"]) })
	t.Run("apart", func(t *testing.T) {
		_, err := clients["one-two"].CoreV1().Namespaces().Get(t.Context(), "apps", metav1.GetOptions{})
		assert.Check(t, apierrors.IsNotFound(err), "the other cluster has the namespace: %v", err)
	})
	t.Run("deletions", func(t *testing.T) { lightDeletions(t, clients["one"]) })
	t.Run("end", func(t *testing.T) {
		assert.NilError(t, m.Stop(t.Context(), "one"))
		_, err := os.Stat(filepath.Join(dir, "clusters", "one"))
		assert.Check(t, os.IsNotExist(err), "data is left after the stop: %v", err)
		_, err = clients["one-two"].CoreV1().Namespaces().Get(t.Context(), "kube-system", metav1.GetOptions{})
		assert.Check(t, err == nil, "the other cluster lost its data: %v", err)
		if _, err := m.Start(t.Context(), spec("one")); err != nil {
			t.Fatal(err)
		}
		again, err := m.client("one")
		assert.NilError(t, err)
		_, err = again.CoreV1().Nodes().Get(t.Context(), "ip-10-0-1-10", metav1.GetOptions{})
		assert.Check(t, apierrors.IsNotFound(err), "a new cluster has the node of one of that name: %v", err)
	})
}

func lightNode(t *testing.T, m *Manager, client kubernetes.Interface) {
	assert.NilError(t, m.SetNodes(t.Context(), "one", "a", []standin.Node{{Name: "ip-10-0-1-10"}}))
	// A lab from before nodes had a version has made this one.
	assert.NilError(t, m.SetNodes(t.Context(), "one", "a", []standin.Node{{Name: "ip-10-0-1-10", Version: "1.34"}}))
	eventually(t, "the node is ready", func(ctx context.Context) (bool, error) {
		n, err := client.CoreV1().Nodes().Get(ctx, "ip-10-0-1-10", metav1.GetOptions{})
		return err == nil && n.Status.NodeInfo.KubeletVersion == "v1.34.0-eks-0000000" && len(n.Status.Conditions) > 0 && n.Status.Conditions[0].Status == corev1.ConditionTrue, err
	})
}

func lightDeployment(t *testing.T, client kubernetes.Interface) {
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "apps"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	labels, replicas := map[string]string{"app": "web"}, int32(2)
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
	}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	meta := metav1.ObjectMeta{Name: "web"}
	_, err := client.AppsV1().Deployments("apps").Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector, Template: template},
	}, metav1.CreateOptions{})
	assert.NilError(t, err)
	_, err = client.AppsV1().StatefulSets("apps").Create(t.Context(), &appsv1.StatefulSet{
		ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: &replicas, Selector: selector, Template: template},
	}, metav1.CreateOptions{})
	assert.NilError(t, err)
	eventually(t, "the workloads are ready", func(ctx context.Context) (bool, error) {
		d, err := client.AppsV1().Deployments("apps").Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		r, err := client.AppsV1().ReplicaSets("apps").Get(ctx, "web-light", metav1.GetOptions{})
		if err != nil || r.Status.ReadyReplicas != replicas {
			return false, nil
		}
		s, err := client.AppsV1().StatefulSets("apps").Get(ctx, "web", metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == replicas && s.Status.ReadyReplicas == replicas, err
	})
}

// lightDeletions: what waits for dependents elsewhere goes at once, and a
// namespace goes when it is empty.
func lightDeletions(t *testing.T, client kubernetes.Interface) {
	foreground := metav1.DeletePropagationForeground
	assert.NilError(t, client.AppsV1().Deployments("apps").Delete(t.Context(), "web", metav1.DeleteOptions{PropagationPolicy: &foreground}))
	_, err := client.AppsV1().Deployments("apps").Get(t.Context(), "web", metav1.GetOptions{})
	assert.Check(t, apierrors.IsNotFound(err), "the deployment waits for somebody: %v", err)
	eventually(t, "its replicas are gone", func(ctx context.Context) (bool, error) {
		_, err := client.AppsV1().ReplicaSets("apps").Get(ctx, "web-light", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept", Finalizers: []string{"lab.test/kept"}}}
	if _, err := client.CoreV1().ConfigMaps("apps").Create(t.Context(), kept, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	assert.NilError(t, client.CoreV1().Namespaces().Delete(t.Context(), "apps", metav1.DeleteOptions{PropagationPolicy: &foreground}))
	eventually(t, "the workload in the namespace is gone", func(ctx context.Context) (bool, error) {
		_, err := client.AppsV1().StatefulSets("apps").Get(ctx, "web", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	_, err = client.CoreV1().Namespaces().Get(t.Context(), "apps", metav1.GetOptions{})
	assert.Check(t, err == nil, "the namespace went before its last object: %v", err)
	left, err := client.CoreV1().ConfigMaps("apps").Get(t.Context(), "kept", metav1.GetOptions{})
	assert.NilError(t, err)
	left.Finalizers = nil
	if _, err := client.CoreV1().ConfigMaps("apps").Update(t.Context(), left, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace is gone", func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().Namespaces().Get(ctx, "apps", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}
