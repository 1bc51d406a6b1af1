package lab

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/process"
	"tombolo/tests/files"
)

// TestPortsWantTheToken asks every port of a daemon without the lab's token, with a
// wrong one, and with the right one.
func TestPortsWantTheToken(t *testing.T) {
	root := t.TempDir()
	files.Write(t, root+"/lab/charts/.keep", "")
	ctx, cancel := context.WithCancel(t.Context())
	d, err := newDaemon(Open(root), io.Discard, cancel)
	assert.NilError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- d.serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.Check(t, <-ended)
		d.close()
	})
	awaitPorts(t, d)
	info, err := os.Stat(d.lab.paths().token())
	assert.NilError(t, err)
	assert.Check(t, is.Equal(info.Mode().Perm(), os.FileMode(0o600)))
	info, err = os.Stat(d.socket)
	assert.NilError(t, err)
	assert.Check(t, is.Equal(info.Mode().Perm(), os.FileMode(0o600)))

	for token, want := range map[string]int{"": 403, "wrong": 403, d.token: 400} {
		assert.Check(t, is.Equal(review(t, d, token), want), "token reviews with %q", token)
	}
	for password, want := range map[string]int{"": 407, "wrong": 407, d.token: 401} { // then Git wants its own
		for _, host := range []string{GitHost, ChartsHost} {
			if host == ChartsHost && want == 401 {
				want = 200
			}
			assert.Check(t, is.Equal(throughProxy(t, d, host, password), want), "%s by the proxy with %q", host, password)
		}
	}
	_, err = (&http.Transport{Proxy: proxyWith(d, "wrong"), TLSClientConfig: &tls.Config{RootCAs: d.authority.Pool()}}).RoundTrip(
		must(http.NewRequestWithContext(t.Context(), http.MethodGet, "https://sts.eu-central-1.amazonaws.com/", nil)))
	assert.Check(t, is.ErrorContains(err, "Proxy Authentication Required"), "a tunnel to STS")
}

func must(r *http.Request, _ error) *http.Request { return r }

func awaitPorts(t *testing.T, d *daemon) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for _, port := range []int{d.ports.provider, d.ports.reviews, d.ports.proxy} {
		for {
			conn, err := net.Dial("tcp", loopback(port))
			if err == nil {
				conn.Close()
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("port %d does not answer: %v", port, err)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	for { // the last thing that the daemon opens
		if _, err := os.Stat(d.lab.paths().daemon()); err == nil || time.Now().After(deadline) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func review(t *testing.T, d *daemon, token string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.reviewURL()+"/demo", strings.NewReader("no review"))
	assert.NilError(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: d.authority.Pool()}}}
	return status(t, client, req)
}

func proxyWith(d *daemon, password string) func(*http.Request) (*url.URL, error) {
	address := &url.URL{Scheme: "http", Host: loopback(d.ports.proxy)}
	if password != "" {
		address.User = url.UserPassword(tokenUser, password)
	}
	return http.ProxyURL(address)
}

func throughProxy(t *testing.T, d *daemon, host, password string) int {
	t.Helper()
	path := map[string]string{GitHost: "/platform.git/info/refs", ChartsHost: "/index.yaml"}[host]
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+path, nil)
	assert.NilError(t, err)
	return status(t, &http.Client{Transport: &http.Transport{Proxy: proxyWith(d, password)}}, req)
}

func status(t *testing.T, client *http.Client, req *http.Request) int {
	t.Helper()
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	assert.NilError(t, err)
	defer resp.Body.Close()
	return resp.StatusCode
}

// TestOwnConnectionsOnly: the kernel knows whose a connection is, and the port of the
// provider takes those of the lab's user.
func TestOwnConnectionsOnly(t *testing.T) {
	for _, test := range []struct {
		name   string
		user   func(net.Conn) (uint64, bool)
		answer string
	}{
		{"another user", func(net.Conn) (uint64, bool) { return uint64(os.Getuid()) + 1, true }, fmt.Sprintf("this lab belongs to user %d, and you are user %d", os.Getuid(), os.Getuid()+1)},
		{"this user", process.PeerUser, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			assert.NilError(t, err)
			defer l.Close()
			server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "served") })}
			go server.Serve(ownListener{l, slog.New(slog.DiscardHandler), test.user})
			defer server.Close()
			resp, err := http.Get("http://" + l.Addr().String())
			assert.NilError(t, err)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			assert.NilError(t, err)
			if test.answer == "" {
				assert.Check(t, is.Equal(string(body), "served"))
				return
			}
			assert.Check(t, is.Equal(resp.StatusCode, http.StatusForbidden))
			assert.Check(t, is.Equal(string(body), test.answer+"\n"))
		})
	}
}
