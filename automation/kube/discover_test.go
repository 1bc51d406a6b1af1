package kube

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

const (
	core = `{"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": [{"versions": [{"version": "v1", "resources": [
		{"resource": "namespaces", "responseKind": {"kind": "Namespace"}, "scope": "Cluster", "singularResource": "namespace"},
		{"resource": "serviceaccounts", "scope": "Namespaced", "subresources": [{"subresource": "token"}]}]}]}]}`
	others = `{"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": [
		{"metadata": {"name": "example.com"}, "versions": [
			{"version": "v2", "resources": [{"resource": "geese", "responseKind": {"kind": "Goose"}, "scope": "Namespaced", "singularResource": "goose"}]},
			{"version": "v1", "freshness": "Stale", "resources": [
				{"resource": "geese", "responseKind": {"kind": "Goose"}, "scope": "Namespaced", "singularResource": "goose"},
				{"resource": "ducks", "responseKind": {"kind": "Duck"}, "scope": "Namespaced", "singularResource": "duck"}]}]}]}`
)

// answering is a server of the API that answers with the texts, by their path.
func answering(t *testing.T, status int, answers map[string]string) func() (meta.RESTMapper, error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Check(t, is.Equal(r.Header.Get("Accept"), aggregated))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answers[r.URL.Path]))
	}))
	t.Cleanup(server.Close)
	discover, err := discoverer(&rest.Config{Host: server.URL}, server.Client())
	assert.NilError(t, err)
	return discover
}

func TestDiscover(t *testing.T) {
	mapper, err := answering(t, 200, map[string]string{"/api": core, "/apis": others})()
	assert.NilError(t, err)
	for kind, want := range map[schema.GroupKind]string{
		{Kind: "Namespace"}:                   "/v1, Resource=namespaces root",
		{Group: "example.com", Kind: "Goose"}: "example.com/v2, Resource=geese namespace",
		{Group: "example.com", Kind: "Duck"}:  "example.com/v1, Resource=ducks namespace",
	} {
		m, err := mapper.RESTMapping(kind)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(m.Resource.String()+" "+string(m.Scope.Name()), want))
	}
	for _, none := range []schema.GroupKind{{Kind: "ServiceAccount"}, {Group: "example.com", Kind: "Swan"}} {
		_, err := mapper.RESTMapping(none)
		assert.Check(t, meta.IsNoMatchError(err), "%v: %v", none, err)
	}
}

func TestDiscoverRefused(t *testing.T) {
	refusal := `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "no"}`
	_, err := answering(t, 403, map[string]string{"/api": refusal})()
	assert.Check(t, Refused(err), "%v", err)
	_, err = answering(t, 200, map[string]string{"/api": `{"kind": "APIVersions", "versions": ["v1"]}`})()
	assert.ErrorContains(t, err, "older than 1.30")
	_, err = answering(t, 200, map[string]string{"/api": core, "/apis": "<html>"})()
	assert.ErrorContains(t, err, "read the answer of /apis")
}
