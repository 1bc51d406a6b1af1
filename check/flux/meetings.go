package flux

import (
	"fmt"
	"maps"
	"slices"

	"tombolo/check/finding"
	"tombolo/check/tree"
	"tombolo/check/walk"
	"tombolo/internal/names"
)

// checkMeetings looks at the values of a HelmRelease that bootstrap publishes as
// well. Its own win: a note, or an error where the software cannot work with them.
func (w *Walk) checkMeetings(r releaseMet) {
	for _, name := range slices.Sorted(maps.Keys(w.Published.Values)) {
		if !r.readsFrom(names.Values(name)) {
			continue
		}
		for _, m := range w.Published.Values[name].Meet(r.Spec.Values) {
			f := finding.Finding{
				Severity: finding.Note,
				Message:  fmt.Sprintf("%s sets %s, which bootstrap publishes too: the tree's value wins", r.Identity(), m.Name()),
			}
			if m.Made {
				f.Severity = finding.Error
				f.Message = fmt.Sprintf("%s sets %s, which bootstrap publishes for what core has made: with the tree's value %s does not work", r.Identity(), m.Name(), name)
				f.Remedy = "remove it from the release's values"
			}
			path, value := walk.First(slices.Concat([]string{"spec", "values"}, m.Path), m.Tree)
			w.Refer(r.in, tree.Wanted{Object: r.Object, Path: path, Value: value}, f)
		}
	}
}

// readsFrom says whether the release has values from a ConfigMap.
func (r release) readsFrom(configMap string) bool {
	for _, from := range r.Spec.ValuesFrom {
		if from.Kind == "ConfigMap" && from.Name == configMap {
			return true
		}
	}
	return false
}
