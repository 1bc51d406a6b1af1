package charts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"sigs.k8s.io/yaml"
)

func chart(modified time.Time) fstest.MapFS {
	return fstest.MapFS{
		"demo/Chart.yaml":          {Data: []byte("apiVersion: v2\nname: demo\nversion: 1.2.3\n"), ModTime: modified, Mode: 0o600},
		"demo/values.yaml":         {Data: []byte("replicas: 1\n"), ModTime: modified},
		"demo/templates/note.yaml": {Data: []byte("kind: ConfigMap\n"), ModTime: modified},
	}
}

func TestPackagingIsDeterministic(t *testing.T) {
	var digests []string
	for _, modified := range []time.Time{time.Unix(1, 0), time.Now()} {
		list, err := Load(chart(modified))
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		digests = append(digests, list[0].Digest())
	}
	assert.Check(t, digests[0] == digests[1], "the same content gave %v", digests)
	edited := chart(time.Now())
	edited["demo/values.yaml"].Data = []byte("replicas: 2\n")
	if list, err := Load(edited); err != nil || list[0].Digest() == digests[0] {
		t.Errorf("another content gave the same digest, or %v", err)
	}
}

func TestArchive(t *testing.T) {
	list, err := Load(chart(time.Now()))
	assert.NilError(t, err)
	if names, want := names(t, list[0]), []string{"demo/Chart.yaml", "demo/templates/note.yaml", "demo/values.yaml"}; !slices.Equal(names, want) {
		t.Errorf("files %v, want %v", names, want)
	}
}

// names of the files in a chart's archive.
func names(t *testing.T, c Chart) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(contents(t, c)))
}

// contents of a chart's archive.
func contents(t *testing.T, c Chart) map[string][]byte {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(c.Archive))
	assert.NilError(t, err)
	out := map[string][]byte{}
	for in := tar.NewReader(zip); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		assert.NilError(t, err)
		out[h.Name], err = io.ReadAll(in)
		assert.NilError(t, err)
	}
}

// TestSharedTemplates adds the shared files to a chart that has no templates,
// and leaves one with templates as it is.
func TestSharedTemplates(t *testing.T) {
	folder := chart(time.Now())
	folder["shared/templates/deployment.yaml"] = &fstest.MapFile{Data: []byte("kind: Deployment\n")}
	folder["bare/Chart.yaml"] = &fstest.MapFile{Data: []byte("name: bare\nversion: 1.0.0\n")}
	list, err := Load(folder)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	if got, want := names(t, list[0]), []string{"bare/Chart.yaml", "bare/templates/deployment.yaml"}; !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	if got, want := names(t, list[1]), []string{"demo/Chart.yaml", "demo/templates/note.yaml", "demo/values.yaml"}; !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
}

func TestPackageNeedsNameAndVersion(t *testing.T) {
	_, err := Load(fstest.MapFS{"x/Chart.yaml": {Data: []byte("name: x\n")}})
	assert.Check(t, is.Error(err, "x: read Chart.yaml: it needs name and version"))
}

// TestHandler serves the lab's own charts: every entry of the index can be
// fetched and has the digest that it says.
func TestHandler(t *testing.T) {
	h := Handler(Own())
	get := func(path string) (int, []byte) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "http://charts.lab.test"+path, nil))
		return w.Code, w.Body.Bytes()
	}
	code, body := get("/index.yaml")
	var index struct {
		APIVersion string
		Entries    map[string][]struct {
			Name, Version, Digest string
			URLs                  []string
		}
	}
	err := yaml.Unmarshal(body, &index)
	assert.Assert(t, err == nil && code == 200, "%d %s: %v", code, body, err)
	assert.Assert(t, len(index.Entries["cluster-reporter"]) == 1, "index: %s", body)
	for _, entries := range index.Entries {
		e := entries[0]
		code, archive := get("/" + e.URLs[0])
		if got := (Chart{Archive: archive}).Digest(); code != 200 || got != e.Digest {
			t.Errorf("%s: %d, digest %s, index says %s", e.URLs[0], code, got, e.Digest)
		}
	}
	if code, body := get("/nothing-1.0.0.tgz"); code != 404 || !strings.Contains(string(body), "no /nothing-1.0.0.tgz") {
		t.Errorf("%d %s", code, body)
	}
}
