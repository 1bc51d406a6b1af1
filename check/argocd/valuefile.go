package argocd

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"tombolo/check/finding"
	"tombolo/check/kustomize"
	"tombolo/check/near"
	"tombolo/check/tree"
	"tombolo/check/walk"
)

// ownRefs are the names by which an Application's sources refer to files of this
// tree, such as $platform, with whether they do.
func (w *Walk) ownRefs(app Application) map[string]bool {
	out := map[string]bool{}
	for _, from := range app.Sources() {
		if from.Ref != "" {
			out["$"+from.Ref] = w.isOwn(from.RepoURL)
		}
	}
	return out
}

// valueFile is the file of the tree that a source's values file is; not if it is
// elsewhere.
func (w *Walk) valueFile(app Application, from Source, name string) (string, bool) {
	if ref, below, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(ref, "$") {
		return path.Clean(below), w.ownRefs(app)[ref] // one that leaves the tree is none of its files
	}
	if !kustomize.IsLocal(strings.TrimPrefix(name, "/")) || from.Chart != "" || !w.isOwn(from.RepoURL) {
		return "", false
	}
	if path.IsAbs(name) {
		return tree.Relative(name), true
	}
	return path.Join(from.Path, name), true
}

// checkValueFiles reports values files that are not there. Where missing ones are
// ignored, one has to be: or the name is wrong.
func (w *Walk) checkValueFiles(in *walk.Origin, app Application, from Source, refs map[string]bool) {
	if from.Helm == nil {
		return
	}
	var missing, all []string
	for _, name := range from.Helm.ValueFiles {
		if ref, _, ok := strings.Cut(name, "/"); ok && strings.HasPrefix(ref, "$") && !w.knownRef(in, app, name, ref, refs) {
			continue
		}
		file, ok := w.valueFile(app, from, name)
		if !ok && (from.Chart != "" || !w.isOwn(from.RepoURL) || isFetched(name)) {
			continue
		}
		all = append(all, name)
		if !ok || !w.Files.IsFile(file) {
			missing = append(missing, name)
		}
	}
	if from.Helm.IgnoreMissingValueFiles && len(missing) < len(all) {
		return
	}
	for _, name := range missing {
		file, _ := w.valueFile(app, from, name)
		f := finding.Finding{
			Severity: finding.Error,
			Message:  fmt.Sprintf("%s: values file %q is not in the tree", w.named(app), name),
			Remedy:   w.NearFile(file, path.Base(file), "add it, or remove it from valueFiles"),
		}
		if from.Helm.IgnoreMissingValueFiles {
			f.Severity = finding.Warning
			f.Message += ", and neither is another; missing ones are ignored, so the engine reports no error"
		}
		w.referSource(in, app, "valueFiles", name, f)
	}
}

// isFetched says whether Argo CD fetches a values file: helm.valuesFileSchemes has these
// schemes, unless somebody sets others. Source: docs/user-guide/helm.md of argoproj/argo-cd.
func isFetched(name string) bool {
	scheme, _, ok := strings.Cut(strings.ToLower(name), "://")
	return ok && (scheme == "http" || scheme == "https") || strings.HasPrefix(name, "$")
}

// knownRef reports a $name that no source of the Application has.
func (w *Walk) knownRef(in *walk.Origin, app Application, name, ref string, refs map[string]bool) bool {
	if _, ok := refs[ref]; ok {
		return true
	}
	w.referSource(in, app, "valueFiles", name, finding.Finding{
		Severity: finding.Error,
		Message:  fmt.Sprintf("%s: values file %q is in %s, which none of its sources is called", w.named(app), name, ref),
		Remedy:   near.DidYouMean(ref, slices.Sorted(maps.Keys(refs)), "add a source with ref: "+strings.TrimPrefix(ref, "$")),
	})
	return false
}
