// Package scaffold writes a platform tree for cluster files: their engine's
// reference tree with the addons that the clusters turn on.
//
// It can be run again. Files are made where they are missing and otherwise left
// as they are, but for the lists of what a cluster has: those gain what was
// turned on and lose what was turned off, and keep everything else.
package scaffold

import (
	"bytes"
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
	files "tombolo/internal/file"
	"tombolo/platform/kustomization"
)

// Change is what happened to a file.
type Change string

// The changes.
const (
	// Written: the file is new.
	Written Change = "written"
	// Updated: a list gained or lost addons.
	Updated Change = "updated"
	// Same: the file is as it would be written.
	Same Change = "same"
	// Kept: the file differs from the reference tree's and was left alone.
	Kept Change = "kept"
	// Unused: the file belongs to an addon that no cluster turns on.
	Unused Change = "unused"
)

// File is a file of the tree, or with Unused an addon's folder or file, and what
// happened to it.
type File struct {
	// Path within the tree, with slashes.
	Path string `json:"path"`
	// Change that happened.
	Change Change `json:"change"`
}

// The folders of a tree.
const (
	addonsDir = "addons"
	appsDir   = "apps"
	// channelDir has what writes to the platform team's channel.
	channelDir = "channel"
	baseDir    = "clusters/base"
	crdsDir    = "crds"
	listFile   = "kustomization.yaml"
)

// Write writes the tree for the clusters, which all have one engine, into dir,
// which is made if need be. Clusters with the same gitops.path share its lists,
// which then have what any of them turns on; so do a hub and its spokes. A spoke
// comes with its hub. overwrite replaces files that differ from the reference
// tree's. What was done is returned in the order of the paths; nothing is
// deleted.
func Write(dir string, reference fs.FS, clusters []*config.Cluster, overwrite bool) ([]File, error) {
	overlays, err := byPath(clusters)
	if err != nil {
		return nil, err
	}
	w := &writer{dir: dir, reference: reference, overwrite: overwrite, layout: layoutOf(clusters)}
	if err := w.copyAll(clusters); err != nil {
		return nil, err
	}
	for _, root := range slices.Sorted(maps.Keys(overlays)) {
		if err := w.overlay(w, root, overlays[root]); err != nil {
			return nil, fmt.Errorf("write %s: %w", root, err)
		}
	}
	if err := w.unused(clusters); err != nil {
		return nil, err
	}
	slices.SortFunc(w.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return w.files, nil
}

type writer struct {
	layout
	dir       string
	reference fs.FS
	overwrite bool
	files     []File
}

// copyAll copies what all clusters share: the base, the addons that are on, the
// apps, and the other files in their directories.
func (w *writer) copyAll(clusters []*config.Cluster) error {
	roots := slices.Clone(w.shared)
	if _, err := os.Stat(filepath.Join(w.dir, "Pulumi.yaml")); err == nil {
		// The README at a project's root is the project's, and not the tree's.
		roots = slices.DeleteFunc(roots, func(name string) bool { return name == "README.md" })
	}
	for _, a := range addon.All() {
		if on(clusters, a.Name) {
			roots = append(roots, w.ofAddon(a.Name)...)
		}
	}
	if withChannel(clusters) {
		roots = append(roots, channelDir) // the tree for Argo CD has none
	}
	return w.copyRoots(roots)
}

// withChannel says whether some cluster has a channel for the platform team.
func withChannel(clusters []*config.Cluster) bool {
	return slices.ContainsFunc(clusters, func(c *config.Cluster) bool { return c.GitOps.Channel != nil })
}

// copyRoots copies files, and directories with all that is in them.
func (w *writer) copyRoots(roots []string) error {
	for _, root := range roots {
		err := fs.WalkDir(w.reference, root, func(file string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && file == root {
				return nil // an addon that is made in the cloud alone
			}
			if err != nil || entry.IsDir() {
				return err
			}
			return w.copy(file)
		})
		if err != nil {
			return fmt.Errorf("write the platform tree: %w", err)
		}
	}
	return nil
}

// on tells whether one of the clusters turns an addon on.
func on(clusters []*config.Cluster, name string) bool {
	return slices.ContainsFunc(clusters, func(c *config.Cluster) bool { _, ok := c.Addons[name]; return ok })
}

func (w *writer) copy(file string) error {
	content, err := fs.ReadFile(w.reference, file)
	if err != nil {
		return err
	}
	return w.put(file, content, w.overwrite)
}

// put writes a file, unless there is another one already that must not be
// replaced.
func (w *writer) put(file string, content []byte, replace bool) error {
	target := filepath.Join(w.dir, filepath.FromSlash(file))
	existing, err := files.ReadInside(target, files.MostOfSettings)
	change := Written
	switch {
	case err == nil && bytes.Equal(existing, content):
		w.files = append(w.files, File{file, Same})
		return nil
	case err == nil && !replace:
		w.files = append(w.files, File{file, Kept})
		return nil
	case err == nil:
		change = Updated
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	w.files = append(w.files, File{file, change})
	if change == Written {
		return files.Create(target, content, 0o644) // as a whole, or not at all
	}
	return os.WriteFile(target, content, 0o644)
}

// unused finds what belongs to addons that no cluster turns on.
func (w *writer) unused(clusters []*config.Cluster) error {
	for _, a := range addon.All() {
		if on(clusters, a.Name) {
			continue
		}
		for _, name := range w.ofAddon(a.Name) {
			_, err := os.Stat(filepath.Join(w.dir, filepath.FromSlash(name)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if err == nil {
				w.files = append(w.files, File{name, Unused})
			}
		}
	}
	return nil
}

// layout is where the things of an engine's tree are.
type layout struct {
	// shared is copied in any case.
	shared []string
	// ofAddon are the folders and files of an addon.
	ofAddon func(name string) []string
	// overlay writes what is of one gitops.path alone.
	overlay func(w *writer, root string, clusters []*config.Cluster) error
}

func layoutOf(clusters []*config.Cluster) layout {
	if len(clusters) > 0 && clusters[0].GitOps.Engine == config.ArgoCD {
		return argocdLayout()
	}
	return fluxLayout()
}

// byPath are the clusters by the path of the tree that their engine follows: a
// spoke's is its hub's.
func byPath(clusters []*config.Cluster) (map[string][]*config.Cluster, error) {
	named := map[string]*config.Cluster{}
	for _, c := range clusters {
		named[c.Name] = c
	}
	out := map[string][]*config.Cluster{}
	for _, c := range clusters {
		if c.GitOps.Engine != clusters[0].GitOps.Engine {
			return nil, fmt.Errorf("write the platform tree: %s follows %s, %s follows %s; write a tree for each engine",
				clusters[0].Name, clusters[0].GitOps.Engine, c.Name, c.GitOps.Engine)
		}
		home := c
		if c.HasExternalHub() {
			return nil, fmt.Errorf("write the platform tree: cluster %s follows the tree of hub %s, which others run; ask its owners for the addons", c.Name, c.Hub())
		}
		if c.IsSpoke() {
			if home = named[c.Hub()]; home == nil {
				return nil, fmt.Errorf("write the platform tree: cluster %s comes without its hub %s; give the hub too", c.Name, c.Hub())
			}
		}
		root := path.Clean(strings.TrimPrefix(home.GitOps.Path, "/"))
		out[root] = append(out[root], c)
	}
	return out, nil
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
func (w *writer) list(file string, h header, wanted, unwanted []string) error {
	existing, err := files.ReadInside(filepath.Join(w.dir, filepath.FromSlash(file)), files.MostOfSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return w.put(file, newList(h, wanted), false)
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

// header is what a new list has besides resources.
type header struct {
	// stage labels what the list has. The label keeps an empty one valid, and
	// tells an object's stage.
	stage string
	// components that the list takes.
	components []string
}

// newList is a kustomization of resources.
func newList(h header, resources []string) []byte {
	var b strings.Builder
	b.WriteString("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n")
	if h.stage != "" {
		fmt.Fprintf(&b, "labels:\n  - pairs:\n      tombolo/stage: %s\n", h.stage)
	}
	writeItems(&b, "resources", resources)
	if len(h.components) > 0 {
		writeItems(&b, "components", h.components)
	}
	return []byte(b.String())
}

func writeItems(b *strings.Builder, key string, items []string) {
	if len(items) == 0 {
		fmt.Fprintf(b, "%s: []\n", key)
		return
	}
	fmt.Fprintf(b, "%s:\n", key)
	for _, item := range items {
		fmt.Fprintf(b, "  - %s\n", item)
	}
}
