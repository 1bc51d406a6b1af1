package check

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"tombolo/check/published"
	"tombolo/check/tree/treetest"
	"tombolo/config"
)

// twoClusters are the clusters of the tree in testdata.
func twoClusters(t *testing.T) []published.Set {
	t.Helper()
	var out []published.Set
	for _, name := range []string{"demo", "prod"} {
		c := &config.Cluster{
			Name: name, Environment: name, File: "testdata/" + name + ".yaml",
			Cloud:    config.Cloud{Provider: config.AWS, Region: "eu-central-1", Account: "111122223333"},
			Services: []config.Service{{Name: "dns", Namespace: "dns"}},
			Values:   map[string]config.Value{"zones": {Text: `["a.example", "b.example"]`}, "chart_repository": {Text: "http://charts.lab.test"}},
			GitOps:   config.GitOps{Path: "clusters/" + name},
		}
		if name == "demo" {
			c.Values["nightly"] = config.Value{Text: "on"}
		}
		out = append(out, published.To(c, c))
	}
	return out
}

// goodTree is a copy of the tree in testdata.
func goodTree(t *testing.T) fstest.MapFS {
	t.Helper()
	return treetest.Copy(t, os.DirFS("testdata/tree"))
}

func check(t *testing.T, tree fs.FS, clusters []published.Set) string {
	t.Helper()
	found, err := Check(Tree{FS: tree, Name: "tree"}, clusters)
	assert.NilError(t, err)
	var b strings.Builder
	for _, f := range found {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

func TestGoodTree(t *testing.T) {
	sealed(t)
	golden.Assert(t, check(t, goodTree(t), twoClusters(t)), "golden/good.golden")
}
