package clusters

import (
	"cmp"
	"os"
	"path"
	"path/filepath"

	"tombolo/config"
	"tombolo/internal/file"
)

// TreeVariable names the environment variable with the directory of the
// project's platform tree, relative to the project's root. Default: the trees are
// found by the clusters' engines.
const TreeVariable = "TOMBOLO_TREE"

// Tree is the directory of the platform tree that a cluster follows, when it is in the
// project: the one of its engine, or the whole repository. A path that is any repository's
// root says nothing about which one it is, and a link out of the project is no part of it.
func Tree(root string, g config.GitOps) (dir string, ok bool) {
	if path.Clean("/"+g.Path) == "/" {
		return "", false
	}
	for _, dir := range Trees(root, g.Engine) {
		at := filepath.Join(dir, filepath.FromSlash(path.Clean("/"+g.Path)))
		if info, err := os.Stat(at); err == nil && info.IsDir() && file.Inside(at) == nil {
			return dir, true
		}
	}
	return "", false
}

// Trees are the directories of a project in which the tree of an engine is looked for.
func Trees(root string, engine config.Engine) []string {
	return []string{filepath.Join(root, "platform", string(cmp.Or(engine, config.Flux))), root}
}
