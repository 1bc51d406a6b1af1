package bootstrap

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
)

func TestPreflight(t *testing.T) {
	dir := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "install.yaml"), []byte("kind: Namespace\n"), 0o600))
	cluster := func(d config.Distribution, password config.SecretRef) *config.Cluster {
		return &config.Cluster{Name: "demo", File: filepath.Join(dir, "demo.yaml"), GitOps: config.GitOps{
			Distribution: d, Auth: &config.Auth{Type: config.AuthBasic, Password: &password},
		}}
	}
	there := config.Distribution{Path: "install.yaml"}
	env := map[string]string{"GIT_TOKEN": "x"}
	for name, test := range map[string]struct {
		c    *config.Cluster
		want []string // parts of the error; none for no error
	}{
		"all there":        {cluster(there, config.SecretRef{Env: "GIT_TOKEN"}), nil},
		"kept by Pulumi":   {cluster(there, config.SecretRef{Config: "gitToken"}), nil},
		"no such variable": {cluster(there, config.SecretRef{Env: "TOMBOLO_TEST_NOT_SET"}), []string{"gitops.auth.password: the environment variable TOMBOLO_TEST_NOT_SET is not set"}},
		"another checksum": {cluster(config.Distribution{Path: "install.yaml", SHA256: strings.Repeat("0", 64)}, config.SecretRef{Env: "GIT_TOKEN"}), []string{"gitops.distribution: checksum of Flux distribution"}},
		"both of them absent": {cluster(config.Distribution{Path: "gone.yaml"}, config.SecretRef{File: "gone"}), []string{
			"gitops.distribution: read Flux distribution", "gitops.auth.password: the file",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			err := Preflight(t.Context(), test.c, env)
			assert.Assert(t, len(test.want) > 0 || err == nil, err)
			for _, part := range test.want {
				assert.Check(t, is.ErrorContains(err, part))
			}
		})
	}
}

// TestTheLabsManifest: what the lab has in place of a release is installed, and nothing else is.
func TestTheLabsManifest(t *testing.T) {
	sum, other := strings.Repeat("0", 64), strings.Repeat("1", 64)
	t.Setenv(labManifests, t.TempDir())
	own := filepath.Join(os.Getenv(labManifests), sum)
	assert.NilError(t, os.WriteFile(own, []byte("kind: Namespace\n"), 0o600))
	of := func(d config.Distribution) string {
		s := source(&config.Cluster{File: "/project/clusters/first.yaml", GitOps: config.GitOps{Distribution: d}})
		return s.Path + s.URL + " " + s.SHA256
	}
	const url = "https://example.com/install.yaml"
	assert.Equal(t, of(config.Distribution{URL: url, SHA256: sum}), own+" ")
	assert.Equal(t, of(config.Distribution{URL: url, SHA256: other}), url+" "+other)
	assert.Equal(t, of(config.Distribution{Path: "install.yaml", SHA256: sum}), "/project/clusters/install.yaml "+sum)
}

func TestPreflightOfASpoke(t *testing.T) {
	c := &config.Cluster{Name: "demo", GitOps: config.GitOps{Engine: config.ArgoCD, Hub: "mgmt"}}
	assert.Check(t, Preflight(t.Context(), c, nil), "a spoke has no distribution to look for")
	c.GitOps.Hub = ""
	assert.Check(t, is.ErrorContains(Preflight(t.Context(), c, nil), "the Argo CD distribution has neither a URL nor a path"))
}

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
		assert.Check(t, (err == nil) == (test.want == "") && strings.Contains(fmt.Sprint(err), test.want), "owner %q, status %d: error %v, want %q", test.owner, test.status, err, test.want)
	}
}

// TestRefuseInstalled: an engine of others is refused, whatever namespace it is in; one
// that bootstrap has begun to install is not.
func TestRefuseInstalled(t *testing.T) {
	const definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
	meta := func(name, label string) string {
		return `{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "` + name +
			`", "creationTimestamp": "2026-01-02T03:04:05Z", "labels": {"tombolo/cluster": "` + label + `"}}}`
	}
	ours := strings.Replace(meta("x", ""), `"labels"`, `"annotations": {"pulumi.com/patchForce": "true"}, "labels"`, 1)
	flux, argo := fluxEngine(&config.Cluster{}, distributionRecord{}), argocdEngine(&config.Cluster{})
	for name, test := range map[string]struct {
		engine  engine
		objects map[string]string
		want    string
	}{
		"nothing": {engine: flux},
		"Flux": {
			engine: flux, objects: map[string]string{definition + "gitrepositories.source.toolkit.fluxcd.io": meta("x", "")},
			want: "the existing cluster has Flux already: its definition gitrepositories.source.toolkit.fluxcd.io was made at 2026-01-02 03:04 UTC, and not by Tombolo; nothing was made",
		},
		"Flux beside a namespace of another cluster": {
			engine: flux, objects: map[string]string{
				definition + "gitrepositories.source.toolkit.fluxcd.io": meta("x", ""), "/api/v1/namespaces/flux-system": meta("flux-system", "other"),
			},
			want: "the existing cluster has Flux already",
		},
		"Flux in a namespace that was handed over to us": {
			engine: flux, objects: map[string]string{
				definition + "gitrepositories.source.toolkit.fluxcd.io": meta("x", ""), "/api/v1/namespaces/flux-system": meta("flux-system", "shop"),
			},
			want: "Set gitops.takeOver: true to take it over",
		},
		"Flux that a destruction has left": {
			engine: flux, objects: map[string]string{definition + "gitrepositories.source.toolkit.fluxcd.io": ours, "/api/v1/namespaces/flux-system": meta("flux-system", "")},
			want: "the existing cluster has Flux already",
		},
		"our own": {
			engine: flux, objects: map[string]string{
				definition + "gitrepositories.source.toolkit.fluxcd.io": ours, "/api/v1/namespaces/flux-system": meta("flux-system", "shop"),
			},
		},
		"Argo CD":           {engine: argo, objects: map[string]string{definition + "applications.argoproj.io": meta("x", "")}, want: "Name it in gitops.externalHub"},
		"Argo CD, for Flux": {engine: flux, objects: map[string]string{definition + "applications.argoproj.io": meta("x", "")}},
	} {
		t.Run(name, func(t *testing.T) {
			text := kubeconfig(t, answer(t, test.objects))
			found, err := test.engine.findOthers(t.Context(), text, nil, "shop")
			assert.NilError(t, err)
			if test.want == "" {
				assert.Check(t, found == nil)
				return
			}
			assert.Assert(t, found != nil)
			assert.Check(t, is.ErrorContains(test.engine.refuse(found), test.want))
		})
	}
	text := kubeconfig(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	_, err := flux.findOthers(t.Context(), text, nil, "shop")
	assert.Check(t, is.ErrorContains(err, "look for Flux on the existing cluster"))
	assert.Check(t, is.ErrorContains(err, "its owner can give it an access entry"))
}

// answer answers with the objects at their paths, as an API server does.
func answer(t *testing.T, objects map[string]string) http.HandlerFunc {
	t.Helper()
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		object, found := objects[r.URL.Path]
		if !found {
			w.WriteHeader(http.StatusNotFound)
			object = `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`
		}
		_, err := w.Write([]byte(object))
		assert.NilError(t, err)
	}
}

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
	text := kubeconfig(t, answer(t, map[string]string{"/api/v1/namespaces": list}))
	got, err := listNamespaces(t.Context(), text, nil)
	assert.NilError(t, err)
	want := map[string]string{"default": "", "dns": "demo"}
	assert.Check(t, maps.Equal(got, want), "namespaces %v, expected %v", got, want)
}

// TestListNamespacesWhenLetIn: a right that was just given counts a little later.
func TestListNamespacesWhenLetIn(t *testing.T) {
	asked := 0
	text := kubeconfig(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		answer(t, map[string]string{"/api/v1/namespaces": list})(w, r)
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
	assert.Check(t, is.ErrorContains(err, "list the cluster's namespaces: "))
	assert.Check(t, is.ErrorContains(err, "this identity is among kubernetes.admins"))
	_, err = listNamespaces(t.Context(), "{", nil)
	assert.Check(t, is.ErrorContains(err, "read kubeconfig: "))
}
