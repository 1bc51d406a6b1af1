package flux

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/findingtest"
)

// TestLinks: source-controller has no symbolic links in its artifact, and says of none that it leaves it out.
// Source: Archive in storage/archive.go of fluxcd/pkg/artifact v0.18.
func TestLinks(t *testing.T) {
	const made = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n"
	for name, test := range map[string]struct {
		texts        map[string]string
		want, remedy string
	}{
		"a manifest":   {map[string]string{"start/a.yaml": made, "start/b.yaml": "-> ../b.yaml", "b.yaml": made}, "start/b.yaml is a symbolic link, which Flux leaves out, and does not say so", "put a copy of ../b.yaml in its place"},
		"an entry":     {map[string]string{"start/kustomization.yaml": "resources: [b]\n", "start/b": "-> ../b", "b/kustomization.yaml": "resources: []\n"}, "start/kustomization.yaml:1:13 b is not in the tree", "start/b is a symbolic link, which Flux does not have"},
		"a path":       {map[string]string{"start/a.yaml": stage("stage", "./l", ""), "l": "-> b", "b/a.yaml": made}, `start/a.yaml:5:9 Kustomization flux-system/stage: path "./l" is not a directory of the platform tree`, "name what it leads to, b"},
		"another file": {map[string]string{"start/a.yaml": made, "README.md": "-> docs/README.md"}, "", ""},
	} {
		w := of(t, test.texts)
		w.Follow()
		got, remedy := findingtest.Messages(w.Findings), ""
		for _, f := range w.Findings {
			remedy += f.Remedy
		}
		assert.Check(t, got == test.want, "%s: found %s", name, got)
		assert.Check(t, is.Contains(remedy, test.remedy), name)
	}
}
