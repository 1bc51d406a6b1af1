package charts

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"sigs.k8s.io/yaml"
)

// TestPublicAddresses: the addresses are those of the tree.
func TestPublicAddresses(t *testing.T) {
	urls := map[string]string{}
	for _, o := range objects(t, "HelmRepository") {
		if !strings.HasPrefix(o.file, "clusters/") {
			urls[o.Metadata.Name] = strings.TrimSuffix(o.Spec.URL, "/")
		}
	}
	want := map[string]map[string]bool{}
	for _, o := range objects(t, "HelmRelease") {
		at, ok := urls[o.Spec.Chart.Spec.SourceRef.Name]
		if !ok {
			continue
		}
		if want[at] == nil {
			want[at] = map[string]bool{}
		}
		want[at][o.Spec.Chart.Spec.Chart] = true
	}
	public, err := NewPublic(Own())
	assert.NilError(t, err)
	for at, names := range want {
		assert.Check(t, is.DeepEqual(public.charts[at], slices.Sorted(maps.Keys(names))), at)
	}
	assert.Check(t, is.Len(public.charts, len(want)))
}

// TestOwn: a program that is away from its source has the same charts.
func TestOwn(t *testing.T) {
	here, err := Load(os.DirFS("."))
	assert.NilError(t, err)
	built, err := Load(Own())
	assert.NilError(t, err)
	assert.Equal(t, len(built), len(here))
	for i, c := range built {
		assert.Check(t, is.Equal(c.Digest(), here[i].Digest()), c.Name)
	}
}

func TestPublic(t *testing.T) {
	public, err := NewPublic(Own())
	assert.NilError(t, err)
	get := func(address string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		public.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody))
		return w
	}
	assert.Check(t, public.Has("kubernetes-sigs.github.io") && public.Has("public.ecr.aws") && !public.Has("github.com"))

	w := get("https://kubernetes-sigs.github.io/metrics-server/index.yaml")
	var index struct {
		Entries map[string][]struct{ URLs []string }
	}
	assert.NilError(t, yaml.Unmarshal(w.Body.Bytes(), &index))
	assert.Assert(t, is.Len(index.Entries, 1), "a repository has the charts of its publisher alone")
	archive := index.Entries["metrics-server"][0].URLs[0]
	assert.Equal(t, get("https://kubernetes-sigs.github.io/metrics-server/"+archive).Code, http.StatusOK)
	assert.Equal(t, get("https://kubernetes-sigs.github.io/another/index.yaml").Code, http.StatusNotFound)

	const karpenter = "https://public.ecr.aws/v2/karpenter/karpenter/"
	var tags struct{ Tags []string }
	assert.NilError(t, json.Unmarshal(get(karpenter+"tags/list").Body.Bytes(), &tags))
	w = get(karpenter + "manifests/" + tags.Tags[0])
	var manifest struct{ Config, Layers json.RawMessage }
	assert.NilError(t, json.Unmarshal(w.Body.Bytes(), &manifest))
	assert.Equal(t, get(karpenter+"manifests/"+w.Header().Get("Docker-Content-Digest")).Body.String(), w.Body.String())
	var layers []descriptor
	assert.NilError(t, json.Unmarshal(manifest.Layers, &layers))
	assert.Equal(t, get(karpenter+"blobs/"+layers[0].Digest).Body.Len(), layers[0].Size)
	assert.Equal(t, get(karpenter+"manifests/0.0.1").Code, http.StatusNotFound)
	assert.Equal(t, get("https://public.ecr.aws/v2/karpenter/reloader/tags/list").Code, http.StatusNotFound)
	assert.Equal(t, get("https://public.ecr.aws/v2/").Code, http.StatusOK)
}
