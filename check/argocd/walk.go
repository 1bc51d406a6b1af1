package argocd

import (
	"fmt"
	"slices"
	"strings"

	"tombolo/check/finding"
	"tombolo/check/gotemplate"
	"tombolo/check/inventory"
	"tombolo/check/manifest"
	"tombolo/check/published"
	"tombolo/check/tree"
	"tombolo/check/walk"
)

// Walk follows the tree of a hub for one of the hub's clusters.
type Walk struct {
	*walk.Walk
	// Applications of the cluster that were met.
	Applications []Application
	// from are the ApplicationSets that made some of them.
	from map[manifest.Object]manifest.Object
	// systems of teams that were met, in the order of the cluster's list.
	systems []systemMet
	// addresses of channels that the tree gives, and whether some are not to be told.
	addresses addressesMet
	// inventory is what the tree makes of Secrets, as far as it was followed.
	inventory inventory.Inventory
	// taken are the names of Applications that two parts of the tree make.
	taken map[string]bool
}

// New returns a walk that has everything before it.
func New(w *walk.Walk) *Walk {
	w.Fleet = slices.DeleteFunc(slices.Clone(w.Fleet), func(p published.Set) bool {
		return p.Registration == nil || p.Registration.Hub != w.Published.Registration.Hub
	})
	return &Walk{
		Walk: w, from: map[manifest.Object]manifest.Object{}, taken: map[string]bool{}, addresses: addressesMet{keys: map[string]bool{}},
		inventory: inventory.Inventory{},
	}
}

// named is how findings name an Application: one that an ApplicationSet makes
// for each cluster, by that.
func (w *Walk) named(app Application) string {
	if set, ok := w.from[app.object()]; ok {
		return "an Application of " + set.Identity()
	}
	return app.object().Identity()
}

// isOwn says whether a URL is this tree's repository.
func (w *Walk) isOwn(url string) bool {
	return sameRepository(url, w.Published.Registration.Repository())
}

// parameters are what the cluster generator gives for the cluster.
func (w *Walk) parameters() map[string]any {
	r := w.Published.Registration
	return map[string]any{
		"name": w.Published.Cluster, "nameNormalized": gotemplate.Normalize(w.Published.Cluster),
		"server": r.Server, "project": "",
		"metadata": map[string]any{"labels": r.Labels, "annotations": r.Annotations},
	}
}

// unreadable reports an object that cannot be decoded.
func (w *Walk) unreadable(in *walk.Origin, o manifest.Object, err error) {
	w.Incomplete = true
	w.Refer(in, name(o), finding.Finding{
		Severity: finding.Error,
		Message:  fmt.Sprintf("%s cannot be read: %s", o.Identity(), walk.Innermost(err)),
		Remedy:   "give every field the type that it has to have",
	})
}

// referSource reports a finding about a field of an Application's source: in the
// ApplicationSet that made it, in its own manifest, or wherever the files of its
// chart have the text.
func (w *Walk) referSource(in *walk.Origin, app Application, field, value string, f finding.Finding) {
	if strings.Contains(value, manifest.Unset) {
		return
	}
	object, base := app.object(), []string{"spec"}
	if set, ok := w.from[object]; ok {
		object, base = set, []string{"spec", "template", "spec"}
	}
	tail := []string{field}
	switch field {
	case "valueFiles":
		tail = []string{"helm", field, "[]"}
	case "parameters":
		tail = []string{"helm", field, "[]", "name"}
	}
	for _, middle := range [][]string{{"sources", "[]"}, {"source"}} {
		what := tree.Wanted{Object: object, Path: slices.Concat(base, middle, tail), Value: value}
		for o := in; o != nil; o = o.Parent {
			if at, ok := w.Files.Field(o.Read, what, func(text string) string { return w.asRendered(object, text) }); ok {
				w.At(at, f)
				return
			}
		}
	}
	at := tree.Place{File: in.Dir()}
	_, plain, _ := strings.Cut(value, "/")
	for _, file := range in.Read {
		for _, text := range []string{value, plain} {
			if hit, ok := w.Files.Text(file, text); ok && at.Line == 0 {
				at = hit
			}
		}
	}
	w.At(at, f)
}

// asRendered is a text of an ApplicationSet as the cluster's Application has it.
func (w *Walk) asRendered(object manifest.Object, text string) string {
	if object.Kind != "ApplicationSet" {
		return text
	}
	out := gotemplate.Render(text, w.parameters())
	if out.Err != nil {
		return text
	}
	return out.Text
}

// name is where an object has its name.
func name(o manifest.Object) tree.Wanted {
	return tree.Wanted{Object: o, Path: []string{"metadata", "name"}, Value: o.Metadata.Name}
}
