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

// Kubernetes are the minor versions, such as 1.35, that an engine's release is
// tested with, oldest first. The engine is flux or argocd, its version such as
// v2.7.5. It is false for a release that the table does not have.
func Kubernetes(engine, version string) ([]string, bool) {
	minors, known := kubernetes[engine][semver.MajorMinor(version)]
	return slices.Clone(minors), known
}

// Supports says whether an engine's release is tested with a minor version of
// Kubernetes, and whether that is known.
func Supports(engine, version, minor string) (supported, known bool) {
	minors, known := Kubernetes(engine, version)
	return slices.Contains(minors, minor), known
}

// Releases are the engine's minor versions, such as v2.8, that are tested with a
// minor version of Kubernetes, oldest first.
func Releases(engine, minor string) []string {
	var out []string
	for _, release := range slices.SortedFunc(maps.Keys(kubernetes[engine]), semver.Compare) {
		if supported, _ := Supports(engine, release, minor); supported {
			out = append(out, release)
		}
	}
	return out
}
