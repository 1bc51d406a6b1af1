package argocd

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/findingtest"
)

// TestLinks: Argo CD goes through links of the repository to files, kustomizations and charts, and builds nothing of one
// with a link out of it.
func TestLinks(t *testing.T) {
	const wrong = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata: {x: [z]}\n"
	const says = ":4:12 ConfigMap b/a: data.x is a list, and has to be text: the API refuses it"
	const kustomized = "resources: [it.yaml]\n"
	for name, test := range map[string]struct {
		texts map[string]string
		want  string
	}{
		"a manifest":               {map[string]string{"start/cm.yaml": "-> ../other/cm.yaml", "other/cm.yaml": wrong}, "start/cm.yaml" + says},
		"a directory of manifests": {map[string]string{"start/cm.yaml": application("chart: web, targetRevision: 1.0.0"), "start/more": "-> ../other", "other/cm.yaml": wrong}, ""},
		"a base":                   {map[string]string{"start/kustomization.yaml": "resources: [it]\n", "start/it": "-> ../base", "base/kustomization.yaml": kustomized, "base/it.yaml": wrong}, "base/it.yaml" + says},
		"a kustomization":          {map[string]string{"start": "-> base", "base/kustomization.yaml": kustomized, "base/it.yaml": wrong}, "base/it.yaml" + says},
		"a file outside":           {map[string]string{"start/kustomization.yaml": kustomized, "start/it.yaml": "-> ../cm.yaml", "cm.yaml": wrong}, "start/kustomization.yaml:1:13 Application argocd/platform cannot be built: security; file '/start/it.yaml' is not in or below '/start'"},
		"a chart's templates":      {map[string]string{"start/Chart.yaml": chartFile, "start/templates": "-> ../t", "t/cm.yaml": wrong}, "start/templates/cm.yaml" + says},
		"to nothing":               {map[string]string{"start/kustomization.yaml": kustomized, "start/it.yaml": "-> ../cm.yaml"}, "start/kustomization.yaml:1:13 it.yaml is not in the tree"},
		"to itself":                {map[string]string{"start/kustomization.yaml": kustomized, "start/it.yaml": "-> it.yaml"}, "start/kustomization.yaml:1:13 it.yaml is not in the tree"},
		"out of the repository":    {map[string]string{"start/cm.yaml": application("chart: web, targetRevision: 1.0.0"), "x": "-> /etc/hostname"}, "x is a symbolic link out of the repository, to /etc/hostname: with it in Git, Argo CD builds nothing of the repository"},
		"out and back":             {map[string]string{"start/cm.yaml": application("chart: web, targetRevision: 1.0.0"), "x": "-> ../tree/start"}, "x is a symbolic link out of the repository, to ../tree/start: with it in Git, Argo CD builds nothing of the repository"},
	} {
		w := of(t, test.texts)
		w.Follow()
		assert.Check(t, is.Equal(findingtest.Messages(w.Findings), test.want), name)
	}
}
