package proxy

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/lab/pki"
)

// tunnelTo is a proxy with a tunnel to one host, and a client that believes it.
func tunnelTo(t *testing.T, host string) (*Tunnel, *http.Client) {
	t.Helper()
	authority, err := pki.Open(t.TempDir(), "test")
	assert.NilError(t, err)
	assert.NilError(t, authority.Issue("host", pki.Subject{CommonName: host, DNSNames: []string{host}}))
	trust, err := authority.TLS("host")
	assert.NilError(t, err)
	tunnel := NewTunnel(host)
	server := &http.Server{TLSConfig: trust, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Host, " ", r.URL.Path)
	})}
	go server.ServeTLS(tunnel, "", "")
	t.Cleanup(func() { server.Close() })
	s := httptest.NewServer(Handler(nil, tunnel))
	t.Cleanup(s.Close)
	address, err := url.Parse(s.URL)
	assert.NilError(t, err)
	return tunnel, &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(address), TLSClientConfig: &tls.Config{RootCAs: authority.Pool()}}}
}

func TestTunnel(t *testing.T) {
	tunnel, client := tunnelTo(t, "sts.test")
	for range 2 {
		resp, err := client.Get("https://STS.test/x")
		assert.NilError(t, err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(body) != "STS.test /x" {
			t.Errorf("%s, %v", body, err)
		}
		client.CloseIdleConnections()
	}
	if _, err := client.Get("https://other.test"); err == nil || !strings.Contains(err.Error(), "the lab has no host other.test") {
		t.Errorf("another host gives %v", err)
	}
	assert.Check(t, errors.Join(tunnel.Close(), tunnel.Close()))
	if _, err := tunnel.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a closed tunnel accepts with %v", err)
	}
	if _, err := client.Get("https://sts.test/x"); err == nil {
		t.Error("a closed tunnel answers")
	}
}

// TestTunnelToHostsThatComeAndGo: a function says which hosts there are at that moment.
func TestTunnelToHostsThatComeAndGo(t *testing.T) {
	tunnel, client := tunnelTo(t, "*.vault.test")
	var there atomic.Bool
	there.Store(true)
	tunnel.Also(func(host string) bool { return host == "kv.vault.test" && there.Load() })
	resp, err := client.Get("https://KV.vault.test/x")
	assert.NilError(t, err)
	resp.Body.Close()
	_, err = client.Get("https://other.vault.test/x")
	assert.ErrorContains(t, err, "the lab has no host other.vault.test")
	client.CloseIdleConnections()
	there.Store(false)
	_, err = client.Get("https://kv.vault.test/x")
	assert.ErrorContains(t, err, "the lab has no host kv.vault.test")
}
