package check

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/argocd"
	"tombolo/check/finding"
	"tombolo/check/kustomize"
	"tombolo/check/published"
	"tombolo/check/tree/treetest"
	"tombolo/check/walk"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/names"
	"tombolo/platform/scaffold"
)

// fleetOfAll is a fleet that turns every addon on.
func fleetOfAll(t *testing.T, overlay string) []published.Set {
	t.Helper()
	var all []string
	for _, a := range addon.All() {
		all = append(all, a.Name)
	}
	return fleetOf(t, overlay, all...)
}

// fleetOf is a hub that follows an overlay, and two spokes: one of each shape,
// one in the ring that changes reach first.
func fleetOf(t *testing.T, overlay string, addons ...string) []published.Set {
	t.Helper()
	full, err := config.Load("../clusters/full.yaml")
	assert.NilError(t, err)
	full.Kubernetes.Addons = []config.ManagedAddon{{Name: "vpc-cni", Configuration: map[string]any{"enableNetworkPolicy": "true"}}}
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
	return []published.Set{published.To(&hub, &hub), published.To(&sets, &hub), published.To(&apps, &hub)}
}

// TestReferenceTreeOfArgoCD holds the overlays of the reference tree to clusters
// of both shapes with every addon.
func TestReferenceTreeOfArgoCD(t *testing.T) {
	sealed(t)
	for _, overlay := range []string{"clusters/mgmt", "clusters/prod"} {
		t.Run(path.Base(overlay), func(t *testing.T) {
			found, err := Check(Tree{FS: os.DirFS("../platform/argocd"), Name: "platform/argocd"}, fleetOfAll(t, overlay))
			assert.NilError(t, err)
			for _, f := range found {
				t.Error(f)
			}
		})
	}
}

// TestDemoOfArgoCD holds the tree to the cluster of `make demo CLUSTER=argocd`.
func TestDemoOfArgoCD(t *testing.T) {
	c, err := config.Load("../clusters/argocd.yaml")
	assert.NilError(t, err)
	found, err := Check(Tree{FS: os.DirFS("../platform/argocd"), Name: "platform/argocd"}, []published.Set{published.To(c, c)})
	assert.NilError(t, err)
	for _, f := range found {
		assert.Check(t, f.Severity != finding.Error, f)
	}
}

// TestHubWithoutAddons holds the tree that is written for a hub without an addon to
// the hub. A misspelt label is found there too.
func TestHubWithoutAddons(t *testing.T) {
	hub, err := config.Load("../clusters/full.yaml")
	assert.NilError(t, err)
	hub.Addons = nil
	hub.GitOps = config.GitOps{Engine: config.ArgoCD, URL: "http://git.lab.test/platform.git", Branch: "main", Path: "clusters/bare"}
	dir := t.TempDir()
	if _, err := scaffold.Write(dir, os.DirFS("../platform/argocd"), []*config.Cluster{hub}, false); err != nil {
		t.Fatal(err)
	}
	clusters := []published.Set{published.To(hub, hub)}
	assert.Check(t, is.Equal(check(t, os.DirFS(dir), clusters), ""))
	file := path.Join(dir, appsSet)
	text, err := os.ReadFile(file)
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(file, bytes.ReplaceAll(text, []byte("shape: "), []byte("shap: ")), 0o644))
	want := `selects clusters by the label "shap", which none of this hub has: it reaches none (cluster full); did you mean "shape"?`
	if found := check(t, os.DirFS(dir), clusters); !strings.Contains(found, want) {
		t.Errorf("found\n%swant %s", found, want)
	}
}

// applicationsOf are the Applications that the tree makes for a cluster.
func applicationsOf(t *testing.T, clusters []published.Set, cluster int) map[string]argocd.Application {
	t.Helper()
	return applicationsIn(t, os.DirFS("../platform/argocd"), clusters, cluster)
}

// applicationsIn are those that a tree makes for a cluster.
func applicationsIn(t *testing.T, tree fs.FS, clusters []published.Set, cluster int) map[string]argocd.Application {
	t.Helper()
	files := treetest.Index(t, tree)
	w := argocd.New(&walk.Walk{Files: files, Builds: kustomize.NewBuilder(files), Published: clusters[cluster], Fleet: clusters})
	w.Follow()
	out := map[string]argocd.Application{}
	for _, app := range w.Applications {
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
			if _, not := a.NotOn[addon.AWS]; not {
				continue
			}
			if cloudAlone := a.Name == "certificate"; released[a.Name] == cloudAlone {
				t.Errorf("%s in cluster %s: released is %v", a.Name, p.Cluster, released[a.Name])
			}
		}
	}
}
