package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func lab(t *testing.T) (*httptest.Server, *http.Client) {
	t.Helper()
	says := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, text, " ", r.URL.Path) })
	}
	s := httptest.NewServer(Handler(map[string]http.Handler{"git.lab.test": says("git"), "charts.lab.test": says("charts")}, nil))
	t.Cleanup(s.Close)
	address, err := url.Parse(s.URL)
	assert.NilError(t, err)
	return s, &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(address)}}
}

func TestHosts(t *testing.T) {
	_, client := lab(t)
	const served = "; it serves charts.lab.test, git.lab.test\n"
	for address, want := range map[string]struct {
		status int
		body   string
	}{
		"http://git.lab.test/platform.git":   {200, "git /platform.git"},
		"http://GIT.lab.test:80/":            {200, "git /"},
		"http://charts.lab.test/index.yaml":  {200, "charts /index.yaml"},
		"http://elsewhere.test/x":            {502, "the lab has no host elsewhere.test" + served},
		"http://git.lab.test.elsewhere.test": {502, "the lab has no host git.lab.test.elsewhere.test" + served},
	} {
		resp, err := client.Get(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != want.status || string(body) != want.body {
			t.Errorf("%s: %d %q, want %d %q", address, resp.StatusCode, body, want.status, want.body)
		}
	}
}

func TestTunnelsAreRefused(t *testing.T) {
	s, client := lab(t)
	if _, err := client.Get("https://elsewhere.test"); err == nil || !strings.Contains(err.Error(), "the lab has no host elsewhere.test; it serves") {
		t.Errorf("error %v", err)
	}
	if _, err := client.Get("https://git.lab.test"); err == nil || !strings.Contains(err.Error(), "the lab serves git.lab.test by http only; use http://git.lab.test") {
		t.Errorf("error %v", err)
	}
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	assert.NilError(t, err)
	defer conn.Close()
	fmt.Fprint(conn, "CONNECT elsewhere.test:443 HTTP/1.1\r\nHost: elsewhere.test:443\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	assert.NilError(t, err)
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusBadGateway || !strings.HasPrefix(string(body), "the lab has no host elsewhere.test") {
		t.Errorf("%s %q", resp.Status, body)
	}
}
