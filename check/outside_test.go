package check

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/finding"
)

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
	found, err := Check(Tree{FS: tree, Name: "tree"}, clusters)
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
		"resources: [a.yaml]\nconfigMapGenerator: [{name: a, files: [REF]}]", "resources: [a.yaml]\nconfigMapGenerator: [{name: a, files: [k=REF]}]",
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
			found, err := Check(Tree{FS: tree, Name: "tree"}, clusters)
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
		found, err := Check(Tree{FS: startingWith("resources: [a.yaml]\n"), Name: "tree"}, fleet[:0:0], fleet...)
		assert.NilError(t, err)
		assert.Check(t, is.Len(found, 0))
		found, err = Check(Tree{FS: startingWith("resources: [a.yaml]\n"), Name: "tree"}, append(fleet[:0:0], p), fleet...)
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
		found, err := Check(Tree{FS: tree, Name: "tree"}, fleetOf(t, "clusters/mgmt")[:1])
		assert.NilError(t, err)
		assert.Check(t, found.Count(finding.Error) > 0, "%v: %v", c, found)
	}
}
