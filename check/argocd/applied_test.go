package argocd

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestAppliedTwice: of two Applications with one object, Argo CD says SharedResourceWarning, and lets each apply it.
func TestAppliedTwice(t *testing.T) {
	application := func(name, destination string) string {
		return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: " + name + "}\n" +
			"spec: {project: default, destination: {" + destination + "}, source: {repoURL: 'https://git.test/tree', path: " + name + "}}\n---\n"
	}
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared}\n"
	for name, test := range map[string]struct{ to, want string }{
		"the same": {"name: one, namespace: web", "b/cm.yaml:3:18 Application argocd/a and Application argocd/b apply ConfigMap web/shared: " +
			"it has what the last one says, and may go with the first that drops it"},
		"another namespace": {"name: one, namespace: app", ""},
		"another cluster":   {"name: two, namespace: web", `start/a.yaml:9:46 Application argocd/b goes to the cluster "two", which no cluster file of this hub registers: where nobody else does, Argo CD refuses it`},
	} {
		got := findings(t, map[string]string{
			"start/a.yaml": application("a", "name: one, namespace: web") + application("b", test.to), "a/cm.yaml": object, "b/cm.yaml": object,
		})
		assert.Check(t, is.Equal(got, test.want), name)
	}
}
