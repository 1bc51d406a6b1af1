package handoff

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"k8s.io/client-go/rest"
)

// TestNoTokenAfterARedirect: the token for a cluster goes nowhere that its API redirects to.
func TestNoTokenAfterARedirect(t *testing.T) {
	var seen []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
	}))
	t.Cleanup(elsewhere.Close)
	api := httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/got", http.StatusTemporaryRedirect))
	t.Cleanup(api.Close)
	kubeconfig := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: %q}}],
		users: [{name: u, user: {token: secret}}], contexts: [{name: c, context: {cluster: c, user: u}}]}`, api.URL)
	cfg, err := RESTConfig([]byte(kubeconfig), nil)
	assert.NilError(t, err)
	client, err := rest.HTTPClientFor(cfg)
	assert.NilError(t, err)
	response, err := client.Get(api.URL + "/version")
	if err == nil {
		response.Body.Close()
	}
	assert.ErrorContains(t, err, "the Kubernetes API redirects to "+elsewhere.URL+"/got: the credentials are not sent there")
	assert.Check(t, is.Len(seen, 0))
}
