package bootstrap

import (
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
)

// TestRefuseInstalled: an engine of others is refused, whatever namespace it is in; one
// that bootstrap has begun to install is not.
func TestRefuseInstalled(t *testing.T) {
	const definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
	meta := func(name, label string) string {
		return `{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "` + name +
			`", "creationTimestamp": "2026-01-02T03:04:05Z", "labels": {"tombolo/cluster": "` + label + `"}}}`
	}
	ours := strings.Replace(meta("x", ""), `"labels"`, `"annotations": {"pulumi.com/patchForce": "true"}, "labels"`, 1)
	flux, argo := fluxEngine(&config.Cluster{}, distributionRecord{}), argocdEngine()
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
