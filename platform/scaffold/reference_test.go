package scaffold

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/platform"
)

// TestReferenceHasEveryAddon holds the reference overlay with every addon to
// what would be written for its cluster file, and the file to the catalogue.
func TestReferenceHasEveryAddon(t *testing.T) {
	full, err := config.Load("../../clusters/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addon.All() {
		if _, on := full.Addons[a.Name]; !on {
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
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), read(t, dir, file)); diff != "" {
			t.Errorf("%s (-in the reference tree +written):\n%s", file, diff)
		}
	}
}

// TestFoldersOfAddonsAreLabelled: up finds an addon's releases by the label.
func TestFoldersOfAddonsAreLabelled(t *testing.T) {
	lists, err := fs.Glob(platform.Flux(), "addons/*/"+listFile)
	if err != nil || len(lists) < 10 {
		t.Fatalf("%d addons have a folder: %v", len(lists), err)
	}
	for _, list := range lists {
		name := path.Base(path.Dir(list))
		for _, file := range []string{list, path.Join(path.Dir(list), crdsDir, listFile)} {
			text, err := fs.ReadFile(platform.Flux(), file)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), "tombolo/addon: "+name+"\n") {
				t.Errorf("%s does not label its objects with the addon", file)
			}
		}
	}
}
