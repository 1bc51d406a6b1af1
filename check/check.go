// Package check checks that a platform tree fits the clusters that follow
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
// It knows what is in the tree and what bootstrap publishes. Remote bases and other
// repositories are not followed; what they would add is said in notes.
package check

import (
	"fmt"
	"io/fs"
	"slices"

	"tombolo/check/argocd"
	"tombolo/check/finding"
	"tombolo/check/flux"
	"tombolo/check/published"
	"tombolo/check/tree"
	"tombolo/check/walk"
)

// Check returns everything about the tree that does not fit the clusters, in
// a fixed order. What concerns several clusters alike is said once. others are
// clusters that are not checked, and that a selector may be meant for: those of
// the same hubs. The tree is the root of a Git repository that an engine follows; its name
// goes before the names of its files in findings, such as platform/flux, and may be empty.
// The error says that the tree itself cannot be read, or that reading it was given up.
func Check(root fs.FS, name string, clusters []published.Set, others ...published.Set) (finding.List, error) {
	files, err := tree.Index(root)
	if err != nil {
		return nil, fmt.Errorf("reading the platform tree %s: %w", name, err)
	}
	return checking(files, order{Name: name, Regular: files.Names(), Dirs: files.Dirs(), Links: files.Links(), Clusters: clusters, Others: others})
}

// checkFiles is Check in its process.
func checkFiles(files *tree.Files, name string, clusters, others []published.Set) finding.List {
	linked := walk.NewSource(files.WithLinks(files.Links(), true))
	trees := flux.NewTrees(files)
	var found finding.Collector
	for _, p := range clusters {
		w := &walk.Walk{
			Name: name, Files: linked.Files, Builds: linked.Builds, Published: p, Fleet: slices.Concat(clusters, others),
			Used: map[string]bool{},
		}
		if p.Registration == nil {
			own := trees.Platform()
			w.Files, w.Builds = own.Files, own.Builds
			checkFlux(flux.New(w, trees))
		} else {
			checkArgoCD(argocd.New(w))
		}
		found.Add(p.Cluster, w.Findings, w.Used)
	}
	return found.All()
}

// checkFlux goes from the cluster's path through the Flux Kustomizations, which
// have to build, with variables that are published. Then it looks at what they
// and the HelmReleases refer to and wait for, at the systems of teams, for Secrets
// that the cluster file names, and at what nothing uses.
func checkFlux(w *flux.Walk) {
	w.Follow()
	w.CheckDefaults()
	w.CheckSources()
	w.CheckReleases()
	w.CheckSystems()
	w.CheckSecrets()
	w.CheckOrder()
	w.CheckUnused()
}

// checkArgoCD goes from the hub's path through the Applications that there are
// for the cluster. ApplicationSets have to select clusters by what some have, and
// their templates to use what this one has; paths and values files have to be
// there, and charts to render. Then it looks at the systems of teams, for addons that
// none releases, and for Secrets that the cluster file names.
func checkArgoCD(w *argocd.Walk) {
	w.Follow()
	w.CheckSystems()
	w.CheckReleased()
	w.CheckProjects()
	w.CheckSecrets()
}
