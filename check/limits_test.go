package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"

	"tombolo/check/tree"
)

// demoTree is a tree of the cluster demo with more files, which its kustomization lists.
func demoTree(more fstest.MapFS) fstest.MapFS {
	list := "resources: [a.yaml]\nconfigMapGenerator:\n"
	out := fstest.MapFS{
		"clusters/demo/a.yaml": {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n")},
	}
	for name, file := range more {
		out["clusters/demo/"+name] = file
		list += fmt.Sprintf("- {name: %s, files: [%s]}\n", strings.TrimSuffix(name, ".txt"), name)
	}
	out["clusters/demo/kustomization.yaml"] = &fstest.MapFile{Data: []byte(list)}
	return out
}

// TestTreesAreBounded gives up at a file that is too large, and names it.
func TestTreesAreBounded(t *testing.T) {
	sealed(t)
	tree := demoTree(fstest.MapFS{"large.txt": {Data: make([]byte, tree.MostOfAFile+1)}})
	_, err := Check(Tree{FS: tree, Name: "tree"}, twoClusters(t)[:1])
	assert.Error(t, err, "reading the platform tree tree: read clusters/demo/large.txt: it has over 16777216 bytes, which is the most that check reads of a file; take it out of what the clusters follow")
	_, err = Check(Tree{FS: demoTree(nil), Name: "tree"}, twoClusters(t)[:1])
	assert.NilError(t, err)
}

// TestNamesAreText: a name that is not UTF-8 would be another one in the process that checks.
func TestNamesAreText(t *testing.T) {
	sealed(t)
	dir := t.TempDir()
	for name, file := range demoTree(nil) {
		at := filepath.Join(dir, name)
		assert.NilError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		assert.NilError(t, os.WriteFile(at, file.Data, 0o600))
	}
	if err := os.WriteFile(filepath.Join(dir, "clusters", "demo", "a\xff.yaml"), nil, 0o600); err != nil {
		t.Skip(err) // macOS takes no such name
	}
	_, err := Check(Tree{FS: os.DirFS(dir), Name: "tree"}, twoClusters(t)[:1])
	assert.Error(t, err, `reading the platform tree tree: the name of "clusters/demo/a\xff.yaml" is not UTF-8; give the file another name`)
}
