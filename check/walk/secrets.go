package walk

import (
	"fmt"
	"strings"

	"tombolo/check/finding"
	"tombolo/check/inventory"
	"tombolo/check/near"
)

// CheckSecrets warns of Secrets that the cluster file names, and that the tree does not make.
func (w *Walk) CheckSecrets(made inventory.Inventory) {
	if w.Incomplete {
		return
	}
	for _, s := range w.Published.Secrets {
		if _, ok := made[inventory.ID{Kind: "Secret", Namespace: s.Namespace, Name: s.Name}]; ok {
			continue
		}
		w.InClusterFile(s.Setting, finding.Finding{
			Severity: finding.Warning,
			Message:  fmt.Sprintf("nothing in the tree makes the Secret %s/%s, which %s names", s.Namespace, s.Name, strings.Join(s.Setting, ".")),
			Remedy:   near.DidYouMean(s.Name, made.In("Secret", s.Namespace), "add an ExternalSecret or SealedSecret of that name ("+s.Guide+")"),
		})
	}
}
