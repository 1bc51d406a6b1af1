// Package enginefacts has which versions of Kubernetes the releases of Flux and
// Argo CD are tested with, as data with its sources.
package enginefacts

import (
	"maps"
	"slices"

	"golang.org/x/mod/semver"
)

// kubernetes are the versions of Kubernetes, by engine and the engine's minor.
//
// Flux: "Supported Versions" in the announcement of each release,
// https://fluxcd.io/blog/2025-02-20-announcing-flux-v2.5.0 to
// https://fluxcd.io/blog/2026-06-30-announcing-flux-v2.9.0.
//
// Argo CD: docs/operator-manual/tested-kubernetes-versions.md of
// https://github.com/argoproj/argo-cd at v3.1.0, v3.4.13, v3.5.7 and v3.6.1.
var kubernetes = map[string]map[string][]string{
	"flux": {
		"v2.5": {"1.30", "1.31", "1.32"},
		"v2.6": {"1.31", "1.32", "1.33"},
		"v2.7": {"1.32", "1.33", "1.34"},
		"v2.8": {"1.33", "1.34", "1.35"},
		"v2.9": {"1.34", "1.35", "1.36"},
	},
	"argocd": {
		"v3.0": {"1.29", "1.30", "1.31", "1.32"},
		"v3.1": {"1.30", "1.31", "1.32", "1.33"},
		"v3.2": {"1.31", "1.32", "1.33", "1.34"},
		"v3.3": {"1.32", "1.33", "1.34", "1.35"},
		"v3.4": {"1.32", "1.33", "1.34", "1.35"},
		"v3.5": {"1.33", "1.34", "1.35", "1.36"},
		"v3.6": {"1.34", "1.35", "1.36", "1.37"},
	},
}

// Gap is what there is to know of an engine's release that is not tested with a version
// of Kubernetes.
type Gap struct {
	// Tested are the minor versions of Kubernetes, such as 1.35, that the release is
	// tested with, oldest first.
	Tested []string
	// Releases are the engine's minor versions, such as v2.8, that are tested with the
	// version of Kubernetes, oldest first.
	Releases []string
}

// Untested says what is missing when an engine's release is not tested with a minor
// version of Kubernetes. It is false when the release is tested with it, and for a release
// that the table does not have. The engine is flux or argocd, its version such as v2.7.5.
func Untested(engine, version, minor string) (Gap, bool) {
	tested, known := kubernetes[engine][semver.MajorMinor(version)]
	if !known || slices.Contains(tested, minor) {
		return Gap{}, false
	}
	gap := Gap{Tested: slices.Clone(tested)}
	for _, release := range slices.SortedFunc(maps.Keys(kubernetes[engine]), semver.Compare) {
		if slices.Contains(kubernetes[engine][release], minor) {
			gap.Releases = append(gap.Releases, release)
		}
	}
	return gap, true
}

// Release is a release of an engine, with the SHA-256 of the manifest that its makers release.
type Release struct{ Version, SHA256 string }

// installs are the releases that new clusters begin with.
//
// Flux: the SHA-256 of install.yaml of https://github.com/fluxcd/flux2/releases/tag/v2.9.3. It was made
// again, byte for byte, as flux2's .github/workflows/release.yaml does (kustomize build
// manifests/install of the tag, with kustomize 5.8.1), from the controllers' modules in the
// versions that the tag names.
//
// Argo CD: the SHA-256 of manifests/install.yaml in the module github.com/argoproj/argo-cd/v3 v3.5.7, which
// go.sum of tools/argocd holds.
var installs = map[string]Release{
	"flux":   {"v2.9.3", "aa0bd71dbc4bed916b9cafa850c4618f341c74c580832c613dca04a067ee7281"},
	"argocd": {"v3.5.7", "09bfbb9041b4a8503c6e4fa22cf41c403fa62be17526de353648a4551f5beb77"},
}

// Install is the release that new clusters begin with. The engine is flux or argocd.
func Install(engine string) Release { return installs[engine] }
