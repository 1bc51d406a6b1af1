package teardown

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// controller is a Deployment of Flux's.
func controller(name string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  namespace: flux-system\n  name: " + name +
		"\n  labels: {app.kubernetes.io/part-of: flux, app.kubernetes.io/component: " + name + "}\nspec: {template: {metadata: {labels: {app: " + name + "}}}}"
}

// A Kustomization that waits for what is held is let go of, and nothing else.
func TestInterrupt(t *testing.T) {
	const waits, fails = "\nstatus: {conditions: [{type: Reconciling, status: 'True'}, {type: Ready, status: Unknown}]}",
		"\nstatus: {conditions: [{type: Reconciling, status: 'True'}, {type: Ready, status: 'False'}]}"
	for _, test := range []struct {
		name    string
		objects []string
		want    bool
	}{
		{"waits", []string{root + waits}, true},
		{"waits, but somebody else has suspended it", []string{paused + waits}, false},
		{"tries again later", []string{root + fails}, false},
		{"has not begun", []string{root}, false},
		{"a release is made", []string{chart + waits}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, append(test.objects, controller("kustomize-controller"), controller("helm-controller"))...)
			_, err := w.Hold(t.Context(), nil)
			assert.NilError(t, err)
			got, err := w.Interrupt(t.Context())
			assert.Assert(t, err == nil && got == test.want, "interrupted: %t, error %v", got, err)
			var restarted []string
			for _, p := range w.patched {
				if name, patch, _ := strings.Cut(p, " "); strings.Contains(patch, restartedAt) {
					restarted = append(restarted, name)
				}
			}
			want := []string{"kustomize-controller"}
			if !test.want {
				want = nil
			}
			assert.Check(t, slices.Equal(restarted, want), "restarted %v", restarted)
		})
	}
}
