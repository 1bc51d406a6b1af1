package controlplane

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"tombolo/lab/ports"
	"tombolo/lab/process"
	"tombolo/lab/standin"
)

func prepared(t *testing.T, version string) *cluster {
	t.Helper()
	dir := t.TempDir()
	book, err := ports.Open(filepath.Join(dir, "ports.json"))
	assert.NilError(t, err)
	m := New(Options{
		Dir: dir, Tools: "/tools", Home: dir, Ports: book, Supervisor: process.NewSupervisor(dir, dir),
		TokenReviewURL: func(cluster string) string { return "https://127.0.0.1:1/" + cluster },
	})
	c, err := m.prepare(standin.ClusterSpec{
		Name: "demo", ID: "arn:aws:eks:eu-central-1:111122223333:cluster/demo",
		Version: version, Region: "eu-central-1", ServiceCIDR: "10.100.0.0/16", Issuer: "https://oidc.test/id/1",
	})
	assert.NilError(t, err)
	return c
}

// TestEmulation gives every part of the control plane the cluster's version,
// unless it is the binaries' own.
func TestEmulation(t *testing.T) {
	for version, want := range map[string]int{"1.34": 1, "1.36": 0} {
		c := prepared(t, version)
		for part, args := range map[string][]string{
			"api server": c.apiServerArgs(), "controller manager": c.controllerManagerArgs(), "scheduler": c.schedulerArgs(),
		} {
			got := 0
			for _, arg := range args {
				if strings.HasPrefix(arg, "--emulated-version=") {
					got++
				}
			}
			assert.Check(t, got == want, "%s of %s: %d emulation flags, want %d", part, version, got, want)
		}
	}
}

// TestTooOldToEmulate is refused before anything starts.
func TestTooOldToEmulate(t *testing.T) {
	_, err := (&Manager{}).prepare(standin.ClusterSpec{Name: "old", Version: "1.32"})
	assert.Error(t, err, "the lab has the control plane of Kubernetes 1.36, and cannot serve 1.32; use 1.33 or newer in the lab")
}

// TestNothingListensOnTheNetwork holds every address at loopback, and every
// server of the control plane behind certificates.
func TestNothingListensOnTheNetwork(t *testing.T) {
	c := prepared(t, "1.35")
	for part, want := range map[string]struct {
		args  []string
		flags []string
	}{
		"etcd":               {c.etcdArgs(), []string{"--client-cert-auth=true", "--peer-client-cert-auth=true"}},
		"api server":         {c.apiServerArgs(), []string{"--bind-address=127.0.0.1", "--authorization-mode=Node,RBAC", "--service-cluster-ip-range=10.100.0.0/16", "--service-account-issuer=https://oidc.test/id/1"}},
		"controller manager": {c.controllerManagerArgs(), []string{"--bind-address=127.0.0.1"}},
		"scheduler":          {c.schedulerArgs(), []string{"--bind-address=127.0.0.1"}},
	} {
		for _, flag := range want.flags {
			if !slices.Contains(want.args, flag) {
				t.Errorf("%s runs without %s: %v", part, flag, want.args)
			}
		}
	}
	kwok, err := c.kwokArgs()
	assert.NilError(t, err)
	for _, arg := range slices.Concat(c.etcdArgs(), c.apiServerArgs(), c.controllerManagerArgs(), c.schedulerArgs(), kwok) {
		assert.Check(t, !strings.Contains(arg, "0.0.0.0"), "%s listens on every address", arg)
	}
}

// TestLightArgs keeps light clusters apart in their one store, which is behind
// certificates of its own.
func TestLightArgs(t *testing.T) {
	dir := t.TempDir()
	book, err := ports.Open(filepath.Join(dir, "ports.json"))
	assert.NilError(t, err)
	m := New(Options{
		Dir: dir, Tools: "/tools", Home: dir, Ports: book, Light: true,
		TokenReviewURL: func(string) string { return "https://127.0.0.1:1" },
	})
	assert.NilError(t, m.shared.prepare(book))
	args := m.shared.args()
	assert.Check(t, slices.Contains(args, "--client-cert-auth=true") && !slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "0.0.0.0") }), "etcd is open: %v", args)
	for _, name := range []string{"demo", "demo-2"} {
		c, err := m.prepare(standin.ClusterSpec{Name: name, Version: "1.35", Issuer: "https://oidc.test/id/1"})
		assert.NilError(t, err)
		args := c.apiServerArgs()
		for _, want := range []string{
			"--etcd-prefix=/clusters/" + name, "--etcd-servers=" + m.shared.endpoint(), "--etcd-cafile=" + m.shared.ca.CertFile("ca"),
			"--enable-garbage-collector=false", "--client-ca-file=" + c.ca.CertFile("ca"),
		} {
			assert.Check(t, slices.Contains(args, want), "%s runs without %s: %v", name, want, args)
		}
	}
}

func TestAdminKubeconfig(t *testing.T) {
	c := prepared(t, "1.35")
	config, err := clientcmd.BuildConfigFromFlags("", c.file("admin.kubeconfig"))
	assert.NilError(t, err)
	if config.Host != c.endpoint() || len(config.CertData) == 0 || string(config.CAData) != string(c.ca.PEM()) {
		t.Errorf("host %s, %d bytes of certificate", config.Host, len(config.CertData))
	}
}

func TestStartRefusesBadNames(t *testing.T) {
	m := New(Options{Dir: t.TempDir()})
	for _, name := range []string{"", "../x", "a/b", "-a"} {
		_, err := m.Start(t.Context(), standin.ClusterSpec{Name: name})
		assert.Check(t, err != nil && strings.HasSuffix(err.Error(), "is no name for a cluster"), "start of %q: %v", name, err)
		err = m.Stop(t.Context(), name)
		assert.Check(t, err != nil, "stop of %q removed something", name)
	}
}

func TestNode(t *testing.T) {
	got := node(standin.Node{
		Name: "ip-10-0-1-10", InstanceType: "m7g.large", Zone: "eu-central-1a", ProviderID: "aws:///eu-central-1a/i-1",
		Labels: map[string]string{"kubernetes.io/arch": "arm64", "pool": "a"},
		Taints: []standin.Taint{{Key: "gpu", Value: "yes", Effect: "NoSchedule"}, {Key: "x", Effect: "NoExecute"}}, Pods: 29,
	}, "a")
	assert.Equal(t, got.Status.Allocatable.Pods().Value(), int64(29))
	assert.Check(t, is.Len(node(standin.Node{Name: "ip-10-0-1-11"}, "a").Status.Allocatable, 0), "kwok has as many as there are")
	labels := map[string]string{
		"kubernetes.io/hostname": "ip-10-0-1-10", "kubernetes.io/os": "linux", "kubernetes.io/arch": "arm64",
		"node.kubernetes.io/instance-type": "m7g.large", "topology.kubernetes.io/zone": "eu-central-1a",
		"pool": "a", groupLabel: "a",
	}
	assert.Check(t, is.DeepEqual(labels, got.Labels))
	spec := corev1.NodeSpec{ProviderID: "aws:///eu-central-1a/i-1", Taints: []corev1.Taint{
		{Key: "gpu", Value: "yes", Effect: corev1.TaintEffectNoSchedule}, {Key: "x", Effect: corev1.TaintEffectNoExecute},
	}}
	assert.Check(t, is.DeepEqual(spec, got.Spec))
}

func TestSetNodesOnAClusterThatIsGone(t *testing.T) {
	m := New(Options{Dir: t.TempDir()})
	err := m.SetNodes(t.Context(), "demo", "a", nil)
	assert.Check(t, err == nil, "no nodes: %v", err)
	err = m.SetNodes(t.Context(), "demo", "a", []standin.Node{{Name: "n"}})
	assert.Check(t, err != nil && strings.HasPrefix(err.Error(), "set the nodes of a in cluster demo: "), "a node: %v", err)
}

// TestTokenKey is the public half of the key that the API server signs with.
func TestTokenKey(t *testing.T) {
	c := prepared(t, "1.35")
	m := New(Options{Dir: filepath.Dir(c.dir)})
	got, err := m.TokenKey("demo")
	assert.NilError(t, err)
	data, err := os.ReadFile(c.ca.KeyFile(serviceAccountKey))
	assert.NilError(t, err)
	block, _ := pem.Decode(data)
	private, err := x509.ParseECPrivateKey(block.Bytes)
	assert.Check(t, err == nil && private.PublicKey.Equal(got), "another key: %v, %v", got, err)
	const missing = "read the token key: the lab has no cluster other"
	_, err = m.TokenKey("other")
	assert.Check(t, err != nil && err.Error() == missing, "got %v, want %s", err, missing)
}
