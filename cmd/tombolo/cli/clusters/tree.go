package clusters

import (
	"path/filepath"

	"tombolo/config"
	"tombolo/config/tree"
)

// TreeVariable names the environment variable with the directory of the
// project's platform tree, relative to the project's root. Default: the trees are
// found by the clusters' engines.
const TreeVariable = "TOMBOLO_TREE"

// TreeSet is the directory that the variable names; "" when it is not set.
func TreeSet(root string, lookup func(string) (string, bool)) string {
	dir, _ := lookup(TreeVariable)
	if dir == "" || filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(root, dir)
}

// Tree is the directory of the platform tree that a cluster follows, when it is in the project.
func Tree(root string, g config.GitOps) (dir string, ok bool) { return tree.Of(root, g) }

// Trees are the directories of a project in which the tree of an engine is looked for.
func Trees(root string, engine config.Engine) []string { return tree.All(root, engine) }
