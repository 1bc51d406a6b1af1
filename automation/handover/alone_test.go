package handover

import (
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestAlone: the trees of hubs with systems have settings of Argo CD, which its own files would fight with.
func TestAlone(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	const settings = "kind: Secret\nmetadata: {name: argocd-cm}\n---\nkind: [\"\"]\n---\nkind: ConfigMap\nmetadata: {name: argocd-cm}\n"
	tree := fstest.MapFS{
		"clusters/hub/kustomization.yaml":        file("resources: [https://example.com/x, argocd.yaml, argocd, ../../systems, ../../../out]\n"),
		"clusters/hub/argocd/kustomization.yaml": file("resources: [install.yaml]\n"),
		"clusters/hub/argocd/install.yaml":       file(settings),
		"clusters/hub/argocd.yaml":               file("kind: Application\n"),
		"systems/kustomization.yaml":             file("components: [hub]\nresources: [../clusters/hub]\n"),
		"systems/hub/kustomization.yml":          file("resources: [project.yaml]\n"),
		"systems/hub/settings.yaml":              file(settings),
		"systems/hub/project.yaml":               file("kind: AppProject\n{"),
	}
	a := Alone{Tree: "clusters/hub", Except: "clusters/hub/argocd", ConfigMap: "argocd-cm"}
	assert.NilError(t, a.check(tree), "nothing leads to the settings")
	tree["systems/hub/kustomization.yml"] = file("resources: [project.yaml, settings.yaml]\n")
	assert.Check(t, is.ErrorContains(a.check(tree), "systems/hub/settings.yaml has the ConfigMap argocd-cm, which would be in clusters/hub/argocd, too"))
}
