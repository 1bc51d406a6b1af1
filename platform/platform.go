// Package platform holds the reference platform trees: what a cluster's engine finds in
// Git, ready to be copied. Package check holds a tree to cluster files, package scaffold
// writes one for them.
package platform

import (
	"embed"
	"io/fs"

	"tombolo/config"
)

//go:embed flux argocd
var trees embed.FS

// Flux is the reference tree for Flux. Its root is what a repository's would be.
func Flux() fs.FS { return tree("flux") }

// ArgoCD is the reference tree for Argo CD. Its root is what a repository's
// would be.
func ArgoCD() fs.FS { return tree("argocd") }

// Reference is the reference tree for an engine.
func Reference(engine config.Engine) fs.FS {
	if engine == config.ArgoCD {
		return ArgoCD()
	}
	return Flux()
}

func tree(name string) fs.FS {
	root, err := fs.Sub(trees, name)
	if err != nil {
		panic(err) // the names are valid
	}
	return root
}
