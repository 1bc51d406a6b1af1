package company

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/pki"
)

// network is a company's proxy with its hosts, and a client that goes by it and trusts the
// company if it is told to.
func network(t *testing.T, trusts bool) (*http.Client, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	p := NewProxy(map[string]http.Handler{
		"git.lab.test": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "git") }),
		MirrorHost:     Mirror(func() (string, error) { return "secret", nil }, map[string]bool{"ghcr": true, "quay": false}),
	}, log)
	authority, err := pki.Open(t.TempDir(), "company")
	assert.NilError(t, err)
	assert.NilError(t, authority.Issue("hosts", pki.Subject{CommonName: "company", DNSNames: p.Hosts()}))
	trust, err := authority.TLS("hosts")
	assert.NilError(t, err)
	inside := &http.Server{Handler: p.Inside(), TLSConfig: trust} //nolint:gosec // a test's
	go func() { _ = inside.ServeTLS(p.Tunnel(), "", "") }()
	outer := httptest.NewServer(p)
	t.Cleanup(func() {
		inside.Close()
		outer.Close()
	})
	at, err := url.Parse(outer.URL)
	assert.NilError(t, err)
	transport := &http.Transport{Proxy: http.ProxyURL(at), DisableKeepAlives: true, TLSClientConfig: &tls.Config{}} //nolint:gosec // a test's
	if trusts {
		transport.TLSClientConfig.RootCAs = authority.Pool()
	}
	return &http.Client{Transport: transport}, log
}

func get(t *testing.T, c *http.Client, address string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, nil)
	assert.NilError(t, err)
	if u := req.URL; u.Host == MirrorHost && u.RawQuery != "anonymous" {
		req.SetBasicAuth(MirrorUser, "secret")
	}
	res, err := c.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

// TestProxy: what it lets be reached, by http and by https, and what it says of the rest.
func TestProxy(t *testing.T) {
	c, log := network(t, true)
	for address, want := range map[string]int{
		"http://git.lab.test/": 200, "https://git.lab.test/": 200, "http://example.com/": 403,
		"https://mirror.corp.example/v2/ghcr/fluxcd/source-controller/manifests/v1":           200,
		"https://mirror.corp.example/v2/ghcr/fluxcd/source-controller/manifests/v1?anonymous": 401,
		"https://mirror.corp.example/v2/quay/x/y/manifests/v1?anonymous":                      200,
		"https://mirror.corp.example/v2/docker-hub/x/y/manifests/v1":                          404,
		"https://mirror.corp.example/other":                                                   404,
	} {
		code, text, err := get(t, c, address)
		assert.NilError(t, err, address)
		assert.Equal(t, code, want, "%s: %s", address, text)
	}
	_, _, err := get(t, c, "https://example.com/")
	assert.Check(t, is.ErrorContains(err, "Forbidden"))
	for _, line := range []string{"allowed git.lab.test\n", "allowed mirror.corp.example\n", "refused example.com\n"} {
		assert.Check(t, is.Contains(log.String(), line))
	}
}

// TestProxyOpensTLS: whoever does not trust the company reaches nothing by https.
func TestProxyOpensTLS(t *testing.T) {
	c, _ := network(t, false)
	_, _, err := get(t, c, "https://git.lab.test/")
	assert.Check(t, is.ErrorContains(err, "certificate signed by unknown authority"))
	code, _, err := get(t, c, "http://git.lab.test/")
	assert.NilError(t, err)
	assert.Equal(t, code, 200)
}

func TestNoWay(t *testing.T) {
	nowhere := httptest.NewServer(http.HandlerFunc(NoWay))
	t.Cleanup(nowhere.Close)
	at, err := url.Parse(nowhere.URL)
	assert.NilError(t, err)
	code, text, err := get(t, &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at)}}, "http://git.lab.test/")
	assert.NilError(t, err)
	assert.Equal(t, code, http.StatusBadGateway)
	assert.Check(t, is.Contains(text, "there is no way from this network to git.lab.test"))
}
