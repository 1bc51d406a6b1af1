package kubelet

import (
	"context"
	"encoding/pem"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"tombolo/internal/userdata"
	"tombolo/lab/company"
	proxying "tombolo/lab/proxy"
)

const certificates = "-----BEGIN CERTIFICATE-----\nQ0E=\n-----END CERTIFICATE-----\n"

// TestReadEgress: a node reads what core writes, in both formats.
func TestReadEgress(t *testing.T) {
	own := userdata.Own{Egress: userdata.Egress{
		Proxy: "http://" + company.ProxyHost, NoProxy: []string{".svc", "10.0.0.0/16"}, CertificateAuthority: certificates,
		Mirrors: map[string]string{"docker.io": "mirror.corp.example/docker-hub", "quay.io": "mirror.corp.example"},
	}}
	for _, family := range []userdata.Family{userdata.AL2023, userdata.Bottlerocket} {
		text, err := userdata.Compose(family, own, "")
		assert.NilError(t, err)
		got, err := ReadEgress(text)
		assert.NilError(t, err)
		assert.DeepEqual(t, got, Egress{
			Proxy: "http://proxy.corp.example:3128", NoProxy: ".svc,10.0.0.0/16", Trusted: certificates,
			Endpoints: map[string]string{"docker.io": "https://mirror.corp.example/v2/docker-hub", "quay.io": "https://mirror.corp.example/v2"},
		})
		text, err = userdata.Compose(family, userdata.Own{MaxPods: 20}, "")
		assert.NilError(t, err)
		got, err = ReadEgress(text)
		assert.NilError(t, err)
		assert.DeepEqual(t, got, Egress{Endpoints: map[string]string{}})
	}
}

// bench is a node behind a proxy, and a registry that knows the images of ghcr.
type bench struct {
	*watch
	asked []string
}

func newBench(t *testing.T, data func(trusted string) string, objects ...*corev1.Secret) *bench {
	t.Helper()
	b := &bench{}
	registry := httptest.NewTLSServer(company.Mirror(func() (string, error) { return "secret", nil }, map[string]bool{"ghcr": true}))
	t.Cleanup(registry.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.asked = append(b.asked, r.Host)
		proxying.Connect(w, r, func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", registry.Listener.Addr().String())
		})
	}))
	t.Cleanup(proxy.Close)
	trusted := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: registry.Certificate().Raw}))
	client := fake.NewClientset(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}})
	for _, o := range objects {
		_, err := client.CoreV1().Secrets(o.Namespace).Create(t.Context(), o, metav1.CreateOptions{})
		assert.NilError(t, err)
	}
	at, err := url.Parse(proxy.URL)
	assert.NilError(t, err)
	b.watch = newWatch(Options{
		UserData: func(string, *corev1.Node) (string, error) { return data(trusted), nil },
		Proxies:  map[string]string{company.ProxyHost: at.String()}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}, "demo", client)
	return b
}

// start has a pod started, twice if it does not at first, and returns what became of it.
func (b *bench) start(t *testing.T, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	pod, err := b.client.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{})
	assert.NilError(t, err)
	for range 2 {
		err = b.run(t.Context(), pod)
		pod, _ = b.client.CoreV1().Pods(pod.Namespace).Get(t.Context(), pod.Name, metav1.GetOptions{})
		assert.Equal(t, err == nil, pod.Status.PodIP != "", "%v", err)
	}
	return pod
}

func podOf(image string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "app", Namespace: "apps"},
		Spec: corev1.PodSpec{
			NodeName: "node", Containers: []corev1.Container{{Name: "app", Image: image}},
			ImagePullSecrets: []corev1.LocalObjectReference{{Name: "image-pull"}},
		},
	}
}

func behindProxy(trusted string) string {
	text, _ := userdata.Compose(userdata.AL2023, userdata.Own{Egress: userdata.Egress{Proxy: "http://" + company.ProxyHost, CertificateAuthority: trusted}}, "")
	return text
}

// theLogin is for the host by which the registry's certificate is valid.
func theLogin(password string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "image-pull", Namespace: "apps"}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{"example.com":{"username":"robot","password":"` + password + `"}}}`)},
	}
}

const there = "example.com/ghcr/fluxcd/source-controller:v1"

func TestPodRuns(t *testing.T) {
	b := newBench(t, behindProxy, theLogin("secret"))
	pod := b.start(t, podOf(there))
	assert.Equal(t, pod.Status.Phase, corev1.PodRunning)
	assert.Check(t, pod.Status.ContainerStatuses[0].Ready)
	assert.DeepEqual(t, b.asked, []string{"example.com:443"})
}

func TestPodWaits(t *testing.T) {
	for name, c := range map[string]struct {
		image string
		data  func(string) string
		login *corev1.Secret
		want  string
	}{
		"no such image":     {"example.com/quay/x:1", behindProxy, theLogin("secret"), "unexpected status 404"},
		"another password":  {there, behindProxy, theLogin("guessed"), "pull access denied"},
		"no proxy":          {there, func(string) string { return "" }, theLogin("secret"), "no route to host: the node goes to example.com by no proxy"},
		"untrusted":         {there, func(string) string { return behindProxy("") }, theLogin("secret"), "x509: certificate signed by unknown authority"},
		"another proxy":     {there, func(s string) string { return strings.ReplaceAll(behindProxy(s), "3128", "8080") }, theLogin("secret"), "no such host"},
		"no name of images": {"Not An Image", behindProxy, theLogin("secret"), "couldn't parse image name"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.data, c.login)
			pod := b.start(t, podOf(c.image))
			assert.Equal(t, pod.Status.Phase, corev1.PodPending)
			waiting := pod.Status.ContainerStatuses[0].State.Waiting
			assert.Equal(t, waiting.Reason, "ImagePullBackOff")
			assert.Check(t, is.Contains(waiting.Message, c.want))
			assert.Check(t, !strings.Contains(waiting.Message, "127.0.0.1"), "the lab's own port is told: %s", waiting.Message)
			events, err := b.client.CoreV1().Events("apps").List(t.Context(), metav1.ListOptions{})
			assert.NilError(t, err)
			assert.Check(t, len(events.Items) > 0 && events.Items[0].Reason == "Failed")
		})
	}
}

// TestPodOfAJob ends.
func TestPodOfAJob(t *testing.T) {
	b := newBench(t, behindProxy, theLogin("secret"))
	pod := podOf(there)
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: "once"}}
	assert.Equal(t, b.start(t, pod).Status.Phase, corev1.PodSucceeded)
}
