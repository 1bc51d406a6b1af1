package argocd

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"tombolo/check/finding"
	"tombolo/check/kustomize"
	"tombolo/check/near"
	"tombolo/check/tree"
	"tombolo/check/walk"
)

// withValueFiles is a source with its values files as Argo CD resolves them: with the variables of
// the build environment put in, and patterns replaced by the files that they match, in lexical
// order. A file that is named without a pattern keeps its own place, and each is read once. A
// pattern that matches nothing stays, as a file that is missing does. Source: getResolvedValueFiles
// and newEnv in reposerver/repository/repository.go of argoproj/argo-cd v3.5.
func (w *Walk) withValueFiles(in *walk.Origin, app Application, from Source) Source {
	if from.Helm == nil || len(from.Helm.ValueFiles) == 0 {
		return from
	}
	environment := buildEnvironment(app, from)
	var given []string
	for _, name := range from.Helm.ValueFiles {
		evaluated := environment.Replace(name)
		if isOpen(evaluated) {
			w.referSource(in, app, "valueFiles", name, finding.Notef(
				"%s: values file %q is not followed: only Argo CD knows a variable in it", w.named(app), name))
			continue
		}
		given = append(given, evaluated)
	}
	helm := *from.Helm
	helm.ValueFiles = nil
	for _, name := range given {
		matched := w.matching(app, from, name)
		if len(matched) == 0 {
			matched = []string{name}
		} else {
			matched = slices.DeleteFunc(matched, func(m string) bool { return w.isNamed(app, from, given, m) })
		}
		for _, m := range matched {
			if !slices.Contains(helm.ValueFiles, m) {
				helm.ValueFiles = append(helm.ValueFiles, m)
			}
		}
	}
	from.Helm = &helm
	return from
}

// buildEnvironment puts in what the check knows of the variables; the longer of two names comes first.
// Source: docs/user-guide/build-environment.md of argoproj/argo-cd.
func buildEnvironment(app Application, from Source) *strings.Replacer {
	var pairs []string
	for _, v := range [][2]string{
		{"ARGOCD_APP_SOURCE_TARGET_REVISION", from.TargetRevision},
		{"ARGOCD_APP_SOURCE_REPO_URL", from.RepoURL},
		{"ARGOCD_APP_SOURCE_PATH", from.Path},
		{"ARGOCD_APP_PROJECT_NAME", app.Spec.Project},
		{"ARGOCD_APP_NAMESPACE", app.Spec.Destination.Namespace},
		{"ARGOCD_APP_NAME", app.Metadata.Name},
	} {
		pairs = append(pairs, "${"+v[0]+"}", v[1], "$"+v[0], v[1])
	}
	return strings.NewReplacer(pairs...)
}

// isOpen says whether a variable is left that only Argo CD knows, such as the commit.
func isOpen(name string) bool {
	return strings.Contains(name, "$ARGOCD_") || strings.Contains(name, "${") || strings.Contains(name, "$KUBE_")
}

// matching are the files of the tree that a pattern matches, as values files name them.
func (w *Walk) matching(app Application, from Source, pattern string) []string {
	if !strings.ContainsAny(pattern, "*?[") {
		return nil
	}
	within, ok := w.valueFile(app, from, pattern)
	if !ok {
		return nil
	}
	ref := ""
	if first, _, found := strings.Cut(pattern, "/"); found && strings.HasPrefix(first, "$") {
		ref = first
	}
	var out []string
	for _, file := range w.Files.Names() { // in their order
		if matched, err := doublestar.Match(path.Clean(within), file); err == nil && matched {
			out = append(out, ref+"/"+file)
		}
	}
	return out
}

// isNamed says whether a file that a pattern matches is also named without a pattern.
func (w *Walk) isNamed(app Application, from Source, given []string, file string) bool {
	is, _ := w.valueFile(app, from, file)
	return slices.ContainsFunc(given, func(name string) bool {
		other, ok := w.valueFile(app, from, name)
		return ok && !strings.ContainsAny(name, "*?[") && path.Clean(other) == path.Clean(is)
	})
}

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
		f := finding.Errorf("%s: values file %q is not in the tree", w.named(app), name).
			WithRemedy(w.NearFile(file, path.Base(file), "add it, or remove it from valueFiles"))
		if from.Helm.IgnoreMissingValueFiles {
			f.Severity = finding.Warning
			f.Message += ", and neither is another; missing ones are ignored, so the engine reports no error"
		}
		w.referSource(in, app, "valueFiles", name, f)
		if from.Helm.IgnoreMissingValueFiles {
			return // one for the list
		}
	}
}

// isFetched says whether Argo CD fetches a values file: helm.valuesFileSchemes has these
// schemes, unless somebody sets others. Source: docs/user-guide/helm.md of argoproj/argo-cd.
func isFetched(name string) bool {
	scheme, _, ok := strings.Cut(strings.ToLower(name), "://")
	return ok && (scheme == "http" || scheme == "https") || strings.HasPrefix(name, "$")
}

// knownRef reports a $name that no source of the Application has, or that one of a chart has.
// Source: resolveReferencedSources in reposerver/repository/repository.go of argoproj/argo-cd v3.5.
func (w *Walk) knownRef(in *walk.Origin, app Application, name, ref string, refs map[string]bool) bool {
	if _, ok := refs[ref]; ok {
		of := slices.IndexFunc(app.Sources(), func(s Source) bool { return "$"+s.Ref == ref })
		if chart := app.Sources()[of].Chart; chart != "" {
			w.referSource(in, app, "valueFiles", name, finding.Errorf(
				"%s: values file %q is in the chart %s, and Argo CD takes none from a chart", w.named(app), name, chart).
				WithRemedy("have "+ref+" be a source of a Git repository"))
		}
		return true
	}
	w.referSource(in, app, "valueFiles", name, finding.Errorf(
		"%s: values file %q is in %s, which none of its sources is called", w.named(app), name, ref).
		WithRemedy(near.DidYouMean(ref, slices.Sorted(maps.Keys(refs)), "add a source with ref: "+strings.TrimPrefix(ref, "$"))))
	return false
}
