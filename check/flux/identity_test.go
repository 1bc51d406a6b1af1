package flux

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/findingtest"
	"tombolo/check/published"
)

// TestIdentity: what kustomize builds and the API does not take.
func TestIdentity(t *testing.T) {
	const stops = ": Kustomization flux-system/platform stops at it"
	for name, test := range map[string]struct{ object, want string }{
		"with all":                  {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n", ""},
		"no apiVersion":             {"kind: ConfigMap\nmetadata: {name: a, namespace: b}\n", "start/a.yaml:2:18 ConfigMap b/a has no apiVersion" + stops},
		"no namespace":              {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "start/a.yaml:3:18 ConfigMap a has no namespace" + stops},
		"no namespace, Flux's kind": {"apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: a}\n", "start/a.yaml:3:18 HelmRepository a has no namespace" + stops},
		"a list":                    {"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: a}\n", "start/a.yaml Secret a has no namespace" + stops},
		"of the cluster":            {"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\n", ""},
		"a namespace":               {"apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n", ""},
		"a kind of others":          {"apiVersion: a.test/v1\nkind: Any\nmetadata: {name: a}\n", ""},
		"a name by a variable":      {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"${region}\", namespace: b}\n", ""},
		"an empty name":             {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"${empty}\", namespace: b}\n", "start/a.yaml:2:7 ConfigMap has an empty name once its variables are substituted" + stops},
	} {
		w := of(t, map[string]string{"start/a.yaml": test.object})
		w.Published.Variables["empty"] = published.Variable{}
		w = New(w.Walk, w.trees)
		w.Follow()
		assert.Check(t, is.Equal(findingtest.Messages(w.Findings), test.want), name)
	}
}
