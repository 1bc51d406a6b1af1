package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/platform/kustomization"
)

// overlays writes what is of each environment alone: which stages it has, and
// what is in each. Clusters with one path share it.
func (w *writer) overlays(clusters []*config.Cluster) error {
	byPath := map[string][]*config.Cluster{}
	for _, c := range clusters {
		root := path.Clean(strings.TrimPrefix(c.GitOps.Path, "/"))
		byPath[root] = append(byPath[root], c)
	}
	for _, root := range slices.Sorted(maps.Keys(byPath)) {
		if err := w.overlay(root, byPath[root]); err != nil {
			return fmt.Errorf("write %s: %w", root, err)
		}
	}
	return nil
}

func (w *writer) overlay(root string, clusters []*config.Cluster) error {
	if err := w.list(path.Join(root, listFile), "", []string{relative(root, stagesDir)}, nil); err != nil {
		return err
	}
	for _, stage := range stages() {
		folder := path.Join(root, stage)
		var wanted, unwanted []string
		for _, a := range addon.All() {
			entry, ok := w.entry(a, stage)
			switch {
			case !ok:
			case on(clusters, a.Name):
				wanted = append(wanted, relative(folder, entry))
			default:
				unwanted = append(unwanted, relative(folder, entry))
			}
		}
		if stage == appsDir {
			wanted = append(wanted, relative(folder, appsDir))
		}
		if err := w.list(path.Join(folder, listFile), stage, wanted, unwanted); err != nil {
			return err
		}
	}
	return nil
}

// stages of the tree: the definitions, the addons', the apps.
func stages() []string {
	all := []string{crdsDir}
	for _, s := range addon.Stages() {
		all = append(all, string(s))
	}
	return append(all, appsDir)
}

// entry is the folder that a stage takes from an addon, if it takes one.
func (w *writer) entry(a *addon.Addon, stage string) (folder string, ok bool) {
	folder = path.Join(addonsDir, a.Name)
	if stage == crdsDir {
		folder = path.Join(folder, crdsDir)
	} else if string(a.Stage) != stage {
		return "", false
	}
	_, err := fs.Stat(w.reference, path.Join(folder, listFile))
	return folder, err == nil
}

// relative is the way from one folder of the tree to another.
func relative(from, to string) string {
	rel, err := filepath.Rel(filepath.FromSlash(from), filepath.FromSlash(to))
	if err != nil {
		panic(err) // both are below the tree's root
	}
	return filepath.ToSlash(rel)
}

// list writes a kustomization that lists resources, or adds and removes entries
// in one that exists.
func (w *writer) list(file, stage string, wanted, unwanted []string) error {
	existing, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(file)))
	if errors.Is(err, fs.ErrNotExist) {
		return w.put(file, newList(stage, wanted), false)
	}
	if err != nil {
		return err
	}
	edited, err := kustomization.Edit(existing, wanted, unwanted)
	if err != nil {
		return fmt.Errorf("%s: %w; correct the file, or remove it and run the command again", file, err)
	}
	return w.put(file, edited, true)
}

// newList is a kustomization of resources. The label keeps an empty one valid,
// and tells an object's stage.
func newList(stage string, resources []string) []byte {
	var b strings.Builder
	b.WriteString("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n")
	if stage != "" {
		fmt.Fprintf(&b, "labels:\n  - pairs:\n      tombolo/stage: %s\n", stage)
	}
	if len(resources) == 0 {
		b.WriteString("resources: []\n")
		return []byte(b.String())
	}
	b.WriteString("resources:\n")
	for _, r := range resources {
		fmt.Fprintf(&b, "  - %s\n", r)
	}
	return []byte(b.String())
}
