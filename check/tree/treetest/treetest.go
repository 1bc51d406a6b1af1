// Package treetest makes platform trees for tests.
package treetest

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"

	"tombolo/check/tree"
)

// FS is a tree of a few files, by their names. A text such as "-> ../base" is a symbolic link.
func FS(texts map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range texts {
		out[name] = &fstest.MapFile{Data: []byte(text)}
		if target, is := strings.CutPrefix(text, "-> "); is {
			out[name] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink}
		}
	}
	return out
}

// Copy is a copy of a tree that may be changed.
func Copy(t *testing.T, of fs.FS) fstest.MapFS {
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

// Systems is the reference tree of Flux with so many systems of teams on the cluster teams,
// like the system shop, in place of its own.
func Systems(reference fs.FS, count int) (fstest.MapFS, error) {
	out := fstest.MapFS{}
	err := fs.WalkDir(reference, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(reference, name)
		out[name] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		return nil, err
	}
	shop := string(out["systems/shop.yaml"].Data)
	var list, secrets strings.Builder
	list.WriteString("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - ../../../systems/base\n  - channels.yaml\n")
	for i := range count {
		name := SystemName(i)
		text := strings.NewReplacer("name: shop", "name: "+name, "system: shop", "system: "+name, "sellers", name, "shop.git", name+".git").Replace(shop)
		out["systems/"+name+".yaml"] = &fstest.MapFile{Data: []byte(text)}
		fmt.Fprintf(&list, "  - ../../../systems/%s.yaml\n", name)
		fmt.Fprintf(&secrets, "---\napiVersion: v1\nkind: Secret\nmetadata: {name: channel, namespace: %s}\nstringData: {address: http://inbox.lab.test/%[1]s}\n", name)
	}
	list.WriteString("components:\n  - ../../../systems/release\n")
	const overlay = "clusters/teams/systems/"
	out[overlay+"kustomization.yaml"], out[overlay+"channels.yaml"] = &fstest.MapFile{Data: []byte(list.String())}, &fstest.MapFile{Data: []byte(secrets.String())}
	return out, nil
}

// SystemName is the name of the system with a number, of those that Systems makes.
func SystemName(i int) string { return fmt.Sprintf("team-%03d", i) }
