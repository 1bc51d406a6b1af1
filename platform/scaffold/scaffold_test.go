package scaffold

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/platform"
	"tombolo/platform/kustomization"
	"tombolo/tests/files"
)

// reference is a small tree: karpenter and external-dns of the real catalogue.
func reference() fstest.MapFS {
	tree := fstest.MapFS{}
	for file, text := range map[string]string{
		"README.md":                                "read me\n",
		"clusters/base/kustomization.yaml":         "resources: [crds.yaml]\n",
		"clusters/base/crds.yaml":                  "kind: Kustomization\n",
		"clusters/demo/kustomization.yaml":         "resources: [../base]\n",
		"addons/karpenter/kustomization.yaml":      "resources: [release.yaml]\n",
		"addons/karpenter/release.yaml":            "kind: HelmRelease\n",
		"addons/karpenter/crds/kustomization.yaml": "resources: [crds.yaml]\n",
		"addons/karpenter/crds/crds.yaml":          "kind: HelmRelease\n",
		"addons/external-dns/kustomization.yaml":   "resources: [release.yaml]\n",
		"addons/external-dns/release.yaml":         "kind: HelmRelease\n",
		"apps/kustomization.yaml":                  "resources: []\n",
	} {
		tree[file] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

func cluster(path string, addons ...string) *config.Cluster {
	c := &config.Cluster{Name: "demo", GitOps: config.GitOps{Path: path}, Addons: addon.Selection{}}
	for _, name := range addons {
		c.Addons[name] = addon.Find(name).NewOptions()
	}
	return c
}

func write(t *testing.T, dir string, overwrite bool, clusters ...*config.Cluster) map[string]Change {
	t.Helper()
	return writeFrom(t, reference(), dir, overwrite, clusters...)
}

func writeFrom(t *testing.T, reference fs.FS, dir string, overwrite bool, clusters ...*config.Cluster) map[string]Change {
	t.Helper()
	done, err := Write(dir, reference, clusters, overwrite)
	assert.NilError(t, err)
	changes := map[string]Change{}
	for _, f := range done {
		changes[f.Path] = f.Change
	}
	return changes
}

func read(t *testing.T, dir, file string) string {
	t.Helper()
	return files.Read(t, filepath.Join(dir, file))
}

// TestREADMEOfAProject: it is the project's, and neither written nor reported.
func TestREADMEOfAProject(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"Pulumi.yaml", "README.md"} {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte("ours\n"), 0o600))
	}
	changes := write(t, dir, true, cluster("clusters/dev"))
	assert.Check(t, is.Equal(changes["README.md"], Change("")))
	assert.Check(t, is.Equal(read(t, dir, "README.md"), "ours\n"))
}

func TestTreeHasWhatTheClusterTurnsOn(t *testing.T) {
	dir := t.TempDir()
	changes := write(t, dir, false, cluster("clusters/dev", "karpenter"))
	var got []string
	for file, change := range changes {
		assert.Check(t, change == Written, "%s was %s", file, change)
		got = append(got, file)
	}
	slices.Sort(got)
	want := []string{
		"README.md",
		"addons/karpenter/crds/crds.yaml", "addons/karpenter/crds/kustomization.yaml",
		"addons/karpenter/kustomization.yaml", "addons/karpenter/release.yaml",
		"apps/kustomization.yaml",
		"clusters/base/crds.yaml", "clusters/base/kustomization.yaml",
		"clusters/dev/addons/kustomization.yaml", "clusters/dev/apps/kustomization.yaml",
		"clusters/dev/crds/kustomization.yaml", "clusters/dev/karpenter/kustomization.yaml",
		"clusters/dev/kustomization.yaml", "clusters/dev/load-balancer-controller/kustomization.yaml",
	}
	assert.Check(t, is.DeepEqual(got, want))
	for file, want := range map[string]string{
		"clusters/dev/kustomization.yaml":           "resources:\n  - ../base\n",
		"clusters/dev/crds/kustomization.yaml":      "resources:\n  - ../../../addons/karpenter/crds\n",
		"clusters/dev/karpenter/kustomization.yaml": "resources:\n  - ../../../addons/karpenter\n",
		"clusters/dev/addons/kustomization.yaml":    "resources: []\n",
		"clusters/dev/apps/kustomization.yaml":      "resources:\n  - ../../../apps\n",
	} {
		text := read(t, dir, file)
		assert.Check(t, strings.HasSuffix(text, want), "%s is\n%s", file, text)
	}
}

func TestWriteAgainChangesNothing(t *testing.T) {
	dir := t.TempDir()
	c := cluster("clusters/dev", "karpenter", "external-dns")
	write(t, dir, false, c)
	for file, change := range write(t, dir, false, c) {
		assert.Check(t, change == Same, "%s was %s", file, change)
	}
}

func TestTurningOffAndOnEditsTheLists(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, false, cluster("clusters/dev", "karpenter", "external-dns"))
	const list = "clusters/dev/addons/kustomization.yaml"
	own := read(t, dir, list) + "  # ours\n  - ../../../ours\n"
	assert.NilError(t, os.WriteFile(filepath.Join(dir, list), []byte(own), 0o644))
	changes := write(t, dir, false, cluster("clusters/dev", "karpenter"))
	assert.Check(t, changes[list] == Updated && changes["addons/external-dns"] == Unused, "changes: %v", changes)
	if text := read(t, dir, list); strings.Contains(text, "external-dns") || !strings.Contains(text, "# ours\n  - ../../../ours\n") {
		t.Errorf("after turning off:\n%s", text)
	}
	write(t, dir, false, cluster("clusters/dev", "karpenter", "external-dns"))
	assert.Check(t, is.Contains(read(t, dir, list), "- ../../../ours\n  - ../../../addons/external-dns\n"))
}

func TestFilesOfTheUserAreKept(t *testing.T) {
	dir := t.TempDir()
	c := cluster("clusters/dev", "karpenter")
	write(t, dir, false, c)
	const file = "addons/karpenter/release.yaml"
	assert.NilError(t, os.WriteFile(filepath.Join(dir, file), []byte("mine\n"), 0o644))
	if changes := write(t, dir, false, c); changes[file] != Kept || read(t, dir, file) != "mine\n" {
		t.Errorf("%s was %s", file, changes[file])
	}
	if changes := write(t, dir, true, c); changes[file] != Updated || read(t, dir, file) != "kind: HelmRelease\n" {
		t.Errorf("with overwrite, %s was %s", file, changes[file])
	}
}

func TestClustersWithOnePathShareIt(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, false, cluster("clusters/dev", "karpenter"), cluster("clusters/dev", "external-dns"), cluster("fleet/prod"))
	for file, want := range map[string]string{
		"clusters/dev/karpenter/kustomization.yaml": "../../../addons/karpenter",
		"clusters/dev/addons/kustomization.yaml":    "../../../addons/external-dns",
		"fleet/prod/kustomization.yaml":             "../../clusters/base",
		"fleet/prod/karpenter/kustomization.yaml":   "resources: []",
	} {
		assert.Check(t, is.Contains(read(t, dir, file), want), file)
	}
}

func TestBadListIsRefused(t *testing.T) {
	for content, want := range map[string]string{
		"[a, b]\n":                   "clusters/dev/kustomization.yaml: is no kustomization: expected a mapping with resources; correct the file",
		"resources: everything\n":    "line 1: resources is no list",
		"resources: [a\nkind: b: c]": "yaml: line",
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "clusters/dev/kustomization.yaml")
		assert.NilError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		assert.NilError(t, os.WriteFile(file, []byte(content), 0o644))
		_, err := Write(dir, reference(), []*config.Cluster{cluster("clusters/dev")}, false)
		assert.Check(t, is.ErrorContains(err, want), content)
	}
}

// TestReferenceHasEveryAddon holds the reference overlay with every addon to
// what would be written for its cluster file, and the file to the catalogue.
func TestReferenceHasEveryAddon(t *testing.T) {
	full, err := config.Load("../../clusters/full.yaml")
	assert.NilError(t, err)
	for _, a := range addon.All() {
		_, not := a.NotOn[string(full.Cloud.Provider)]
		_, on := full.Addons[a.Name]
		assert.Check(t, on != not, "clusters/full.yaml does not turn %s on", a.Name)
	}
	dir := t.TempDir()
	if _, err := Write(dir, platform.Flux(), []*config.Cluster{full}, false); err != nil {
		t.Fatal(err)
	}
	for _, stage := range stages() {
		file := path.Join(full.GitOps.Path, stage, listFile)
		want, err := fs.ReadFile(platform.Flux(), file)
		assert.NilError(t, err)
		assert.Check(t, is.DeepEqual(string(want), read(t, dir, file)), file)
	}
}

// TestFoldersOfAddonsAreLabelled: up finds an addon's releases by the label.
func TestFoldersOfAddonsAreLabelled(t *testing.T) {
	lists, err := fs.Glob(platform.Flux(), "addons/*/"+listFile)
	assert.Assert(t, err == nil && len(lists) >= 10, "%d addons have a folder: %v", len(lists), err)
	for _, list := range lists {
		name := path.Base(path.Dir(list))
		for _, file := range []string{list, path.Join(path.Dir(list), crdsDir, listFile)} {
			text, err := fs.ReadFile(platform.Flux(), file)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			assert.NilError(t, err)
			assert.Check(t, strings.Contains(string(text), "tombolo/addon: "+name+"\n"), "%s does not label its objects with the addon", file)
		}
	}
}

// TestLabPatchesStagesAlone builds clusters of the lab with an engine that was
// handed over: the root that Git holds then is not patched.
func TestLabPatchesStagesAlone(t *testing.T) {
	dir := t.TempDir()
	assert.NilError(t, os.CopyFS(dir, platform.Flux()))
	for _, cluster := range []string{"demo", "full"} {
		root := filepath.Join(dir, "clusters", cluster)
		addRoot(t, root)
		built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), root)
		assert.NilError(t, err)
		patched := map[string]bool{}
		for _, r := range built.Resources() {
			_, err := r.GetFieldValue("spec.patches")
			patched[r.GetName()] = err == nil
		}
		want := map[string]bool{"platform": false}
		for _, stage := range stages() {
			want[stage] = true
		}
		assert.Check(t, is.DeepEqual(patched, want))
	}
}

// addRoot adds the Kustomization of a cluster's root to what the root holds.
func addRoot(t *testing.T, root string) {
	t.Helper()
	list := filepath.Join(root, listFile)
	text, err := os.ReadFile(list)
	assert.NilError(t, err)
	edited, err := kustomization.Edit(text, []string{"root.yaml"}, nil)
	assert.NilError(t, err)
	for file, content := range map[string]string{
		list: string(edited),
		filepath.Join(root, "root.yaml"): `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: platform, namespace: flux-system}
spec: {prune: true}
`,
	} {
		assert.NilError(t, os.WriteFile(file, []byte(content), 0o644))
	}
}

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
	assert.Check(t, is.DeepEqual(list, read(t, dir, "clusters/mgmt/kustomization.yaml")))
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
	text := read(t, dir, "clusters/mgmt/kustomization.yaml")
	assert.Check(t, !strings.Contains(text, "reloader") && strings.Contains(text, "- ../base\n"), "after turning off:\n%s", text)
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
		assert.Check(t, is.DeepEqual(strings.ReplaceAll(string(text), "  - ../lab\n", ""), read(t, dir, file)), file)
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
