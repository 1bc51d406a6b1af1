// Package platform holds the reference platform trees: what a cluster's GitOps
// engine finds in Git, ready to be copied. Package contract checks a tree
// against cluster files, package scaffold writes one for them.
package platform

import (
	"embed"
	"io/fs"
)

//go:embed flux
var trees embed.FS

// Flux is the reference tree for Flux. Its root is what a repository's would be.
func Flux() fs.FS {
	tree, err := fs.Sub(trees, "flux")
	if err != nil {
		panic(err) // the name is valid
	}
	return tree
}
