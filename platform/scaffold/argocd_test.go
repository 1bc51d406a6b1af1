package scaffold

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
	"tombolo/platform"
)

// follower is a cluster that a hub's Argo CD runs.
func follower(name, hub string, addons ...string) *config.Cluster {
	c := cluster("", addons...)
	c.Name, c.GitOps.Engine, c.GitOps.Hub = name, config.ArgoCD, hub
	if name == hub {
		c.GitOps.Path = "clusters/" + name
	}
	return c
}

func writeArgoCD(t *testing.T, dir string, clusters ...*config.Cluster) map[string]Change {
	t.Helper()
	return writeFrom(t, platform.ArgoCD(), dir, false, clusters...)
}

func TestTreeOfAHubHasWhatItsClustersTurnOn(t *testing.T) {
	dir := t.TempDir()
	changes := writeArgoCD(t, dir, follower("mgmt", "mgmt", "metrics-server"), follower("one", "mgmt", "reloader"))
	var got []string
	for file := range changes {
		got = append(got, file)
	}
	slices.Sort(got)
	want := []string{
		"README.md",
		"addons/metrics-server/applicationset.yaml", "addons/metrics-server/kustomization.yaml", "addons/metrics-server/values.yaml",
		"addons/reloader/applicationset.yaml", "addons/reloader/kustomization.yaml", "addons/reloader/values.yaml",
		"app-of-apps/Chart.yaml", "app-of-apps/addons/metrics-server.yaml", "app-of-apps/addons/reloader.yaml",
		"app-of-apps/templates/applications.yaml", "app-of-apps/values.yaml",
		"apps/hello.yaml", "apps/hello/deployment.yaml", "apps/hello/kustomization.yaml", "apps/hello/namespace.yaml",
		"apps/hello/settings.yaml", "apps/kustomization.yaml",
		"clusters/base/app-of-apps.yaml", "clusters/base/kustomization.yaml", "clusters/base/sync.yaml",
		"clusters/mgmt/kustomization.yaml",
	}
	assert.Check(t, is.DeepEqual(got, want))
	const list = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n" +
		"  - ../../addons/metrics-server\n  - ../../addons/reloader\n  - ../../apps\ncomponents:\n  - ../base\n"
	assert.Check(t, is.Equal(cmp.Diff(list, read(t, dir, "clusters/mgmt/kustomization.yaml")), ""))
}

func TestTurningOffInAFleet(t *testing.T) {
	dir := t.TempDir()
	hub := follower("mgmt", "mgmt")
	writeArgoCD(t, dir, hub, follower("one", "mgmt", "metrics-server", "reloader"))
	changes := writeArgoCD(t, dir, hub, follower("one", "mgmt", "metrics-server"))
	for file, want := range map[string]Change{
		"clusters/mgmt/kustomization.yaml":  Updated,
		"addons/reloader":                   Unused,
		"app-of-apps/addons/reloader.yaml":  Unused,
		"addons/metrics-server/values.yaml": Same,
	} {
		assert.Check(t, changes[file] == want, "%s was %s, want %s", file, changes[file], want)
	}
	if text := read(t, dir, "clusters/mgmt/kustomization.yaml"); strings.Contains(text, "reloader") || !strings.Contains(text, "- ../base\n") {
		t.Errorf("after turning off:\n%s", text)
	}
}

func TestTreeThatCannotBe(t *testing.T) {
	for want, clusters := range map[string][]*config.Cluster{
		"cluster one comes without its hub mgmt; give the hub too": {follower("one", "mgmt")},
		"demo follows flux, mgmt follows argocd; write a tree for each engine": {
			{Name: "demo", GitOps: config.GitOps{Engine: config.Flux, Path: "clusters/demo"}}, follower("mgmt", "mgmt"),
		},
	} {
		_, err := Write(t.TempDir(), platform.ArgoCD(), clusters, false)
		assert.Check(t, is.Error(err, "write the platform tree: "+want))
	}
}

// TestReferenceOfArgoCDHasEveryAddon holds the overlays of the reference tree to
// what would be written for a hub with every addon.
func TestReferenceOfArgoCDHasEveryAddon(t *testing.T) {
	full, err := config.Load("../../clusters/full.yaml")
	assert.NilError(t, err)
	for _, name := range []string{"mgmt", "prod"} {
		dir := t.TempDir()
		writeArgoCD(t, dir, follower(name, name, full.Addons.Names()...))
		file := path.Join("clusters", name, listFile)
		text, err := fs.ReadFile(platform.ArgoCD(), file)
		assert.NilError(t, err)
		want := strings.ReplaceAll(string(text), "  - ../lab\n", "")
		if diff := cmp.Diff(want, read(t, dir, file)); diff != "" {
			t.Errorf("%s (-in the reference tree +written):\n%s", file, diff)
		}
	}
}

// TestArgoCDFoldersOfAddonsAreLabelled: patches for all addons find their
// ApplicationSets by the label, verify their Applications.
func TestArgoCDFoldersOfAddonsAreLabelled(t *testing.T) {
	lists, err := fs.Glob(platform.ArgoCD(), "addons/*/"+listFile)
	assert.Assert(t, err == nil && len(lists) >= 10, "%d addons have a folder: %v", len(lists), err)
	for _, list := range lists {
		label := "tombolo/addon: " + path.Base(path.Dir(list)) + "\n"
		sets, err := fs.Glob(platform.ArgoCD(), path.Join(path.Dir(list), "*.yaml"))
		assert.NilError(t, err)
		for _, file := range sets {
			text, err := fs.ReadFile(platform.ArgoCD(), file)
			assert.NilError(t, err)
			if base := path.Base(file); (base == listFile || base == "applicationset.yaml") && !strings.Contains(string(text), label) {
				t.Errorf("%s does not label with the addon", file)
			}
		}
	}
}
