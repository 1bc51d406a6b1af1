package scaffold

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/platform"
	"tombolo/platform/kustomization"
)

// TestReferenceHasEveryAddon holds the reference overlay with every addon to
// what would be written for its cluster file, and the file to the catalogue.
func TestReferenceHasEveryAddon(t *testing.T) {
	full, err := config.Load("../../clusters/full.yaml")
	assert.NilError(t, err)
	for _, a := range addon.All() {
		_, not := a.NotOn[string(full.Cloud.Provider)]
		if _, on := full.Addons[a.Name]; on == not {
			t.Errorf("clusters/full.yaml does not turn %s on", a.Name)
		}
	}
	dir := t.TempDir()
	if _, err := Write(dir, platform.Flux(), []*config.Cluster{full}, false); err != nil {
		t.Fatal(err)
	}
	for _, stage := range stages() {
		file := path.Join(full.GitOps.Path, stage, listFile)
		want, err := fs.ReadFile(platform.Flux(), file)
		assert.NilError(t, err)
		if diff := cmp.Diff(string(want), read(t, dir, file)); diff != "" {
			t.Errorf("%s (-in the reference tree +written):\n%s", file, diff)
		}
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
