// Package treetest makes platform trees for tests.
package treetest

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"

	"tombolo/platform/contract/tree"
)

// FS is a tree of a few files, by their names.
func FS(texts map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range texts {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// Copy is a copy of a tree that may be changed.
func Copy(t testing.TB, of fs.FS) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	err := fs.WalkDir(of, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(of, name)
		out[name] = &fstest.MapFile{Data: text}
		return err
	})
	assert.NilError(t, err)
	return out
}

// Index is the index of a tree.
func Index(t *testing.T, of fs.FS) *tree.Files {
	t.Helper()
	files, err := tree.Index(of)
	assert.NilError(t, err)
	return files
}
