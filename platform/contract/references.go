package contract

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// inNamespace are the names of the objects of a kind in a namespace.
func (w *walk) inNamespace(kind, namespace string) []string {
	var out []string
	for o := range w.stock {
		if o.kind == kind && o.namespace == namespace {
			out = append(out, o.name)
		}
	}
	for _, o := range w.published.Objects {
		if o.Kind == kind && o.Namespace == namespace {
			out = append(out, o.Name)
		}
	}
	switch {
	case kind == "ConfigMap" && namespace == names.FluxNamespace:
		out = append(out, names.InfraConfig)
	case (kind == "GitRepository" || kind == "Kustomization") && namespace == names.FluxNamespace:
		out = append(out, names.Platform)
	}
	return out
}

// elsewhere says that an object of that name is in another namespace or of
// another kind, or gives other advice.
func (w *walk) elsewhere(kind, namespace, name, otherwise string) string {
	switch other, in := w.homonyms(kind, namespace, name); {
	case in != "":
		return fmt.Sprintf("%s %s is in namespace %s", kind, name, in)
	case other != "":
		return fmt.Sprintf("there is a %s of that name", other)
	}
	return otherwise
}

// homonyms looks for an object of that name: in the namespace and of a kind
// that may be mistaken for the wanted one, or in another namespace.
func (w *walk) homonyms(kind, namespace, name string) (otherKind, in string) {
	all := slices.Collect(maps.Keys(w.stock))
	for _, o := range w.published.Objects {
		all = append(all, id{o.Kind, o.Namespace, o.Name})
	}
	all = append(all, id{"ConfigMap", names.FluxNamespace, names.InfraConfig}, id{"GitRepository", names.FluxNamespace, names.Platform})
	slices.SortFunc(all, func(a, b id) int {
		return strings.Compare(a.namespace+"/"+a.kind, b.namespace+"/"+b.kind)
	})
	for _, o := range all {
		if o.name == name && o.namespace == namespace && alike(o.kind, kind) {
			return o.kind, ""
		}
	}
	for _, o := range all {
		if o.name == name && o.kind == kind {
			return "", o.namespace
		}
	}
	return "", ""
}

// alike says whether a kind may be meant where another, or a misspelt one, is
// written.
func alike(kind, written string) bool {
	data := []string{"ConfigMap", "Secret"}
	sources := []string{"GitRepository", "OCIRepository", "Bucket", "HelmRepository", "HelmChart"}
	switch {
	case slices.Contains(data, written):
		return slices.Contains(data, kind)
	case slices.Contains(sources, written):
		return slices.Contains(sources, kind)
	default:
		return wording.Nearest(written, []string{kind}) != ""
	}
}

// gravity of something that is missing: it may be what was not followed that
// makes it, unless its name is nearly that of what is here.
func (w *walk) gravity(name string, known []string) Severity {
	if w.elsewhereToo && wording.Nearest(name, known) == "" {
		return Warning
	}
	return Error
}

// has says whether there is an object: of the tree, or bootstrap's.
func (w *walk) has(kind, namespace, name string) bool {
	_, made := w.stock[id{kind, namespace, name}]
	return made || (kind == "GitRepository" && namespace == names.FluxNamespace && name == names.Platform)
}

// checkSources looks at the sources of the Kustomizations; those of other
// trees are not followed, and have to exist none the less.
func (w *walk) checkSources() {
	for _, s := range w.met {
		if s.followed {
			continue
		}
		ref := s.Spec.SourceRef
		if w.source(s.parent, s.manifest, ref, "spec", "sourceRef") {
			what := wanted{path: []string{"spec", "sourceRef", "name"}, value: ref.Name}
			w.refer(s.parent, s.manifest, what, Finding{
				Severity: Note,
				Message:  fmt.Sprintf("%s is not followed: its path is in %s %s/%s, not in this tree", s.identity(), ref.Kind, ref.in(s.Metadata.Namespace), ref.Name),
			})
		}
	}
}

// source reports a reference to a source that does not exist, and says whether
// it does.
func (w *walk) source(in *sync, m manifest, ref reference, path ...string) bool {
	namespace := ref.in(m.Metadata.Namespace)
	if w.has(ref.Kind, namespace, ref.Name) {
		return true
	}
	if w.incomplete {
		return false
	}
	known := w.inNamespace(ref.Kind, namespace)
	w.refer(in, m, w.suspect(ref, namespace, path, known), Finding{
		Severity: w.gravity(ref.Name, known),
		Message:  fmt.Sprintf("%s: %s refers to %s %s/%s, which is not in the tree", m.identity(), path[len(path)-1], ref.Kind, namespace, ref.Name),
		Remedy:   didYouMean(ref.Name, known, w.elsewhere(ref.Kind, namespace, ref.Name, "add it to the tree")),
	})
	return false
}

// suspect is the field of a reference that is probably wrong: its kind or
// namespace when the same name exists with another one, and else the name.
func (w *walk) suspect(ref reference, namespace string, path, known []string) wanted {
	besides := map[string]string{"name": ref.Name}
	kind, other := w.homonyms(ref.Kind, namespace, ref.Name)
	switch {
	case wording.Nearest(ref.Name, known) != "":
	case other != "" && ref.Namespace != "":
		return wanted{path: slices.Concat(path, []string{"namespace"}), value: ref.Namespace, besides: besides}
	case kind != "":
		return wanted{path: slices.Concat(path, []string{"kind"}), value: ref.Kind, besides: besides}
	}
	return wanted{path: slices.Concat(path, []string{"name"}), value: ref.Name, besides: map[string]string{"kind": ref.Kind}}
}

// checkReleases looks at what the HelmReleases refer to.
func (w *walk) checkReleases() {
	for _, r := range w.releases {
		if r.Spec.Chart != nil {
			w.source(r.in, r.manifest, r.Spec.Chart.Spec.SourceRef, "spec", "chart", "spec", "sourceRef")
		}
		if r.Spec.ChartRef != nil {
			w.source(r.in, r.manifest, *r.Spec.ChartRef, "spec", "chartRef")
		}
		for _, from := range r.Spec.ValuesFrom {
			w.checkValues(r, values{reference{Kind: from.Kind, Name: from.Name}, from.ValuesKey, from.Optional})
		}
	}
}

// values is an item of a HelmRelease's valuesFrom. The controller forgives an
// optional one both a missing object and a missing key.
type values struct {
	reference
	key      string
	optional bool
}

func (w *walk) checkValues(r releaseMet, from values) {
	found, ok := w.find(from.Kind, r.Metadata.Namespace, from.Name)
	switch {
	case ok:
		w.checkKey(r, from, found)
	case !w.incomplete:
		w.missingValues(r, from)
	}
}

func (w *walk) missingValues(r releaseMet, from values) {
	namespace := r.Metadata.Namespace
	known := w.inNamespace(from.Kind, namespace)
	what := w.suspect(from.reference, namespace, []string{"spec", "valuesFrom", "[]"}, known)
	w.referOptional(r, what, from.optional, wording.Nearest(from.Name, known) != "", Finding{
		Severity: w.gravity(from.Name, known),
		Message:  fmt.Sprintf("%s: valuesFrom refers to %s %s, which neither bootstrap nor the tree makes in namespace %s", r.identity(), from.Kind, from.Name, namespace),
		Remedy: didYouMean(from.Name, known,
			w.elsewhere(from.Kind, namespace, from.Name, "turn on the addon or service that publishes it in the cluster file, or make it in the tree")),
	})
}

func (w *walk) checkKey(r releaseMet, from values, found stocked) {
	key := from.key
	what := wanted{
		path: []string{"spec", "valuesFrom", "[]", "valuesKey"}, value: key,
		besides: map[string]string{"kind": from.Kind, "name": from.Name},
	}
	if key == "" {
		key = names.ValuesKey
		what = wanted{path: []string{"spec", "valuesFrom", "[]", "name"}, value: from.Name, besides: map[string]string{"kind": from.Kind}}
	}
	if found.has(key) {
		return
	}
	w.referOptional(r, what, from.optional, wording.Nearest(key, found.keys) != "", Finding{
		Severity: Error,
		Message:  fmt.Sprintf("%s: valuesFrom refers to key %q of %s %s, which has %s", r.identity(), key, from.Kind, from.Name, listed(found.keys)),
		Remedy:   didYouMean(key, found.keys, "set valuesKey to a key that it has"),
	})
}

// referOptional reports values that are not there; those that are optional
// only when a name was probably misspelt.
func (w *walk) referOptional(r releaseMet, what wanted, optional, misspelt bool, f Finding) {
	if optional {
		if !misspelt {
			return
		}
		f.Severity = Warning
		f.Message += "; it is optional, so nobody will say so"
	}
	w.refer(r.in, r.manifest, what, f)
}

func listed(keys []string) string {
	if len(keys) == 0 {
		return "no keys"
	}
	keys = slices.Clone(keys)
	slices.Sort(keys)
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = strconv.Quote(key)
	}
	return strings.Join(out, ", ")
}
