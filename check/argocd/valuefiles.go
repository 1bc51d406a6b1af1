package argocd

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"tombolo/check/finding"
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
