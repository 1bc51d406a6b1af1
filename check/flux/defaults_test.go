package flux

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/check/findingtest"
)

// TestDefaultsOfComponents: a variable of a component is a parameter, unless it seems to be a misspelt one.
func TestDefaultsOfComponents(t *testing.T) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata: {a: 'x-${VARIABLE:=1}'}\n"
	const component, plain = "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nresources: [below/a.yaml]\n", "resources: [below/a.yaml]\n"
	for name, test := range map[string]struct{ file, variable, want string }{
		"a component's": {component, "SIZE", ""},
		"misspelt":      {component, "APPP", "part/below/a.yaml:4:14 ${APPP} has a default, and no cluster publishes it"},
		"another's":     {plain, "SIZE", "part/below/a.yaml:4:14 ${SIZE} has a default, and no cluster publishes it"},
	} {
		t.Run(name, func(t *testing.T) {
			used := "resources: [../part]\n"
			if test.file == component {
				used = "components: [../part]\n"
			}
			w := of(t, map[string]string{
				"start/a.yaml":           stage("a", "./a", "  interval: 1h\n  prune: true\n  postBuild: {substitute: {APP: web}}\n"),
				"a/kustomization.yaml":   used,
				"part/kustomization.yml": test.file,
				"part/below/a.yaml":      strings.ReplaceAll(object, "VARIABLE", test.variable),
			})
			w.Follow()
			w.CheckDefaults()
			assert.Equal(t, findingtest.Messages(w.Findings), test.want)
		})
	}
}
