package argocd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"tombolo/check/finding"
	"tombolo/check/gotemplate"
	"tombolo/check/helm"
	"tombolo/check/inventory"
	"tombolo/check/manifest"
	"tombolo/check/published"
	"tombolo/check/tree"
	"tombolo/check/walk"
	"tombolo/internal/gitaddress"
	"tombolo/internal/names"
)

// Walk follows the tree of a hub for one of the hub's clusters.
type Walk struct {
	*walk.Walk
	// Applications of the cluster that were met.
	Applications []Application
	// from is what ApplicationSets made some of them of.
	from map[manifest.Object]madeFrom
	// metIn is whose build they were met in.
	metIn map[manifest.Object]*walk.Origin
	// projects that the tree makes.
	projects []string
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
		Walk: w, from: map[manifest.Object]madeFrom{}, metIn: map[manifest.Object]*walk.Origin{}, taken: map[string]bool{}, addresses: addressesMet{keys: map[string]bool{}},
		inventory: inventory.Inventory{},
	}
}

// named is how findings name an Application: one that an ApplicationSet makes
// for each cluster, by that.
func (w *Walk) named(app Application) string {
	if made, ok := w.from[app.object()]; ok {
		return "an Application of " + made.set.Identity()
	}
	return app.object().Identity()
}

// isOwn says whether a URL is this tree's repository.
func (w *Walk) isOwn(url string) bool {
	return gitaddress.Same(url, w.Published.Registration.Repository())
}

// parametersOf are what the cluster generator gives for a cluster.
func parametersOf(p published.Set, goTemplate bool) map[string]any {
	r := p.Registration
	out := map[string]any{"name": p.Cluster, "nameNormalized": gotemplate.Normalize(p.Cluster), "server": r.Server, "project": ""}
	if goTemplate {
		out["metadata"] = map[string]any{"labels": r.Labels, "annotations": r.Annotations}
		return out
	}
	for _, part := range []string{"labels", "annotations"} {
		for key, value := range r.Part(part) {
			out["metadata."+part+"."+key] = value
		}
	}
	return out
}

// unreadable reports an object that cannot be decoded.
func (w *Walk) unreadable(in *walk.Origin, o manifest.Object, err error) {
	w.Incomplete = true
	w.Refer(in, name(o), finding.Errorf("%s cannot be read: %s", o.Identity(), walk.Innermost(err)).
		WithRemedy("give every field the type that it has to have"))
}

// referSource reports a finding about a field of an Application's source: in the
// ApplicationSet that made it, in its own manifest, or wherever the files of its
// chart have the text.
func (w *Walk) referSource(in *walk.Origin, app Application, field, value string, f finding.Finding) {
	if strings.Contains(value, manifest.Unset) {
		return
	}
	object, base := app.object(), []string{"spec"}
	made, generated := w.from[object]
	if generated {
		object, base = made.set.Object, []string{"spec", "template", "spec"}
	}
	tail := []string{field}
	switch field {
	case "valueFiles":
		tail = []string{"helm", field, "[]"}
	case "values":
		tail = []string{"helm", field}
	case "fileParameters":
		tail = []string{"helm", field, "[]", "path"}
	case "parameters":
		tail = []string{"helm", field, "[]", "name"}
	}
	for _, middle := range [][]string{{"sources", "[]"}, {"source"}} {
		what := tree.Wanted{Object: object, Path: slices.Concat(base, middle, tail), Value: value}
		for o := in; o != nil; o = o.Parent {
			if at, ok := w.Files.Field(o.Read, what, made.evaluate); ok {
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

// evaluate is a text of an ApplicationSet as the Application has it.
func (m madeFrom) evaluate(text string) string {
	t := templating{set: m.set, parameters: m.parameters}
	if out, ok := t.render(text); ok {
		return out
	}
	return text
}

// name is where an object has its name.
func name(o manifest.Object) tree.Wanted {
	return tree.Wanted{Object: o, Path: []string{"metadata", "name"}, Value: o.Metadata.Name}
}

// checkMeetings looks at the values of a source that bootstrap publishes as well.
// Argo CD lays values over those of files, and parameters over both.
func (w *Walk) checkMeetings(in *walk.Origin, app Application, from Source) {
	all := w.Published.Values[app.Metadata.Labels[names.AddonLabel]]
	given, err := publishedTo(from)
	if all == nil || err != nil || len(given) == 0 {
		return
	}
	for _, file := range from.Helm.ValueFiles {
		name, ok := w.valueFile(app, from, file)
		text, err := w.Files.Read(name)
		var set map[string]any
		if !ok || err != nil || yaml.Unmarshal(text, &set) != nil {
			continue // its own finding
		}
		for _, m := range all.Meet(set) {
			w.At(walk.InFile(w.Files, name, m.Path), finding.Warningf(
				"%s is published by bootstrap, whose value wins over that of a values file: this one has no effect", m.Name()).
				WithRemedy(without(m, "remove it, or set it in helm.parameters, which win")))
		}
	}
	w.checkParameters(in, app, from, all)
}

// checkParameters looks at parameters whose values bootstrap publishes as well.
func (w *Walk) checkParameters(in *walk.Origin, app Application, from Source, all *published.Values) {
	for _, p := range from.Helm.Parameters {
		set := map[string]any{}
		if helm.Set(set, []helm.Parameter{p}) != nil {
			continue // Helm refuses it
		}
		for _, m := range all.Meet(set) {
			f := finding.Notef("%s sets %s, which bootstrap publishes too: the tree's value wins", w.named(app), m.Name())
			if m.Made {
				f.Severity = finding.Error
				f.Message = fmt.Sprintf("%s sets %s, which bootstrap publishes for what core has made: with the tree's value the addon does not work", w.named(app), m.Name())
				f.Remedy = "remove the parameter"
			}
			w.referSource(in, app, "parameters", p.Name, f)
		}
	}
}

// publishedTo are the values of a source beside files and parameters.
func publishedTo(from Source) (map[string]any, error) {
	if from.Helm == nil || from.Chart == "" {
		return nil, nil
	}
	if len(from.Helm.ValuesObject) > 0 {
		return from.Helm.ValuesObject, nil
	}
	return helm.Overlay(nil, from.Helm.Values)
}

// without is the remedy for a value in a file; what core has made nobody sets.
func without(m published.Meeting, otherwise string) string {
	if m.Made {
		return "remove it: the software needs what core has made"
	}
	return otherwise
}

// reaches says that the Application's objects go to the cluster: the hub's path has Applications
// of all, and is itself the hub's.
func (w *Walk) reaches(app Application) bool {
	to := app.Spec.Destination
	return to.Name == w.Published.Cluster || to.Name == "in-cluster" && w.Published.Registration.Hub == w.Published.Cluster ||
		to.Server != "" && to.Server == w.Published.Registration.Server
}

// takeObjects takes note of an Application's objects: of Secrets, and of what a controller makes Secrets of. An object without a namespace goes into that of the destination.
func (w *Walk) takeObjects(in *walk.Origin, app Application, texts []string) {
	if !w.reaches(app) {
		return
	}
	for _, text := range texts {
		o, err := manifest.Decode[manifest.Object](text)
		if err != nil {
			continue
		}
		o.Metadata.Namespace = cmp.Or(o.Metadata.Namespace, app.Spec.Destination.Namespace)
		w.TakeNeeded(in, o, text)
		w.TakeApplied(in, w.named(app), o, text)
		if !slices.Contains([]string{"Secret", "SealedSecret", "ExternalSecret"}, o.Kind) && !inventory.Operated(o) {
			continue
		}
		if err := w.inventory.Add(o, text); err != nil {
			w.Incomplete = true // it is not known what it makes
		}
	}
}

// CheckSecrets warns of Secrets that the cluster file names and nothing makes, and reports keys that a
// controller does not write.
func (w *Walk) CheckSecrets() {
	w.Walk.CheckSecrets(w.inventory)
	w.CheckNeeded(w.inventory)
}

// CheckReleased warns of addons whose values are published, or that a label turns on, and that nothing in
// the tree releases.
func (w *Walk) CheckReleased() {
	if w.Incomplete || w.Elsewhere {
		return
	}
	for _, a := range w.Published.Registration.Addons {
		released := slices.ContainsFunc(w.Applications, func(app Application) bool {
			return app.Metadata.Labels[names.AddonLabel] == a.Name
		})
		if released || !a.Released {
			continue
		}
		w.InClusterFile(a.Setting, finding.Warningf(
			"%s is turned on, and no Application of the tree with the label %s releases it to this cluster", a.Name, names.AddonLabel).
			WithRemedy("label the cluster as its ApplicationSet selects, add it to the tree, or turn it off"))
	}
}
