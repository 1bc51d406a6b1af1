package argocd

import (
	"fmt"
	"slices"

	"tombolo/check/finding"
	"tombolo/internal/names"
)

// CheckReleased warns of addons whose values are published, and that nothing in
// the tree releases.
func (w *Walk) CheckReleased() {
	if w.Incomplete || w.Elsewhere {
		return
	}
	for _, a := range w.Published.Registration.Addons {
		released := slices.ContainsFunc(w.Applications, func(app Application) bool {
			return app.Metadata.Labels[names.AddonLabel] == a.Name
		})
		if released || !a.HasValues {
			continue
		}
		w.InClusterFile([]string{"addons", a.Name}, finding.Finding{
			Severity: finding.Warning,
			Message:  fmt.Sprintf("%s is turned on, and no Application of the tree with the label %s releases it to this cluster", a.Name, names.AddonLabel),
			Remedy:   "label the cluster as its ApplicationSet selects, add it to the tree, or turn it off",
		})
	}
}
