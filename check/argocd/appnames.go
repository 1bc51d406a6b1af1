package argocd

import (
	"fmt"

	"tombolo/check/manifest"
	"tombolo/check/published"
	"tombolo/internal/names"
)

// checkNames reports names that two Applications of the ApplicationSet would have: Argo CD makes
// neither. Those of systems are looked at by their lists. Source: validateGeneratedApplications in
// applicationset/controllers/applicationset_controller.go of argoproj/argo-cd v3.5.
func (g generation) checkNames(made []Application) {
	if len(made) == 0 || made[0].Metadata.Labels[names.SystemLabel] != "" {
		return
	}
	if twice := nameTwice(made); twice != "" {
		g.refuse("makes two Applications of the name "+twice+", and so Argo CD makes neither", "put into the name what tells them apart")
		return
	}
	if other, twice := g.nameOfTwoClusters(len(made)); twice != "" {
		g.refuse(fmt.Sprintf("makes an Application of the name %s for %s and for %s, and so Argo CD makes neither", twice, g.Published.Cluster, other),
			"put the cluster's name into the template's")
	}
}

// nameTwice is a name that two Applications have.
func nameTwice(all []Application) string {
	taken := map[string]bool{}
	for _, app := range all {
		if taken[app.Metadata.Name] {
			return app.Metadata.Name
		}
		taken[app.Metadata.Name] = true
	}
	return ""
}

// nameOfTwoClusters is a name of two Applications when the ApplicationSet is made for another cluster of the
// hub too. The first that it selects answers for all.
func (g generation) nameOfTwoClusters(alone int) (other, twice string) {
	if !g.asksClusters() {
		return "", ""
	}
	for _, p := range g.Fleet {
		if p.Cluster == g.Published.Cluster {
			continue
		}
		quiet, base := *g.Walk, *g.Walk.Walk
		quiet.Walk, quiet.from = &base, map[manifest.Object]madeFrom{}
		base.Used = map[string]bool{}
		both := generation{
			Walk: &quiet, in: g.in, set: g.set, switches: g.switches, clusters: []published.Set{g.Published, p}, namesOnly: g.set.Spec.TemplatePatch == "",
		}.applications()
		if len(both) > alone {
			return p.Cluster, nameTwice(both)
		}
	}
	return "", ""
}
