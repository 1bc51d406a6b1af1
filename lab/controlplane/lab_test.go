//go:build lab

package controlplane

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"tombolo/lab/ports"
	"tombolo/lab/process"
	"tombolo/lab/standin"
	"tombolo/tests/tier"
)

// TestCluster runs one real control plane through its life: nodes, workloads,
// tokens, namespaces, a restart with the same data, and its end.
func TestCluster(t *testing.T) {
	tier.Short(t, "a real control plane lives through nodes, workloads and a restart")
	reviewer := tokenReviewer(t)
	dir := t.TempDir()
	m, s := manager(t, dir, reviewer)
	spec := standin.ClusterSpec{Name: "demo", Version: "1.34", Region: "eu-central-1", ServiceCIDR: "172.20.0.0/16", Issuer: "https://oidc.test/id/1"}
	began := time.Now()
	info, err := m.Start(t.Context(), spec)
	assert.NilError(t, err)
	t.Logf("ready after %v at %s", time.Since(began).Round(10*time.Millisecond), info.Endpoint)
	client, err := m.client("demo")
	assert.NilError(t, err)

	t.Run("version", func(t *testing.T) {
		v, err := client.Discovery().ServerVersion()
		assert.NilError(t, err)
		if v.EmulationMajor+"."+v.EmulationMinor != "1.34" {
			t.Errorf("emulates %s.%s, want 1.34", v.EmulationMajor, v.EmulationMinor)
		}
	})
	t.Run("nodes", func(t *testing.T) { testNodes(t, m, client) })
	t.Run("deployment", func(t *testing.T) { testDeployment(t, client) })
	t.Run("token", func(t *testing.T) { testToken(t, info) })
	t.Run("namespace", func(t *testing.T) { testNamespace(t, client) })
	t.Run("upgrade", func(t *testing.T) {
		spec.Version = "1.36"
		if again, err := m.Start(t.Context(), spec); err != nil || again.Endpoint != info.Endpoint {
			t.Fatal(again.Endpoint, err)
		}
		v, err := client.Discovery().ServerVersion()
		assert.Check(t, err == nil && v.Minor == "36" && v.EmulationMinor == "36", "version %+v, %v", v, err)
	})
	t.Run("restart", func(t *testing.T) {
		s.Close()
		again, _ := manager(t, dir, reviewer)
		back, err := again.Start(t.Context(), spec)
		assert.NilError(t, err)
		if back.Endpoint != info.Endpoint {
			t.Errorf("endpoint %s after the restart, was %s", back.Endpoint, info.Endpoint)
		}
		_, err = client.CoreV1().Nodes().Get(t.Context(), "ip-10-0-1-10", metav1.GetOptions{})
		assert.Check(t, err == nil, "the node is lost: %v", err)
		assert.NilError(t, again.Stop(t.Context(), "demo"))
		_, err = os.Stat(filepath.Join(dir, "clusters", "demo"))
		assert.Check(t, os.IsNotExist(err), "data is left after the stop: %v", err)
	})
}

func manager(t *testing.T, dir string, reviewer *httptest.Server) (*Manager, *process.Supervisor) {
	t.Helper()
	return managerOf(t, dir, func(o *Options) {
		o.TokenReviewURL = func(cluster string) string { return reviewer.URL + "/" + cluster }
		o.TokenReviewCA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: reviewer.Certificate().Raw})
	})
}

// managerOf runs the built control planes in dir.
func managerOf(t *testing.T, dir string, set func(*Options)) (*Manager, *process.Supervisor) {
	t.Helper()
	tools, err := filepath.Abs("../../.tools/bin")
	assert.NilError(t, err)
	s := process.NewSupervisor(filepath.Join(dir, "logs"), filepath.Join(dir, "run"))
	t.Cleanup(s.Close)
	book, err := ports.Open(filepath.Join(dir, "ports.json"))
	assert.NilError(t, err)
	o := Options{Dir: filepath.Join(dir, "clusters"), Tools: tools, Home: dir, Supervisor: s, Ports: book}
	set(&o)
	return New(o), s
}

// tokenReviewer accepts one token, as the AWS stand-in would.
func tokenReviewer(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review authenticationv1.TokenReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if r.URL.Path == "/demo" && review.Spec.Token == "right" {
			review.Status = authenticationv1.TokenReviewStatus{
				Authenticated: true,
				User:          authenticationv1.UserInfo{Username: "admin", Groups: []string{"system:masters"}},
			}
		}
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(s.Close)
	return s
}

func testNodes(t *testing.T, m *Manager, client kubernetes.Interface) {
	nodes := []standin.Node{
		{Name: "ip-10-0-1-10", InstanceType: "m7i.large", Zone: "eu-central-1a", ProviderID: "aws:///eu-central-1a/i-1", Labels: map[string]string{"pool": "a"}, Version: "1.34"},
		{Name: "ip-10-0-1-11", InstanceType: "m7i.large", Zone: "eu-central-1b", ProviderID: "aws:///eu-central-1b/i-2", Taints: []standin.Taint{{Key: "gpu", Effect: "NoSchedule"}}},
	}
	assert.NilError(t, m.SetNodes(t.Context(), "demo", "a", nodes))
	eventually(t, "the node is ready", func(ctx context.Context) (bool, error) {
		n, err := client.CoreV1().Nodes().Get(ctx, "ip-10-0-1-10", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
				// kwok has set the rest of it.
				assert.Equal(t, n.Status.NodeInfo.KubeletVersion, "v1.34.0-eks-0000000")
				return n.Labels["topology.kubernetes.io/zone"] == "eu-central-1a", nil
			}
		}
		return false, nil
	})
	rolled := []standin.Node{{Name: "ip-10-0-1-12", Version: "1.35"}, nodes[0]}
	assert.NilError(t, m.SetNodes(t.Context(), "demo", "a", rolled))
	n, err := client.CoreV1().Nodes().Get(t.Context(), "ip-10-0-1-12", metav1.GetOptions{})
	assert.NilError(t, err)
	ready := slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	assert.Check(t, ready && n.Status.NodeInfo.KubeletVersion == "v1.35.0-eks-0000000", "the new node is %+v", n.Status)
	assert.NilError(t, m.SetNodes(t.Context(), "demo", "a", nodes[:1]))
	eventually(t, "the surplus node is gone", func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().Nodes().Get(ctx, "ip-10-0-1-11", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

func testDeployment(t *testing.T, client kubernetes.Interface) {
	labels := map[string]string{"app": "web"}
	replicas := int32(2)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "apps"}}
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	web := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
			},
		},
	}
	if _, err := client.AppsV1().Deployments("apps").Create(t.Context(), web, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the deployment is ready", func(ctx context.Context) (bool, error) {
		d, err := client.AppsV1().Deployments("apps").Get(ctx, "web", metav1.GetOptions{})
		return err == nil && d.Status.ReadyReplicas == replicas, err
	})
}

func testToken(t *testing.T, info standin.ClusterInfo) {
	for token, want := range map[string]bool{"right": true, "wrong": false} {
		client, err := kubernetes.NewForConfig(&rest.Config{Host: info.Endpoint, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAData: info.CA}})
		assert.NilError(t, err)
		_, err = client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
		if (err == nil) != want || err != nil && !apierrors.IsUnauthorized(err) {
			t.Errorf("token %q: %v", token, err)
		}
	}
}

func testNamespace(t *testing.T, client kubernetes.Interface) {
	assert.NilError(t, client.CoreV1().Namespaces().Delete(t.Context(), "apps", metav1.DeleteOptions{}))
	eventually(t, "the namespace is gone", func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().Namespaces().Get(ctx, "apps", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

// eventually waits for a condition, at most 5 min.
func eventually(t *testing.T, what string, condition func(context.Context) (bool, error)) {
	t.Helper()
	began := time.Now()
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 5*time.Minute, true, condition)
	assert.Assert(t, err == nil, "wait until %s: %v", what, err)
	t.Logf("%s after %v", what, time.Since(began).Round(10*time.Millisecond))
}
