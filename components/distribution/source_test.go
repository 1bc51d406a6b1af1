package distribution

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// sumOfHello is sha256("hello").
const sumOfHello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

func product() Product { return Product{Name: "Flux", Namespace: "flux-system"} }

func server(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/install.yaml":
			_, err := w.Write([]byte("hello"))
			assert.Check(t, err)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestLoad(t *testing.T) {
	url := server(t)
	path := filepath.Join(t.TempDir(), "install.yaml")
	assert.NilError(t, os.WriteFile(path, []byte("hello"), 0o600))
	for _, d := range []Source{
		{URL: url + "/install.yaml", SHA256: sumOfHello},
		{URL: url + "/install.yaml", SHA256: strings.ToUpper(sumOfHello)},
		{Path: path},
		{Path: path, SHA256: sumOfHello},
	} {
		got, err := product().Load(t.Context(), d)
		assert.Check(t, err == nil && string(got) == "hello", "%+v: %q, %v", d, got, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	url := server(t)
	other := strings.Repeat("0", 64)
	for want, d := range map[string]Source{
		"checksum of Flux distribution " + url + "/install.yaml is " + sumOfHello + ", expected " + other: {URL: url + "/install.yaml", SHA256: other},
		"fetch Flux distribution " + url + "/x: the server answered 404 Not Found; check the URL":         {URL: url + "/x", SHA256: other},
		"the Flux distribution " + url + " has no checksum; give its sha256":                              {URL: url},
		"the Flux distribution has neither a URL nor a path":                                              {},
		"read Flux distribution: open /absent/install.yaml: no such file or directory":                    {Path: "/absent/install.yaml"},
		"read Flux distribution: /dev/zero is not a regular file":                                         {Path: "/dev/zero"},
	} {
		_, err := product().Load(t.Context(), d)
		assert.Check(t, is.ErrorContains(err, want))
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := product().Load(cancelled, Source{URL: url, SHA256: other})
	assert.Check(t, is.ErrorContains(err, "context canceled"))
}

// chartFiles is a chart with what matters of a GitOps engine's: definitions,
// hooks of several kinds, and names by the release.
func chartFiles() map[string]string {
	return map[string]string{
		"Chart.yaml":      "apiVersion: v2\nname: argo-cd\nversion: 9.1.0\nkubeVersion: \">=1.30\"\n",
		"values.yaml":     "replicas: 1\n",
		"crds/app.yaml":   "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: applications.argoproj.io}\n",
		"templates/a.yml": "",
		"templates/server.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: {{ .Release.Name }}-server, namespace: {{ .Release.Namespace }}}\n" +
			"spec: {replicas: {{ .Values.replicas }}}\n",
		"templates/init.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: secret-init\n  annotations: {\"helm.sh/hook\": pre-install}\nspec: {ttlSecondsAfterFinished: 60, backoffLimit: 2}\n",
		"templates/test.yaml": "apiVersion: v1\nkind: Pod\nmetadata:\n  name: probe\n  annotations: {\"helm.sh/hook\": test}\n",
		"templates/NOTES.txt": "Thank you.",
	}
}

// packed writes a chart as Helm packs it, and returns where and its sum.
func packed(t *testing.T, files map[string]string) Source {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	tape := tar.NewWriter(zip)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		assert.NilError(t, tape.WriteHeader(&tar.Header{Name: "argo-cd/" + name, Mode: 0o600, Size: int64(len(files[name]))}))
		_, err := tape.Write([]byte(files[name]))
		assert.NilError(t, err)
	}
	assert.NilError(t, tape.Close())
	assert.NilError(t, zip.Close())
	path := filepath.Join(t.TempDir(), "argo-cd.tgz")
	assert.NilError(t, os.WriteFile(path, out.Bytes(), 0o600))
	sum := sha256.Sum256(out.Bytes())
	return Source{Path: path, SHA256: hex.EncodeToString(sum[:]), KubernetesVersion: "1.35"}
}

func argocd() Product { return Product{Name: "Argo CD", Namespace: "argocd", Release: "argocd"} }

func TestLoadChart(t *testing.T) {
	d := packed(t, chartFiles())
	d.Values = map[string]any{"replicas": 3}
	manifest, err := argocd().Load(t.Context(), d)
	assert.NilError(t, err)
	objects, err := argocd().Parse(manifest)
	assert.NilError(t, err)
	var got []string
	for _, o := range objects {
		got = append(got, o.Identity())
		if spec, _ := o["spec"].(map[string]any); o.Kind() == "Job" && (len(spec) != 1 || spec["backoffLimit"] != 2) {
			t.Errorf("the Job has spec %v, want the backoff limit alone: it has to stay", spec)
		}
	}
	if want := []string{
		"apiextensions.k8s.io/v1 CustomResourceDefinition applications.argoproj.io",
		"batch/v1 Job argocd/secret-init",
		"apps/v1 Deployment argocd/argocd-server",
	}; !slices.Equal(got, want) {
		t.Errorf("the chart became %q, want %q", got, want)
	}
	assert.Check(t, strings.Contains(string(manifest), "replicas: 3"), "the value did not arrive:\n%s", manifest)
}

func TestLoadChartRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(map[string]string, *Source)
		want   string
	}{
		"a sum that is another's": {
			func(_ map[string]string, d *Source) { d.SHA256 = strings.Repeat("0", 64) },
			"it is not the file that was pinned",
		},
		"an old cluster": {
			func(_ map[string]string, d *Source) { d.KubernetesVersion = "1.29" },
			"it needs Kubernetes >=1.30, but the cluster has v1.29",
		},
		"a random value": {
			func(files map[string]string, _ *Source) {
				files["templates/server.yaml"] += "# {{ randAlphaNum 30 }}\n"
			},
			"it comes out different each time: a template makes a random value; give that value in gitops.distribution.values",
		},
		"a chart without what it depends on": {
			func(files map[string]string, _ *Source) {
				files["Chart.yaml"] += "dependencies: [{name: redis-ha, version: 4.0.0, repository: \"https://example.com\"}]\n"
			},
			"it was packed without 1 of the charts that it depends on; pack it after `helm dependency build`",
		},
		"a template that does not render": {
			func(files map[string]string, _ *Source) {
				files["templates/server.yaml"] = `{{ fail "server.name is gone" }}`
			},
			"server.name is gone",
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := chartFiles()
			c.change(files, &Source{})
			d := packed(t, files)
			c.change(maps.Clone(files), &d)
			_, err := argocd().Load(t.Context(), d)
			assert.Check(t, is.ErrorContains(err, c.want))
		})
	}
}

func TestValuesWithoutChart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "install.yaml")
	assert.NilError(t, os.WriteFile(path, []byte("hello"), 0o600))
	_, err := argocd().Load(t.Context(), Source{Path: path, Values: map[string]any{"replicas": 3}})
	assert.Check(t, is.ErrorContains(err, "the Argo CD distribution has Helm values but is no Helm chart"))
}
