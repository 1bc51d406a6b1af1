package contract

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"tombolo/config"
	"tombolo/platform/contract/published"
	"tombolo/platform/contract/tree/treetest"
)

var update = flag.Bool("update", false, "rewrite golden files")

// twoClusters are the clusters of the tree in testdata.
func twoClusters(t *testing.T) []published.Set {
	t.Helper()
	var out []published.Set
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
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range found {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-golden +got)\n%s", diff)
	}
}

func TestGoodTree(t *testing.T) {
	golden(t, "good", check(t, goodTree(t), twoClusters(t)))
}
