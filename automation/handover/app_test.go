package handover

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/internal/githubapp"
)

// TestGitHubApp: a push gets a token of the App by the proxy that git is told of, and uses it; no
// error shows it, nor the key.
func TestGitHubApp(t *testing.T) {
	const token = "ghs_token-of-an-hour"
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	assert.NilError(t, err)
	pemKey := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	b := seeded(t)
	r := b.repository()
	behind, err := url.Parse(b.served(githubapp.User, token, "reader"))
	assert.NilError(t, err)
	status := http.StatusCreated
	git := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: behind.Host})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		assert.Check(t, is.Equal(req.URL.Host, "github.test"))
		if req.URL.Path != "/api/v3/app/installations/34/access_tokens" {
			git.ServeHTTP(w, req)
			return
		}
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"token": %q, "message": "Integration not found"}`, token)
	}))
	defer proxy.Close()
	r.URL = "http://github.test" + behind.Path
	r.Env = map[string]string{"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "http.http://github.test/.proxy", "GIT_CONFIG_VALUE_0": proxy.URL}
	r.Credentials = &Credentials{App: &githubapp.App{ID: 12, Installation: 34, Key: pemKey, API: "http://github.test/api/v3"}}
	outcome, err := Push(t.Context(), r, change())
	assert.Assert(t, err == nil && outcome.Changed, "%+v, %v", outcome, err)
	assert.NilError(t, Reach(t.Context(), r))

	status = http.StatusNotFound
	err = Reach(t.Context(), r)
	assert.Check(t, is.ErrorContains(err, `get a token of the GitHub App 12: http://github.test/api/v3/app/installations/34/access_tokens answers 404 Not Found: "Integration not found"; check appId, installationId and privateKey in gitops.auth`))
	assert.Check(t, !strings.Contains(err.Error(), token))
	r.Credentials.App.Key = "hunter2"
	err = Reach(t.Context(), r)
	assert.Check(t, is.ErrorContains(err, "the private key of the GitHub App is no private key in PEM"))
	assert.Check(t, !strings.Contains(err.Error(), "hunter2"))
}
