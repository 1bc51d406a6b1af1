package bootstrap

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

const list = `{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "items": [
{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "default"}},
{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "dns", "labels": {"tombolo/cluster": "demo"}}}]}`

func kubeconfig(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "x",
"clusters": [{"name": "x", "cluster": {"server": %q}}], "contexts": [{"name": "x", "context": {"cluster": "x"}}]}`, s.URL)
}

func TestListNamespaces(t *testing.T) {
	text := kubeconfig(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if _, err := w.Write([]byte(list)); err != nil {
			t.Error(err)
		}
	})
	got, err := listNamespaces(t.Context(), text, nil)
	assert.NilError(t, err)
	if want := map[string]string{"default": "", "dns": "demo"}; !maps.Equal(got, want) {
		t.Errorf("namespaces %v, expected %v", got, want)
	}
}

// TestListNamespacesWhenLetIn: a right that was just given counts a little later.
func TestListNamespacesWhenLetIn(t *testing.T) {
	asked := 0
	text := kubeconfig(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked == 1 {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if _, err := w.Write([]byte(list)); err != nil {
			t.Error(err)
		}
	})
	got, err := listNamespaces(t.Context(), text, nil)
	assert.NilError(t, err)
	assert.Equal(t, len(got), 2)
	assert.Equal(t, asked, 2)
}

func TestListNamespacesRefused(t *testing.T) {
	text := kubeconfig(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := listNamespaces(ctx, text, nil)
	if err == nil || !strings.Contains(err.Error(), "list the cluster's namespaces: ") ||
		!strings.Contains(err.Error(), "this identity is among kubernetes.admins") {
		t.Errorf("error %v", err)
	}
	if _, err := listNamespaces(t.Context(), "{", nil); err == nil || !strings.Contains(err.Error(), "read kubeconfig: ") {
		t.Errorf("error %v", err)
	}
}
