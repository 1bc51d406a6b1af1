//go:build lab

// Package engines holds the check of trees to the engines: trees made from a seed go to check and to the
// real controllers of Flux and Argo CD, and both have to say the same.
package engines

import (
	"bytes"
	"context"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"tombolo/lab/controllers"
	"tombolo/lab/controlplane"
	"tombolo/lab/git"
	"tombolo/lab/ports"
	"tombolo/lab/process"
	"tombolo/lab/proxy"
	"tombolo/lab/standin"
	"tombolo/tests/files"
	"tombolo/tests/trees"
)

// cluster is an API server with the controllers that its Deployments ask for, and a Git repository with
// all trees.
type cluster struct {
	dir, tools, kubeconfig string
	client                 dynamic.Interface
}

// start brings up a cluster whose repository has the texts, by their paths. It ends with the test.
func start(t *testing.T, texts map[string]string) *cluster {
	t.Helper()
	dir, err := os.MkdirTemp("", "engines-") //nolint:usetesting // the path of a socket in it must stay short
	assert.NilError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the logs are in %s", dir)
			return
		}
		assert.Check(t, os.RemoveAll(dir))
	})
	tools, err := filepath.Abs("../../.tools/bin")
	assert.NilError(t, err)
	c := &cluster{dir: dir, tools: tools}
	log, err := os.Create(filepath.Join(dir, "lab.log"))
	assert.NilError(t, err)
	t.Cleanup(func() { log.Close() })
	logger := slog.New(slog.NewTextHandler(log, nil))
	supervisor := process.NewSupervisor(c.path("logs"), c.path("run"))
	t.Cleanup(supervisor.Close)
	book, err := ports.Open(c.path("ports.json"))
	assert.NilError(t, err)
	// Nobody comes with a token that the API server has not made itself.
	reviews := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(reviews.Close)
	planes := controlplane.New(controlplane.Options{
		Dir: c.path("clusters"), Tools: tools, Home: dir, Supervisor: supervisor, Ports: book, Light: true, Log: logger,
		TokenReviewURL: func(string) string { return reviews.URL },
		TokenReviewCA:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: reviews.Certificate().Raw}),
	})
	t.Cleanup(planes.Close)
	spec := standin.ClusterSpec{Name: "one", Version: controlplane.Version, Region: "eu-central-1", Issuer: "https://oidc.test/id/one"}
	_, err = planes.Start(t.Context(), spec)
	assert.NilError(t, err)
	c.kubeconfig = planes.AdminKubeconfig(spec.Name)
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	assert.NilError(t, err)
	config.QPS = -1 // the test asks much, and alone
	c.client, err = dynamic.NewForConfig(config)
	assert.NilError(t, err)

	agent := controllers.New(controllers.Options{
		Dir: c.path("controllers"), Tools: tools, Bin: tools, Home: dir, Proxy: c.serve(t, texts).URL, CA: c.path("none"),
		Tenant: "none", Sockets: dir, Supervisor: supervisor, Ports: book, Log: logger,
	})
	t.Cleanup(agent.Close)
	assert.NilError(t, agent.Watch(spec.Name, spec.Region, c.kubeconfig))
	return c
}

// serve has the texts in a repository that anybody may read, behind a proxy.
func (c *cluster) serve(t *testing.T, texts map[string]string) *httptest.Server {
	t.Helper()
	for name, text := range texts {
		files.Write(t, filepath.Join(c.path("trees"), name), text)
	}
	repository := git.Open(c.path("platform.git"), c.dir)
	_, err := repository.Seed(t.Context(), c.path("trees"))
	assert.NilError(t, err)
	assert.NilError(t, repository.Publish())
	handler := repository.Handler("nobody", func() (string, error) { return "nobody has one", nil }, func(string, string, string) {})
	server := httptest.NewServer(proxy.Handler(map[string]http.Handler{host(t): handler}, nil))
	t.Cleanup(server.Close)
	return server
}

// host is that of the repository's address.
func host(t *testing.T) string {
	t.Helper()
	address, err := url.Parse(trees.Repository)
	assert.NilError(t, err)
	return address.Host
}

func (c *cluster) path(name string) string { return filepath.Join(c.dir, name) }

// kubectl runs kubectl, which must succeed.
func (c *cluster) kubectl(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(c.tools, "kubectl"), append([]string{"--kubeconfig", c.kubeconfig}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	assert.NilError(t, err, "kubectl %s: %s", strings.Join(args, " "), stderr.String())
	return string(out)
}

// install applies the documents of a manifest, and waits until the API serves what they define.
func (c *cluster) install(t *testing.T, documents []string, flags ...string) {
	t.Helper()
	c.kubectl(t, strings.Join(documents, "\n---\n"), append([]string{"apply", "--server-side", "-f", "-"}, flags...)...)
	c.kubectl(t, "", "wait", "--for=condition=established", "--timeout=60s", "crd", "--all")
}

// await waits until the condition holds, and shows how far it has come when the time is over.
func await(t *testing.T, what string, atMost time.Duration, condition func(context.Context) (done bool, how string, err error)) {
	t.Helper()
	last := ""
	err := wait.PollUntilContextTimeout(t.Context(), time.Second, atMost, true, func(ctx context.Context) (bool, error) {
		done, how, err := condition(ctx)
		if how != "" {
			last = how
		}
		return done, err
	})
	assert.NilError(t, err, "wait until %s: %s", what, last)
}
