package flux

import (
	"fmt"
	"slices"
	"strings"

	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/tree"
)

// Follow follows everything from the cluster's path on. What is referred to is
// checked later, when all that the tree makes is known.
func (w *Walk) Follow() {
	if w.Files.IsFile(".sourceignore") {
		w.Note(tree.Place{File: ".sourceignore"}, "is not followed: what it leaves out is checked too")
	}
	if !w.StartsInTree() {
		w.Incomplete = true
		w.WrongStart()
		return
	}
	w.meet(newSync(nil, firstKustomization(w.Published)))
	for len(w.pending) > 0 {
		w.follow(w.next())
	}
}

// meet takes note of a Flux Kustomization.
func (w *Walk) meet(s *sync) {
	known := func(o *sync) bool { return o.Metadata == s.Metadata }
	if strings.Contains(s.Metadata.Name, manifest.Unset) || slices.ContainsFunc(w.met, known) {
		return
	}
	w.met = append(w.met, s)
	if s.isOwn() {
		w.pending = append(w.pending, s)
		return
	}
	w.Elsewhere = true
}

// next takes the first pending Kustomization whose variables are all known:
// another one may yet make the ConfigMap that it waits for. When there is none,
// what is optional is waited for no longer, and in the end nothing is.
func (w *Walk) next() *sync {
	at := slices.IndexFunc(w.pending, func(s *sync) bool { return w.ready(s, true) })
	if at < 0 {
		at = max(0, slices.IndexFunc(w.pending, func(s *sync) bool { return w.ready(s, false) }))
	}
	s := w.pending[at]
	w.pending = slices.Delete(w.pending, at, at+1)
	return s
}

func (w *Walk) ready(s *sync, optional bool) bool {
	for _, from := range s.sources() {
		if _, ok := w.find(from.Kind, s.Metadata.Namespace, from.Name); !ok && (optional || !from.Optional) {
			return false
		}
	}
	return true
}

// follow builds a Kustomization, substitutes, and takes what comes out.
func (w *Walk) follow(s *sync) {
	if strings.Contains(s.Spec.Path, manifest.Unset) {
		w.Incomplete = true
		return
	}
	if !w.Files.IsDir(s.origin.Dir()) {
		w.Incomplete = true
		w.Refer(s.origin.Parent, s.wanted(s.Spec.Path, "spec", "path"), finding.Finding{
			Severity: finding.Error,
			Message:  fmt.Sprintf("%s: path %q is not a directory of the platform tree", s.Identity(), s.Spec.Path),
			Remedy:   w.NearDir(s.Spec.Path),
		})
		return
	}
	built, ok := w.Build(s.origin, s.options())
	if !ok {
		return
	}
	if s.origin.Parent == nil && len(built) == 0 {
		w.EmptyStart()
	}
	s.vars = w.variables(s)
	for i, text := range w.substitute(s, built) {
		w.take(s, text, built[i].Text)
	}
}

// take decodes an object and takes note of what the check has to follow. before is
// its text without substitution.
func (w *Walk) take(s *sync, text, before string) {
	o, err := manifest.Decode[manifest.Object](text)
	if err == nil {
		err = w.inventory.Add(o, text)
	}
	switch {
	case err != nil:
	case o.Group() == kustomizeGroup && o.Kind == "Kustomization":
		var k kustomization
		if k, err = manifest.Decode[kustomization](text); err == nil {
			w.meet(newSync(s.origin, k))
		}
	case o.Group() == helmGroup && o.Kind == "HelmRelease":
		var r release
		if r, err = manifest.Decode[release](text); err == nil {
			w.releases = append(w.releases, releaseMet{r, s.origin})
		}
	default:
		err = w.takeOfSystems(s.origin, o, text)
	}
	if err == nil {
		return
	}
	if o, err := manifest.Decode[manifest.Object](before); err == nil {
		at := tree.Wanted{Object: o, Path: []string{"metadata", "name"}, Value: o.Metadata.Name}
		w.Refer(s.origin, at, finding.Finding{
			Severity: finding.Error,
			Message:  fmt.Sprintf("%s cannot be read once its variables are substituted", o.Identity()),
			Remedy:   "put the values that are substituted into quotes, and give every field the type that it has to have",
		})
	}
}
