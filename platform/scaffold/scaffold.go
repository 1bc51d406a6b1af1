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
	"path/filepath"
	"slices"
	"strings"

	"tombolo/config"
	"tombolo/config/addon"
	files "tombolo/internal/file"
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
