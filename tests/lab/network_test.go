//go:build lab

package lab

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/pki"
	"tombolo/lab/proxy"
	"tombolo/tests/tier"
)

// TestNetworkCutDuringUp cuts the cluster off while bootstrap makes its objects.
// The up says what does not answer, tries again, and comes to its end once the
// network is back.
func TestNetworkCutDuringUp(t *testing.T) {
	tier.Long(t, "an up waits for a cluster that is cut off")
	p, cmd, out := amidBootstrap(t, "cut")
	awaitOutput(t, cmd, out, "trying again in 5s, 1 of 2")
	p.must(t, "lab", "cluster", "restore", "demo")
	assert.Check(t, cmd.Wait(), out.String())
	if said := out.String(); !strings.Contains(said, "client connection lost") && !strings.Contains(said, "timeout") && !strings.Contains(said, "deadline exceeded") {
		t.Errorf("it does not say what happened:\n%s", said)
	}
	p.settled(t)
}

// TestCutForGood: without an end of the cut the up fails with its cause, and the
// next one makes what is missing.
func TestCutForGood(t *testing.T) {
	tier.Long(t, "an up gives up on a cluster that stays cut off, which takes minutes of waiting")
	p, cmd, out := amidBootstrap(t, "cut")
	assert.Assert(t, cmd.Wait() != nil, "the up succeeded without a cluster:\n%s", out.String())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, "unreachable cluster") && !strings.Contains(last, "connection lost") && !strings.Contains(last, "timeout") {
		t.Errorf("the cause is not clear: %s", last)
	}
	p.must(t, "lab", "cluster", "restore", "demo")
	p.up(t, "demo")
	p.settled(t)
}

// TestRestartDuringUp restarts the API server while bootstrap makes its objects.
func TestRestartDuringUp(t *testing.T) {
	tier.Long(t, "an up goes on after the restart of an API server")
	p, cmd, out := amidBootstrap(t, "restart")
	assert.Check(t, cmd.Wait(), out.String())
	p.settled(t)
}

// amidBootstrap starts an up, and does something to the cluster when bootstrap has begun to make
// objects.
func amidBootstrap(t *testing.T, do string) (project, *exec.Cmd, *transcript) {
	t.Helper()
	p := newProject(t)
	p.must(t, "lab", "up", "--profile", "light")
	cmd, out := p.start(t, "up", "demo", "--yes")
	awaitOutput(t, cmd, out, "created kubernetes:core/v1:Namespace")
	p.must(t, "lab", "cluster", do, "demo")
	return p, cmd, out
}

// settled asserts that another up changes nothing, that the objects of the state
// are there, and that nothing stays after a destroy.
func (p project) settled(t *testing.T) {
	t.Helper()
	p.unchanged(t, "demo")
	p.must(t, "drift", "demo")
	for _, token := range []string{"aws:ec2/vpc:Vpc", "aws:eks/cluster:Cluster"} {
		assert.Check(t, is.Len(p.made(t, token), 1))
	}
	p.destroys(t, "demo")
}

// TestClusterBehindAProxy: the real controllers of Flux fetch by the proxy of the cluster file,
// which opens TLS, and trust its certificates, and the file's cluster has no other way out. What
// they ask for, the proxy gets from the lab's own proxy, which wants a password.
func TestClusterBehindAProxy(t *testing.T) {
	tier.Long(t, "a cluster whose engine goes by a proxy of its network")
	p := newProject(t)
	p.must(t, "lab", "up")
	company := newCompany(t, p)
	const file = "clusters/demo.yaml"
	p.edit(t, file, "  nat: single\n  endpoints: [s3]\n", "  nat: none\n  endpoints: [s3, ec2, eks-auth, sts]\n")
	p.edit(t, file, "chart_repository: http://charts.lab.test", "chart_repository: https://"+companyCharts)
	p.write(t, file, p.read(t, file)+company.egress)
	p.must(t, "up", "demo", "--yes", "--verify")
	p.unchanged(t, "demo")
	assert.DeepEqual(t, company.asked(), []string{companyCharts, gitHost})
	p.destroys(t, "demo")
}

// The hosts that the company's proxy lets be reached.
const (
	companyCharts = "charts.corp.example"
	gitHost       = "git.lab.test"
)

// company is a network with a proxy.
type company struct {
	// egress is what the cluster file says of it.
	egress string

	mu    sync.Mutex
	hosts []string
}

// newCompany starts the proxy, until the test ends. It lets few hosts be reached, and signs with
// certificates of its own for those that it opens.
func newCompany(t *testing.T, p project) *company {
	t.Helper()
	found := regexp.MustCompile(`GIT_CONFIG_VALUE_0='?([^'\s]+)`).FindStringSubmatch(p.must(t, "lab", "env"))
	assert.Assert(t, is.Len(found, 2), "lab env does not name the lab's proxy")
	lab, err := url.Parse(found[1])
	assert.NilError(t, err)
	from := func(host string) http.Handler {
		return &httputil.ReverseProxy{
			Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: host}) },
			Transport: &http.Transport{Proxy: http.ProxyURL(lab)},
		}
	}
	authority, err := pki.Open(t.TempDir(), "company")
	assert.NilError(t, err)
	assert.NilError(t, authority.Issue("hosts", pki.Subject{CommonName: "company", DNSNames: []string{companyCharts}}))
	trust, err := authority.TLS("hosts")
	assert.NilError(t, err)
	tunnel := proxy.NewTunnel(companyCharts)
	inside := &http.Server{Handler: from("charts.lab.test"), TLSConfig: trust}
	go func() { _ = inside.ServeTLS(tunnel, "", "") }() // until it is closed
	handler := proxy.Handler(map[string]http.Handler{gitHost: from(gitHost)}, tunnel)
	c := &company{}
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.ask(r.Host)
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		inside.Close()
		outer.Close()
	})
	c.egress = "\negress:\n  proxy: {url: \"" + outer.URL + "\"}\n  certificateAuthority: |\n    " +
		strings.ReplaceAll(strings.TrimSpace(string(authority.PEM())), "\n", "\n    ") +
		"\n  images:\n    mirrors: {ghcr.io: mirror.corp.example/ghcr}\n"
	return c
}

func (c *company) ask(host string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name, _, _ := strings.Cut(host, ":")
	c.hosts = append(c.hosts, name)
}

// asked are the hosts that the proxy was asked for, also those that it refused, sorted.
func (c *company) asked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(c.hosts)))
}
