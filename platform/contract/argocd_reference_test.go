package contract

import (
	"maps"
	"os"
	"path"
	"slices"
	"testing"

	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/names"
)

// fleetOfAll is a fleet that turns every addon on.
func fleetOfAll(t *testing.T, overlay string) []Published {
	t.Helper()
	var all []string
	for _, a := range addon.All() {
		all = append(all, a.Name)
	}
	return fleetOf(t, overlay, all...)
}

// fleetOf is a hub that follows an overlay, and two spokes: one of each shape,
// one in the ring that changes reach first.
func fleetOf(t *testing.T, overlay string, addons ...string) []Published {
	t.Helper()
	full, err := config.Load("../../clusters/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(full.Addons, func(name string, _ any) bool { return !slices.Contains(addons, name) })
	hub := *full
	hub.Name = path.Base(overlay)
	hub.Labels = map[string]string{"logging": "on"}
	hub.GitOps = config.GitOps{Engine: config.ArgoCD, URL: "http://git.lab.test/platform.git", Branch: "main", Path: overlay}
	sets, apps := hub, hub
	sets.Name, sets.Environment, sets.GitOps = "sets", "prod", config.GitOps{Engine: config.ArgoCD, Hub: hub.Name}
	sets.Labels = map[string]string{"logging": "on", "upgrade_testing": "true"}
	apps.Name, apps.GitOps = "apps", sets.GitOps
	apps.Labels = map[string]string{"shape": "app-of-apps"}
	return []Published{Publish(&hub), PublishTo(&sets, &hub), PublishTo(&apps, &hub)}
}

// TestReferenceTreeOfArgoCD holds the overlays of the reference tree to clusters
// of both shapes with every addon.
func TestReferenceTreeOfArgoCD(t *testing.T) {
	for _, overlay := range []string{"clusters/mgmt", "clusters/prod"} {
		t.Run(path.Base(overlay), func(t *testing.T) {
			found, err := Check(Tree{FS: os.DirFS("../argocd"), Name: "platform/argocd"}, fleetOfAll(t, overlay))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				t.Error(f)
			}
		})
	}
}

// applicationsOf are the Applications that the tree makes for a cluster.
func applicationsOf(t *testing.T, clusters []Published, cluster int) map[string]application {
	t.Helper()
	files, err := index(Tree{FS: os.DirFS("../argocd")})
	if err != nil {
		t.Fatal(err)
	}
	w := newWalk(files, newBuilder(files), clusters[cluster], clusters)
	w.runArgoCD()
	out := map[string]application{}
	for _, app := range w.applications {
		out[app.Metadata.Name] = app
	}
	return out
}

// TestEveryAddonIsReleasedInBothShapes finds an addon that one shape lacks.
func TestEveryAddonIsReleasedInBothShapes(t *testing.T) {
	clusters := fleetOfAll(t, "clusters/prod")
	for i, p := range clusters {
		released := map[string]bool{}
		for _, app := range applicationsOf(t, clusters, i) {
			released[app.Metadata.Labels[names.AddonLabel]] = true
		}
		for _, a := range addon.All() {
			if cloudAlone := a.Name == "certificate"; released[a.Name] == cloudAlone {
				t.Errorf("%s in cluster %s: released is %v", a.Name, p.Cluster, released[a.Name])
			}
		}
	}
}
