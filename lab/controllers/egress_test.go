package controllers

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// TestWay: a process goes by the lab's proxy, and by the one that its workload names where that
// is one of this machine.
func TestWay(t *testing.T) {
	o := Options{Proxy: "http://127.0.0.1:3"}
	byTheLab := []string{"HTTP_PROXY=http://127.0.0.1:3", "HTTPS_PROXY=http://127.0.0.1:3", "NO_PROXY=127.0.0.1,localhost"}
	assert.DeepEqual(t, o.way(nil), byTheLab)
	assert.DeepEqual(t, o.way([]string{"HTTP_PROXY=http://proxy.corp.example:3128", "HTTPS_PROXY=http://proxy.corp.example:3128", "NO_PROXY=.svc"}), byTheLab)
	assert.DeepEqual(t, o.way([]string{"HTTP_PROXY=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY=.svc"}),
		[]string{"HTTP_PROXY=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY=127.0.0.1,localhost,.svc"})
}

// withMounts is a plan of a container that has certificates in a ConfigMap, which its
// environment leads to, and other files.
func withMounts() plan {
	container := corev1.Container{
		Env: []corev1.EnvVar{
			{Name: "SSL_CERT_DIR", Value: "/etc/company-ca"},
			{Name: "CA", Value: "/etc/company-ca/ca.crt"},
			{Name: "CA_OF_IMAGE", Value: "/etc/company-cas"},
			{Name: "LEVEL", Value: "info"},
			{Name: "PATH", Value: "/usr/local/bin"},
		},
		VolumeMounts: []corev1.VolumeMount{{Name: "company-ca", MountPath: "/etc/company-ca"}, {Name: "unnamed", MountPath: "/unnamed"}, {Name: "tmp", MountPath: "/tmp"}},
	}
	configMap := func(name string) corev1.VolumeSource {
		return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}
	}
	w := workload{template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: []corev1.Volume{
		{Name: "company-ca", VolumeSource: configMap("certificates")},
		{Name: "unnamed", VolumeSource: configMap("unnamed")},
		{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}}}}
	p := plan{process: "demo-source-controller", namespace: "flux-system", labels: map[string]string{"app": "source-controller"}}
	p.read(container, w)
	return p
}

// TestMountsOfAPlan: the environment leads to the process's own directory in place of the
// container's, and paths of the image are left out,
// but for those that programs are searched in.
func TestMountsOfAPlan(t *testing.T) {
	p, dir := withMounts(), t.TempDir()
	assert.DeepEqual(t, p.onHost(dir), []corev1.EnvVar{
		{Name: "SSL_CERT_DIR", Value: filepath.Join(dir, "volumes", "company-ca")},
		{Name: "CA", Value: filepath.Join(dir, "volumes", "company-ca", "ca.crt")},
		{Name: "LEVEL", Value: "info"},
		{Name: "PATH", Value: "/usr/local/bin"},
	})

	w := &watch{client: fake.NewClientset()}
	assert.Error(t, w.mount(t.Context(), p, dir), `MountVolume.SetUp failed for volume "company-ca": configmap "certificates" not found`)
	w.client = fake.NewClientset(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "certificates", Namespace: "flux-system"}, Data: map[string]string{"ca.crt": "PEM"}})
	assert.NilError(t, w.mount(t.Context(), p, dir))
	text, err := os.ReadFile(filepath.Join(dir, "volumes", "company-ca", "ca.crt"))
	assert.NilError(t, err)
	assert.Equal(t, string(text), "PEM")
}
