package teardown

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

const (
	root   = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {namespace: flux-system, name: platform}\nspec: {path: ./}"
	addons = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {namespace: flux-system, name: addons}\nspec: {dependsOn: [{name: crds}]}"
	paused = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {namespace: flux-system, name: paused}\nspec: {suspend: true}"
	chart  = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {namespace: shop, name: chart}\nspec: {interval: 1m}"
)

// specs of Flux's objects, by their names.
func (w *world) specs() map[string]string {
	out := map[string]string{}
	for _, name := range w.names() {
		out[name[strings.LastIndex(name, "/")+1:]] = w.spec(name)
	}
	return out
}

func TestHoldReleaseResume(t *testing.T) {
	w := newWorld(t, root, addons, paused, chart)
	before := w.specs()
	n, err := w.Hold(t.Context(), nil)
	assert.Assert(t, n == 3 && err == nil, "held %d, error %v", n, err)
	held := map[string]string{
		"platform": `{"path":"./","suspend":true}`, "addons": `{"dependsOn":[{"name":"crds"}],"suspend":true}`,
		"paused": `{"suspend":true}`, "chart": `{"interval":"1m","suspend":true}`,
	}
	assert.DeepEqual(t, w.specs(), held)
	assert.NilError(t, w.Release(t.Context()))
	assert.DeepEqual(t, w.specs(), map[string]string{
		"platform": `{"dependsOn":[{"name":"tombolo-teardown"}],"path":"./"}`, "addons": `{"dependsOn":[{"name":"tombolo-teardown"}]}`,
		"paused": `{"suspend":true}`, "chart": `{"dependsOn":[{"name":"tombolo-teardown"}],"interval":"1m"}`,
	})
	// A teardown that begins again finds what the first has left.
	n, err = w.Hold(t.Context(), nil)
	assert.Assert(t, n == 3 && err == nil, "held %d again, error %v", n, err)
	n, err = w.Resume(t.Context())
	assert.Assert(t, n == 3 && err == nil, "resumed %d, error %v", n, err)
	assert.DeepEqual(t, w.specs(), before)
	for _, name := range w.names() {
		_, ok := w.get(name).GetAnnotations()[heldAnnotation]
		assert.Check(t, !ok, "%s has the annotation still", name)
	}
}

func TestHoldAppliersBeforeWhatTheyApply(t *testing.T) {
	w := newWorld(t, chart, root)
	_, err := w.Hold(t.Context(), nil)
	assert.NilError(t, err)
	names := make([]string, 0, len(w.patched))
	for _, p := range w.patched {
		name, _, _ := strings.Cut(p, " ")
		names = append(names, name)
	}
	assert.Check(t, slices.Equal(names, []string{"platform", "chart"}), "held in the order %v", names)
}
