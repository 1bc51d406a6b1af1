package controllers

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func fromConfigMap(variable, name, key string, optional bool) corev1.EnvVar {
	return corev1.EnvVar{Name: variable, ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key, Optional: &optional,
	}}}
}

func TestEnvironment(t *testing.T) {
	client := fake.NewClientset(
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "params", Namespace: "argocd"}, Data: map[string]string{"level": "debug"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "argocd-redis", Namespace: "argocd"}, Data: map[string][]byte{"auth": []byte("secret")}},
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere", Namespace: "default"}, Data: map[string]string{"level": "debug"}},
	)
	got, err := environment(t.Context(), client, "argocd", []corev1.EnvVar{
		{Name: "LITERAL", Value: "1"},
		{Name: "NAMESPACE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}}},
		{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
		{Name: "GOMEMLIMIT", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory"}}},
		fromConfigMap("LEVEL", "params", "level", false),
		fromConfigMap("FORMAT", "params", "format", true),
		fromConfigMap("NONE", "elsewhere", "level", true),
		redisPassword(),
	})
	want := []string{"LITERAL=1", "NAMESPACE=argocd", "LEVEL=debug", "REDIS_PASSWORD=secret"}
	assert.Check(t, err)
	assert.Check(t, is.DeepEqual(want, got))
}

func TestEnvironmentWithoutItsSource(t *testing.T) {
	_, err := environment(t.Context(), fake.NewClientset(), "argocd", []corev1.EnvVar{redisPassword()})
	const want = "resolve REDIS_PASSWORD of the environment: there is no key auth in argocd-redis yet"
	assert.Check(t, is.Error(err, want))
}

// TestSearch: a process finds programs where its container does, its own among them.
func TestSearch(t *testing.T) {
	o := Options{Tools: "/lab/tools"}
	for own, want := range map[string]string{
		"":                              "/lab/bin:/machine",
		"PATH=/usr/local/bin":           "/lab/tools",
		"PATH=/usr/local/sbin:/usr/bin": "/usr/local/sbin:/usr/bin",
		"PATH=/usr/bin:/usr/local/bin/": "/usr/bin:/lab/tools",
		"CDPATH=/usr/local/bin":         "/lab/bin:/machine",
	} {
		assert.Check(t, is.Equal(o.search([]string{own}, "/lab/bin", "/machine"), "PATH="+want), own)
	}
}
