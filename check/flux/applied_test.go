package flux

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/findingtest"
)

// TestAppliedTwice: kustomize-controller has one field manager for all Kustomizations, and tells nobody that
// they apply one object.
func TestAppliedTwice(t *testing.T) {
	kustomization := func(name, more string) string {
		return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\n" +
			"spec: {path: ./" + name + ", sourceRef: {kind: GitRepository, name: platform}, interval: 1m, prune: true" + more + "}\n---\n"
	}
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared, namespace: web}\n"
	const twice = "b/cm.yaml:3:18 Kustomization flux-system/a and Kustomization flux-system/b apply ConfigMap web/shared: " +
		"it has what the last one says, and may go with the first that drops it"
	for name, test := range map[string]struct{ more, second, want string }{
		"the same":           {"", object, twice},
		"in its namespace":   {", targetNamespace: web", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\n", twice},
		"another namespace":  {"", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared, namespace: app}\n", ""},
		"on another cluster": {", kubeConfig: {secretRef: {name: other}}", object, ""},
		"only once": {"", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared, namespace: web, " +
			"annotations: {kustomize.toolkit.fluxcd.io/ssa: IfNotPresent}}\n", ""},
	} {
		w := of(t, map[string]string{
			"start/a.yaml": kustomization("a", "") + kustomization("b", test.more), "a/cm.yaml": object, "b/cm.yaml": test.second,
		})
		w.Follow()
		assert.Check(t, is.Equal(findingtest.Messages(w.Findings), test.want), name)
	}
}
