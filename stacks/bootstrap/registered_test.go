package bootstrap

import (
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestRefuseRegistered: a registration of the name is taken over, unless it is another
// owner's.
func TestRefuseRegistered(t *testing.T) {
	const found = `{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "cluster-demo", "namespace": "argocd", "annotations": {"cluster_owner": "OWNER"}}}`
	for _, test := range []struct {
		owner  string
		status int
		want   string
	}{
		{owner: "ours", status: http.StatusOK},
		{owner: "", status: http.StatusOK},
		{owner: "theirs", status: http.StatusOK, want: "the hub has registered another cluster demo: Secret argocd/cluster-demo has the owner theirs, and this cluster is ours"},
		{status: http.StatusNotFound},
		{status: http.StatusForbidden, want: "read the registration of demo at its hub: "},
	} {
		text := kubeconfig(t, func(w http.ResponseWriter, r *http.Request) {
			assert.Check(t, strings.HasSuffix(r.URL.Path, "/namespaces/argocd/secrets/cluster-demo"), "asks for %s", r.URL.Path)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(test.status)
			if test.status == http.StatusOK {
				_, err := w.Write([]byte(strings.Replace(found, "OWNER", test.owner, 1)))
				assert.NilError(t, err)
			}
		})
		err := refuseRegistered(t.Context(), text, "demo", "ours", nil)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("owner %q, status %d: error %v, want %q", test.owner, test.status, err, test.want)
		}
	}
}
