package flux

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tombolo/check/finding"
	"tombolo/check/inventory"
	"tombolo/check/manifest"
	"tombolo/check/near"
	"tombolo/check/tree"
	"tombolo/check/walk"
	"tombolo/internal/names"
	"tombolo/internal/wording"
)

// CheckSources looks at the sources of the Kustomizations; those of other
// trees are not followed, and have to exist none the less.
func (w *Walk) CheckSources() {
	for _, s := range w.met {
		ref := s.Spec.SourceRef
		if !s.isOwn() && w.source(s.origin.Parent, s.Object, ref, "spec", "sourceRef") {
			w.Refer(s.origin.Parent, s.wanted(ref.Name, "spec", "sourceRef", "name"), finding.Finding{
				Severity: finding.Note,
				Message:  fmt.Sprintf("%s is not followed: its path is in %s %s/%s, not in this tree", s.Identity(), ref.Kind, ref.in(s.Metadata.Namespace), ref.Name),
			})
		}
	}
}

// source reports a reference to a source that does not exist, and says whether
// it does.
func (w *Walk) source(in *walk.Origin, o manifest.Object, ref reference, path ...string) bool {
	a := w.absent(ref, o.Metadata.Namespace)
	if found, ok := w.inventory[a.ID]; ok && !found.Published {
		return true
	}
	if w.Incomplete {
		return false
	}
	w.Refer(in, a.suspect(o, path...), finding.Finding{
		Severity: a.gravity(),
		Message:  fmt.Sprintf("%s: %s refers to %s %s/%s, which is not in the tree", o.Identity(), path[len(path)-1], a.Kind, a.Namespace, a.Name),
		Remedy:   a.remedy("add it to the tree"),
	})
	return false
}

// CheckReleases looks at what the HelmReleases refer to.
func (w *Walk) CheckReleases() {
	for _, r := range w.releases {
		if r.Spec.Chart != nil {
			w.source(r.in, r.Object, r.Spec.Chart.Spec.SourceRef, "spec", "chart", "spec", "sourceRef")
		}
		if r.Spec.ChartRef != nil {
			w.source(r.in, r.Object, *r.Spec.ChartRef, "spec", "chartRef")
		}
		for _, from := range r.Spec.ValuesFrom {
			w.checkValues(r, values{reference{Kind: from.Kind, Name: from.Name}, from.ValuesKey, from.Optional})
		}
		w.checkMeetings(r)
	}
}

// values is an item of a HelmRelease's valuesFrom. The controller forgives an
// optional one both a missing object and a missing key.
type values struct {
	reference
	key      string
	optional bool
}

func (w *Walk) checkValues(r releaseMet, from values) {
	found, ok := w.find(from.Kind, r.Metadata.Namespace, from.Name)
	switch {
	case ok:
		w.checkKey(r, from, found)
	case !w.Incomplete:
		w.missingValues(r, from)
	}
}

func (w *Walk) missingValues(r releaseMet, from values) {
	a := w.absent(from.reference, r.Metadata.Namespace)
	w.referOptional(r.in, a.suspect(r.Object, "spec", "valuesFrom", "[]"), from.optional, a.misspelt(), finding.Finding{
		Severity: a.gravity(),
		Message:  fmt.Sprintf("%s: valuesFrom refers to %s %s, which neither bootstrap nor the tree makes in namespace %s", r.Identity(), a.Kind, a.Name, a.Namespace),
		Remedy:   a.remedy("turn on the addon or service that publishes it in the cluster file, or make it in the tree"),
	})
}

func (w *Walk) checkKey(r releaseMet, from values, found inventory.Entry) {
	key := from.key
	what := tree.Wanted{
		Object: r.Object, Path: []string{"spec", "valuesFrom", "[]", "valuesKey"}, Value: key,
		Besides: map[string]string{"kind": from.Kind, "name": from.Name},
	}
	if key == "" {
		key = names.ValuesKey
		what.Path, what.Value, what.Besides = []string{"spec", "valuesFrom", "[]", "name"}, from.Name, map[string]string{"kind": from.Kind}
	}
	if found.Has(key) {
		return
	}
	w.referOptional(r.in, what, from.optional, wording.Nearest(key, found.Keys) != "", finding.Finding{
		Severity: finding.Error,
		Message:  fmt.Sprintf("%s: valuesFrom refers to key %q of %s %s, which has %s", r.Identity(), key, from.Kind, from.Name, listed(found.Keys)),
		Remedy:   near.DidYouMean(key, found.Keys, "set valuesKey to a key that it has"),
	})
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
