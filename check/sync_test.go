package check

import (
	"os"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/kustomize"
	"tombolo/check/manifest"
	"tombolo/check/tree/treetest"
)

// synced is what an Application, or the template of one, says of its sync.
type synced struct {
	Spec struct {
		SyncPolicy struct {
			Automated struct{ Prune, SelfHeal bool }
		}
		Template struct {
			Spec struct {
				SyncPolicy struct {
					Automated struct{ Prune, SelfHeal bool }
				}
			}
		}
	}
}

// TestARevertTakesAway: every Application of the tree for Argo CD, in both shapes, deletes what a commit has added when
// another one reverts it, and follows Git alone, so that nothing but Git goes back.
func TestARevertTakesAway(t *testing.T) {
	built := kustomize.NewBuilder(treetest.Index(t, os.DirFS("../platform/argocd"))).Build("clusters/prod", kustomize.Options{})
	assert.NilError(t, built.Err)
	automated := struct{ Prune, SelfHeal bool }{true, true}
	sets := 0
	for _, o := range built.Objects {
		m, err := manifest.Decode[manifest.Object](o.Text)
		assert.NilError(t, err)
		if m.Kind != "ApplicationSet" {
			continue
		}
		sets++
		set, err := manifest.Decode[synced](o.Text)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(set.Spec.Template.Spec.SyncPolicy.Automated, automated), m.Metadata.Name)
	}
	assert.Check(t, sets > 20, "the tree has %d ApplicationSets", sets)

	fleet := fleetOfAll(t, "clusters/prod")
	root := applicationsOf(t, fleet, 2)["apps-apps"]
	applications := rendered(t, root, root.Sources()[0])
	assert.Check(t, len(applications) > 20, "the app of apps has %d Applications", len(applications))
	for _, text := range applications {
		app, err := manifest.Decode[synced](text)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(app.Spec.SyncPolicy.Automated, automated), text)
	}
}
