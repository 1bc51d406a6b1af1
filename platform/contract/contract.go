// Package contract checks that a platform tree fits the clusters that follow
// it: what the tree uses is something that bootstrap publishes to each cluster,
// or that the tree makes itself.
//
// The check follows the tree as the clusters' engine does, and needs neither a
// cluster nor the network. With Flux it goes from the cluster's gitops.path
// through every Flux Kustomization, with kustomize and the substitution that
// Flux uses. With Argo CD it goes from the hub's gitops.path through every
// ApplicationSet and Application, with kustomize, the templates of Argo CD and
// Helm. Of Tombolo the package imports config only.
//
// It knows what is in the tree and what bootstrap publishes. Remote bases,
// other repositories and .sourceignore are not followed; what they would add is
// said in notes.
package contract

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// Tree is a platform tree: the root of a Git repository that an engine follows.
type Tree struct {
	// FS holds the tree. Symbolic links in it are not seen, as Flux leaves
	// them out of its artifacts.
	FS fs.FS
	// Name goes before the names of the tree's files in findings, such as
	// platform/flux. It may be empty.
	Name string
}

// HasDir says whether the tree has a directory, such as a cluster's gitops.path.
func (t Tree) HasDir(dir string) bool {
	info, err := fs.Stat(t.FS, relative(dir))
	return err == nil && info.IsDir()
}

// Check returns everything about the tree that does not fit the clusters, in
// a fixed order. What concerns several clusters alike is said once. others are
// clusters that are not checked, and that a selector may be meant for: those of
// the same hubs. The error says that the tree itself cannot be read.
func Check(tree Tree, clusters []Published, others ...Published) (Findings, error) {
	files, err := index(tree)
	if err != nil {
		return nil, fmt.Errorf("reading the platform tree %s: %w", tree.Name, err)
	}
	builds := newBuilder(files)
	found := collector{used: map[string]bool{}}
	everyone := slices.Concat(clusters, others)
	for _, published := range clusters {
		w := newWalk(files, builds, published, everyone)
		if published.Registration != nil {
			w.runArgoCD()
		} else {
			w.run()
		}
		found.add(published.Cluster, w.findings)
		maps.Copy(found.used, w.used)
	}
	return found.all(), nil
}
