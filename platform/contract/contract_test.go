package contract

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/golden"

	"tombolo/config"
)

// twoClusters are the clusters of the tree in testdata.
func twoClusters(t *testing.T) []Published {
	t.Helper()
	var out []Published
	for _, name := range []string{"demo", "prod"} {
		c := &config.Cluster{
			Name: name, Environment: name, File: "testdata/" + name + ".yaml",
			Cloud:    config.Cloud{Provider: config.AWS, Region: "eu-central-1", Account: "111122223333"},
			Services: []config.Service{{Name: "dns", Namespace: "dns"}},
			Values:   map[string]string{"zones": `["a.example", "b.example"]`, "chart_repository": "http://charts.lab.test"},
			GitOps:   config.GitOps{Path: "clusters/" + name},
		}
		if name == "demo" {
			c.Values["nightly"] = "on"
		}
		out = append(out, Publish(c))
	}
	return out
}

// goodTree is a copy of the tree in testdata.
func goodTree(t *testing.T) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	root := os.DirFS("testdata/tree")
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, name)
		out[name] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func check(t *testing.T, tree fs.FS, clusters []Published) string {
	t.Helper()
	found, err := Check(Tree{FS: tree, Name: "tree"}, clusters)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range found {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

func TestGoodTree(t *testing.T) {
	golden.Assert(t, check(t, goodTree(t), twoClusters(t)), "golden/good.golden")
}
