// Package tree finds the platform tree of a cluster in a project.
package tree

import (
	"cmp"
	"os"
	"path"
	"path/filepath"

	"tombolo/config/gitops"
	"tombolo/internal/file"
)

// Of is the directory of the platform tree that a cluster follows, when it is in the
// project: the one of its engine, or the whole repository. A path that is any repository's
// root says nothing about which one it is, and a link out of the project is no part of it.
func Of(root string, g gitops.GitOps) (dir string, ok bool) {
	if path.Clean("/"+g.Path) == "/" {
		return "", false
	}
	for _, dir := range All(root, g.Engine) {
		at := filepath.Join(dir, filepath.FromSlash(path.Clean("/"+g.Path)))
		if info, err := os.Stat(at); err == nil && info.IsDir() && file.Inside(at) == nil {
			return dir, true
		}
	}
	return "", false
}

// All are the directories of a project in which the tree of an engine is looked for.
func All(root string, engine gitops.Engine) []string {
	return []string{filepath.Join(root, "platform", string(cmp.Or(engine, gitops.Flux))), root}
}
