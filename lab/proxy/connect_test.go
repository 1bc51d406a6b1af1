package proxy

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestConnect: a client reaches through the proxy what dial connects to, and is told why it
// does not.
func TestConnect(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	through := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Connect(w, r, func(ctx context.Context, host string) (net.Conn, error) {
			if host != "example.com" { // which the server's certificate has
				return nil, errors.New("no rule lets 10.8.0.10 in")
			}
			return (&net.Dialer{}).DialContext(ctx, "tcp", server.Listener.Addr().String())
		})
	}))
	t.Cleanup(through.Close)
	address, err := url.Parse(through.URL)
	assert.NilError(t, err)
	client := server.Client()
	client.Transport.(*http.Transport).Proxy = http.ProxyURL(address)
	answer, err := client.Get("https://EXAMPLE.com")
	assert.NilError(t, err)
	assert.Check(t, is.Equal(answer.StatusCode, http.StatusOK))
	answer.Body.Close()
	_, err = client.Get("https://other.test")
	assert.Check(t, is.ErrorContains(err, "no rule lets 10.8.0.10 in"))
	_, err = client.Get("http://example.com") // no connection, but a request
	assert.NilError(t, err)
}
