package check

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"

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

// TestReferenceTree holds the reference tree to all sample clusters, and each
// of its overlays to the cluster with the most addons: one that follows it
// could turn on as many.
func TestReferenceTree(t *testing.T) {
	samples, err := config.LoadDir("../clusters")
	assert.NilError(t, err)
	samples = slices.DeleteFunc(samples, func(c *config.Cluster) bool { return c.GitOps.Engine == config.ArgoCD })
	root := os.DirFS("../platform/flux")
	fullest := slices.MaxFunc(samples, func(a, b *config.Cluster) int { return len(a.Addons) - len(b.Addons) })
	var all []published.Set
	followed := map[string]bool{}
	for _, c := range samples {
		p := published.To(c, c)
		followed[p.Path] = true
		all = append(all, p)
	}
	for _, overlay := range overlays(t, root) {
		if !followed[overlay] {
			c := *fullest
			c.Name, c.GitOps.Path = path.Base(overlay), overlay
			all = append(all, published.To(&c, &c))
		}
	}
	for _, p := range all {
		t.Run(p.Cluster, func(t *testing.T) {
			found, err := Check(root, "platform/flux", []published.Set{p})
			assert.NilError(t, err)
			for _, f := range found {
				if f.Severity == finding.Error || (f.Severity == finding.Warning && followed[p.Path]) {
					t.Error(f)
				}
			}
		})
	}
}

// TestEnvironments holds the overlays of dev, test and prod to a cluster of each, which follows a branch of
// its own: nothing is wrong, they differ, and what prod has was in test before.
func TestEnvironments(t *testing.T) {
	all, err := config.LoadDir("testdata/environments")
	assert.NilError(t, err)
	slices.SortFunc(all, func(a, b *config.Cluster) int { return a.Wave - b.Wave })
	var branches, differences []string
	in := map[string][]string{}
	for _, c := range all {
		branches = append(branches, c.Environment+" "+c.GitOps.Branch)
		found, err := Check(os.DirFS("../platform/flux"), "platform/flux", []published.Set{published.To(c, c)})
		assert.NilError(t, err)
		for _, f := range found {
			assert.Check(t, f.Severity == finding.Note, "%s: %s", c.Name, f)
		}
		differs := []string{c.Environment}
		for _, of := range []struct{ dir, kind, name, field string }{
			{"", "Kustomization", "apps", "spec.interval"},
			{"", "Kustomization", "apps", "spec.timeout"},
			{"", "Alert", "platform", "spec.eventSeverity"},
			{"apps", "Deployment", "hello", "spec.replicas"},
			{"addons", "HelmRelease", "metrics-server", "spec.values.replicas"},
			{"addons", "HelmRelease", "authentik", "spec.values.server.replicas"},
			{"addons", "HelmRelease", "istiod", "spec.values.autoscaleMin"},
		} {
			differs = append(differs, valueOf(t, path.Join("../platform/flux", c.GitOps.Path, of.dir), of.kind, of.name, of.field))
		}
		differences = append(differences, strings.Join(differs, " "))
		for _, stage := range []string{"crds", "karpenter", "load-balancer-controller", "addons"} {
			in[c.Environment] = append(in[c.Environment], objectsIn(t, path.Join("../platform/flux", c.GitOps.Path, stage))...)
		}
	}
	assert.DeepEqual(t, branches, []string{"dev dev", "test test", "prod main"})
	assert.DeepEqual(t, differences, []string{"dev 10m 10m - 1 1 - -", "test 30m 30m info 2 2 1 2", "prod 1h 30m error 3 2 3 3"})
	assert.DeepEqual(t, in["test"], in["prod"])
	assert.Check(t, len(in["dev"]) > 10 && len(in["dev"]) < len(in["test"]))
}

// built is what kustomize makes of a directory.
func built(t *testing.T, dir string) []*resource.Resource {
	t.Helper()
	out, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	assert.NilError(t, err)
	return out.Resources()
}

// valueOf is a field of an object in a directory; - if there is no such object.
func valueOf(t *testing.T, dir, kind, name, field string) string {
	t.Helper()
	for _, r := range built(t, dir) {
		if r.GetKind() == kind && r.GetName() == name {
			value, err := r.GetFieldValue(field)
			assert.NilError(t, err)
			return fmt.Sprint(value)
		}
	}
	return "-"
}

// objectsIn are the objects in a directory, and the versions of charts.
func objectsIn(t *testing.T, dir string) (all []string) {
	t.Helper()
	for _, r := range built(t, dir) {
		version, _ := r.GetFieldValue("spec.chart.spec.version")
		all = append(all, fmt.Sprint(r.GetKind(), " ", r.GetNamespace(), "/", r.GetName(), " ", version))
	}
	return all
}

// overlays are the directories of the tree that a cluster can follow: those
// that have stages.
func overlays(t *testing.T, root fs.FS) []string {
	t.Helper()
	apps, err := fs.Glob(root, "clusters/*/apps/kustomization.yaml")
	assert.Assert(t, err == nil && len(apps) > 0, "the tree has no overlays: %v", err)
	var out []string
	for _, name := range apps {
		out = append(out, path.Dir(path.Dir(name)))
	}
	return out
}

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
	full.Addons["external-secrets"].(*addon.SecretsOptions).VaultServer = &addon.VaultServer{Address: "https://vault.example.com:8200"}
	maps.DeleteFunc(full.Addons, func(name string, _ any) bool { return !slices.Contains(addons, name) })
	hub := *full
	hub.Name = path.Base(overlay)
	hub.Labels = map[string]string{"logging": "on"}
	hub.GitOps = config.GitOps{Engine: config.ArgoCD, URL: "http://git.lab.test/platform.git", Branch: "main", Path: overlay}
	sets, apps := hub, hub
	sets.Name, sets.Environment, sets.GitOps = "sets", "prod", config.GitOps{Engine: config.ArgoCD, Hub: hub.Name}
	sets.Labels = map[string]string{"logging": "on", "upgrade_testing": "true"}
	apps.Name, apps.Environment, apps.GitOps = "apps", "qa", sets.GitOps // of which the trees say nothing
	apps.Labels = map[string]string{"shape": "app-of-apps"}
	return []published.Set{published.To(&hub, &hub), published.To(&sets, &hub), published.To(&apps, &hub)}
}

// TestReferenceTreeOfArgoCD holds the overlays of the reference tree to clusters
// of both shapes with every addon.
func TestReferenceTreeOfArgoCD(t *testing.T) {
	sealed(t)
	for _, overlay := range []string{"clusters/mgmt", "clusters/prod"} {
		t.Run(path.Base(overlay), func(t *testing.T) {
			found, err := Check(os.DirFS("../platform/argocd"), "platform/argocd", fleetOfAll(t, overlay))
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
	found, err := Check(os.DirFS("../platform/argocd"), "platform/argocd", []published.Set{published.To(c, c)})
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
	assert.Check(t, is.Contains(check(t, os.DirFS(dir), clusters), want))
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
			cloudAlone := a.Name == "certificate"
			assert.Check(t, released[a.Name] != cloudAlone, "%s in cluster %s: released is %v", a.Name, p.Cluster, released[a.Name])
		}
	}
}

const someObject = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME, namespace: b}\n"

// startingWith is a tree whose clusters begin at clusters/demo and clusters/mgmt with a kustomization file.
func startingWith(text string) fstest.MapFS {
	out := fstest.MapFS{
		"base/kustomization.yaml": {Data: []byte("resources: [b.yaml]\n")},
		"base/b.yaml":             {Data: []byte(strings.Replace(someObject, "NAME", "b", 1))},
		"a.yaml":                  {Data: []byte(strings.Replace(someObject, "NAME", "c", 1))},
	}
	for _, dir := range []string{"clusters/demo/", "clusters/mgmt/"} {
		out[dir+"kustomization.yaml"] = &fstest.MapFile{Data: []byte(text)}
		out[dir+"a.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(someObject, "NAME", "a", 1))}
	}
	return out
}

// gravest is the gravest finding of a tree for Flux or Argo CD.
func gravest(t *testing.T, tree fstest.MapFS, argo bool) finding.Finding {
	t.Helper()
	clusters := twoClusters(t)[:1]
	if argo {
		clusters = fleetOf(t, "clusters/mgmt")[:1]
	}
	found, err := Check(tree, "tree", clusters)
	assert.NilError(t, err)
	for _, f := range found {
		if strings.Contains(f.File, "clusters/") {
			return f
		}
	}
	return finding.Finding{}
}

// TestReferencesOutOfTheTree: what names neither a path of the tree nor something that the
// engine fetches is an error, in each field.
func TestReferencesOutOfTheTree(t *testing.T) {
	for _, field := range []string{
		"resources: [a.yaml, REF]", "resources: [a.yaml]\ncomponents: [REF]", "resources: [a.yaml]\npatches: [{path: REF}]", "resources: [a.yaml]\ngenerators: [REF]",
		"resources: [a.yaml]\nconfigMapGenerator: [{name: g, namespace: b, files: [REF]}]", "resources: [a.yaml]\nconfigMapGenerator: [{name: g, namespace: b, files: [k=REF]}]",
		"resources: [a.yaml]\nopenapi: {path: REF}", "resources: [a.yaml]\nreplacements: [{path: REF}]",
	} {
		for _, reference := range []string{"/base", "/a.yaml", "/etc/passwd", "../../../base", "../../../a.yaml", "../../../../../base", "file:///base", "File:///a.yaml", "git::file:///base"} {
			for _, argo := range []bool{false, true} {
				f := gravest(t, startingWith(strings.ReplaceAll(field, "REF", reference)+"\n"), argo)
				assert.Check(t, f.Severity == finding.Error && strings.Contains(f.Message, "outside of the tree"), "%s, %s: %v", field, reference, f)
			}
		}
	}
}

// TestPluginsReachNothingOutside: what a plugin's file names is outside, too.
func TestPluginsReachNothingOutside(t *testing.T) {
	sealed(t)
	for _, plugin := range plugins {
		for _, reference := range []string{"../../../a.yaml", "/a.yaml", "/clusters/demo/a.yaml"} {
			tree := startingWith("resources: [a.yaml]\ntransformers: [plugin.yaml]\n")
			if strings.Contains(plugin, "Generator") {
				tree = startingWith("resources: [a.yaml]\ngenerators: [plugin.yaml]\n")
			}
			tree["clusters/demo/plugin.yaml"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(plugin, "REF", reference))}
			assert.Check(t, is.Equal(gravest(t, tree, false).Severity, finding.Error), "%s %s", plugin, reference)
		}
	}
}

// TestRemoteReferences: Flux's controller has no Git; what it fetches by HTTP is not followed.
func TestRemoteReferences(t *testing.T) {
	for reference, want := range map[string][2]finding.Severity{
		"https://github.com/o/r//base?ref=v1":                         {finding.Error, finding.Note},
		"https://github.com/o/r":                                      {finding.Error, finding.Note},
		"https://example.com/o/r.git":                                 {finding.Error, finding.Note},
		"https://dev.azure.com/o/p/_git/r":                            {finding.Error, finding.Note},
		"https://example.com/o/r?ref=v1":                              {finding.Error, finding.Note},
		"ssh://git@example.com/o/r":                                   {finding.Error, finding.Note},
		"git@example.com:o/r":                                         {finding.Error, finding.Note},
		"some-one@example.com/o/r":                                    {finding.Error, finding.Note},
		"GitHub.com/o/r":                                              {finding.Error, finding.Note},
		"git::https://example.com/o/r":                                {finding.Error, finding.Note},
		"https://example.com/a.yaml":                                  {finding.Note, finding.Note},
		"https://github.com/o/r/releases/download/v1/components.yaml": {finding.Note, finding.Note},
		"https://example.com/manifest":                                {finding.Warning, finding.Note},
		"what?.yaml":                                                  {finding.Warning, finding.Warning},
		"a:b.yaml":                                                    {finding.Warning, finding.Warning},
	} {
		for i, argo := range []bool{false, true} {
			f := gravest(t, startingWith(fmt.Sprintf("resources: [a.yaml, %q]\n", reference)), argo)
			assert.Check(t, is.Equal(f.Severity, want[i]), "%s: %v", reference, f)
		}
	}
}

// TestNoObjects: a directory of a cluster that makes nothing fits nobody.
func TestNoObjects(t *testing.T) {
	for name, tree := range map[string]fstest.MapFS{
		"nothing listed": {"clusters/demo/kustomization.yaml": {Data: []byte("namePrefix: a-\n")}, "clusters/mgmt/kustomization.yaml": {Data: []byte("namePrefix: a-\n")}},
		"no manifest":    {"clusters/demo/.gitkeep": {}, "clusters/mgmt/.gitkeep": {}},
		"only comments":  {"clusters/demo/a.yaml": {Data: []byte("# a\n")}, "clusters/mgmt/a.yaml": {Data: []byte("# a\n")}},
	} {
		for _, argo := range []bool{false, true} {
			clusters := twoClusters(t)[:1]
			if argo {
				clusters = fleetOf(t, "clusters/mgmt")
			}
			found, err := Check(tree, "tree", clusters)
			assert.NilError(t, err)
			assert.Check(t, found.Count(finding.Error) > 0, "%s: %v", name, found)
			assert.Check(t, strings.Contains(fmt.Sprint(found), "makes no objects"), "%s: %v", name, found)
		}
	}
}

// TestStartOfASpoke: a spoke that is checked alone follows its hub's path, which has to be there.
func TestStartOfASpoke(t *testing.T) {
	fleet := fleetOf(t, "clusters/nowhere")
	for _, p := range fleet {
		found, err := Check(startingWith("resources: [a.yaml]\n"), "tree", fleet[:0:0], fleet...)
		assert.NilError(t, err)
		assert.Check(t, is.Len(found, 0))
		found, err = Check(startingWith("resources: [a.yaml]\n"), "tree", append(fleet[:0:0], p), fleet...)
		assert.NilError(t, err)
		assert.Check(t, found.Count(finding.Error) > 0, "%s: %v", p.Cluster, found)
	}
}

// TestPathsOfApplications: what an Application names outside of the tree is an error.
func TestPathsOfApplications(t *testing.T) {
	const app = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a, namespace: argocd}\nspec:\n  project: default\n" +
		"  destination: {name: mgmt, namespace: a}\n  source: {repoURL: 'http://git.lab.test/platform.git', path: PATH, helm: {valueFiles: [VALUES]}}\n"
	for _, c := range [][2]string{
		{"../base", "values.yaml"}, {"/base", "values.yaml"}, {"chart/../../base", "values.yaml"}, {"chart", "../../values.yaml"}, {"chart", "file:///values.yaml"},
	} {
		tree := startingWith("resources: [a.yaml]\n")
		tree["chart/Chart.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: v2\nname: a\nversion: 1.0.0\n")}
		tree["values.yaml"], tree["chart/values.yaml"] = &fstest.MapFile{}, &fstest.MapFile{}
		tree["clusters/mgmt/a.yaml"] = &fstest.MapFile{Data: []byte(strings.NewReplacer("PATH", c[0], "VALUES", c[1]).Replace(app))}
		found, err := Check(tree, "tree", fleetOf(t, "clusters/mgmt")[:1])
		assert.NilError(t, err)
		assert.Check(t, found.Count(finding.Error) > 0, "%v: %v", c, found)
	}
}
