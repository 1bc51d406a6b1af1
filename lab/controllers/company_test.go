package controllers

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// TestWay: in a company's network a process goes by the proxy that its workload names, when
// there is such a one, and nowhere otherwise.
func TestWay(t *testing.T) {
	closed := Options{Company: &Company{Proxies: map[string]string{"proxy.corp.example:3128": "http://127.0.0.1:1"}, NoWay: "http://127.0.0.1:2"}}
	assert.DeepEqual(t, closed.way([]string{"HTTPS_PROXY=http://proxy.corp.example:3128", "HTTP_PROXY=http://other:3128", "NO_PROXY=.svc"}),
		[]string{"NO_PROXY=127.0.0.1,localhost,.svc", "HTTP_PROXY=http://127.0.0.1:2", "HTTPS_PROXY=http://127.0.0.1:1"})
	assert.DeepEqual(t, closed.way(nil), []string{"NO_PROXY=127.0.0.1,localhost", "HTTP_PROXY=http://127.0.0.1:2", "HTTPS_PROXY=http://127.0.0.1:2"})
	open := Options{Proxy: "http://127.0.0.1:3"}
	assert.DeepEqual(t, open.way([]string{"HTTPS_PROXY=http://proxy.corp.example:3128"}),
		[]string{"HTTP_PROXY=http://127.0.0.1:3", "HTTPS_PROXY=http://127.0.0.1:3", "NO_PROXY=127.0.0.1,localhost"})
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

// TestStarted: where images may be missing, a process waits for a pod of its workload that runs.
func TestStarted(t *testing.T) {
	p := withMounts()
	pod := func(phase corev1.PodPhase, app string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: app, Namespace: "flux-system", Labels: map[string]string{"app": app}},
			Status:     corev1.PodStatus{Phase: phase},
		}
	}
	w := &watch{o: Options{Company: &Company{}}, client: fake.NewClientset(pod(corev1.PodPending, "source-controller"), pod(corev1.PodRunning, "other"))}
	assert.Check(t, is.Error(w.started(t.Context(), p), "no pod of demo-source-controller runs"))
	w.client = fake.NewClientset(pod(corev1.PodRunning, "source-controller"))
	assert.NilError(t, w.started(t.Context(), p))
	w = &watch{client: fake.NewClientset()}
	assert.NilError(t, w.started(t.Context(), p), "where every image is found, nothing is waited for")
}
