package argocd

import (
	"cmp"
	"slices"

	"tombolo/check/manifest"
)

// reaches says that the Application's objects go to the cluster: the hub's path has Applications
// of all, and is itself the hub's.
func (w *Walk) reaches(app Application) bool {
	to := app.Spec.Destination
	return to.Name == w.Published.Cluster || to.Name == "in-cluster" && w.Published.Registration.Hub == w.Published.Cluster ||
		to.Server != "" && to.Server == w.Published.Registration.Server
}

// takeSecrets takes note of the Secrets among an Application's objects, and of what a controller
// makes Secrets of. An object without a namespace goes into that of the destination.
func (w *Walk) takeSecrets(app Application, texts []string) {
	if !w.reaches(app) {
		return
	}
	for _, text := range texts {
		o, err := manifest.Decode[manifest.Object](text)
		if err != nil || !slices.Contains([]string{"Secret", "SealedSecret", "ExternalSecret"}, o.Kind) {
			continue
		}
		o.Metadata.Namespace = cmp.Or(o.Metadata.Namespace, app.Spec.Destination.Namespace)
		if err := w.inventory.Add(o, text); err != nil {
			w.Incomplete = true // it is not known what it makes
		}
	}
}

// CheckSecrets warns of Secrets that the cluster file names and nothing makes.
func (w *Walk) CheckSecrets() { w.Walk.CheckSecrets(w.inventory) }
