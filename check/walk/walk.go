// Package walk is what following a platform tree for one cluster has in common,
// whichever engine the cluster has: where things come from, what was found, and
// how far the tree could be followed.
package walk

import (
	"fmt"
	"path"

	"tombolo/check/finding"
	"tombolo/check/kustomize"
	"tombolo/check/manifest"
	"tombolo/check/published"
	"tombolo/check/tree"
	"tombolo/internal/wording"
)

// Walk follows the tree for one cluster.
type Walk struct {
	// Name goes before the names of the tree's files in findings.
	Name string
	// Files of the tree, and what kustomize makes of them.
	Files  *tree.Files
	Builds *kustomize.Builder
	// Published to the cluster.
	Published published.Set
	// Fleet is what is published to all clusters, this one too.
	Fleet []published.Set

	// Findings so far.
	Findings []finding.OfCluster
	// Used are the variables and objects that the cluster publishes and the tree
	// uses: names of variables, and namespace/name.
	Used map[string]bool
	// Incomplete says that something could not be built: then it is not known
	// what the tree makes, and what seems missing or unused is not judged.
	Incomplete bool
	// Elsewhere says that something was not followed, which may make what is
	// missing here.
	Elsewhere bool
}

// Origin is the object of an engine whose build other objects come from.
type Origin struct {
	// Parent is the one whose build holds it; nil at the start.
	Parent *Origin
	// Object that asks for the build.
	Object manifest.Object
	// Path that it builds.
	Path string
	// Read are the tree's files that its own build reads.
	Read []string
	// Evaluate is what its build makes of a text of the files; nil if it leaves
	// texts as they are.
	Evaluate func(text string) string
}

// Dir is the directory of the tree that it builds.
func (o *Origin) Dir() string {
	if o == nil {
		return "."
	}
	return tree.Relative(o.Path)
}

func (o *Origin) plain(text string) string {
	if o.Evaluate == nil {
		return text
	}
	return o.Evaluate(text)
}

// StartsInTree says whether the cluster's path is in the tree.
func (w *Walk) StartsInTree() bool { return w.Files.IsDir(tree.Relative(w.Published.Path)) }

// NearDir advises about a directory that is not in the tree.
func (w *Walk) NearDir(dir string) string {
	if word := wording.Nearest(tree.Relative(dir), w.Files.Dirs()); word != "" {
		return fmt.Sprintf("did you mean %q?", word)
	}
	return "make the directory, or correct the path"
}

// NearFile advises about a file that is not in the tree, by the name that it has
// in another file: it asks for the entry of the same directory that was probably
// meant, or gives other advice.
func (w *Walk) NearFile(file, name, otherwise string) string {
	dir := tree.Relative(path.Join(path.Dir(file), path.Dir(name)))
	word := wording.Nearest(path.Base(name), w.Files.Entries(dir))
	if word == "" {
		return otherwise
	}
	return fmt.Sprintf("did you mean %q?", path.Join(path.Dir(name), word))
}
