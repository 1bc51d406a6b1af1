package scaffold

import (
	"io/fs"
	"path"
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
