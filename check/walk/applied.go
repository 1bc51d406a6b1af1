package walk

import (
	"strings"

	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/tree"
)

// leaves are annotations by which Flux applies an object once, or not at all. Source: "Controlling the apply
// behavior of resources" in https://fluxcd.io/flux/components/kustomize/kustomizations/
var leaves = map[string][]string{
	"kustomize.toolkit.fluxcd.io/ssa":       {"IfNotPresent", "Ignore"},
	"kustomize.toolkit.fluxcd.io/reconcile": {"disabled"},
}

// TakeApplied takes note of what applies an object, and warns where something else applies the object, too. Each
// engine applies everything by one field manager, so that the API server reports no conflict. Sources: kustomize-controller's
// issue 1724, and ApplicationConditionSharedResourceWarning in pkg/apis/application/v1alpha1/types.go of Argo CD.
func (w *Walk) TakeApplied(in *Origin, by string, o manifest.Object, text string) {
	if strings.Contains(o.Identity(), manifest.Unset) || o.Metadata.Name == "" || left(text) {
		return
	}
	id := o
	id.APIVersion = o.Group() // whatever the version is
	first, taken := w.applied[id]
	if !taken {
		if w.applied == nil {
			w.applied = map[manifest.Object]string{}
		}
		w.applied[id] = by
	}
	if !taken || first == by {
		return
	}
	w.Refer(in, tree.Wanted{Object: o, Path: []string{"metadata", "name"}, Value: o.Metadata.Name}, finding.Warningf(
		"%s and %s apply %s: it has what the last one says, and may go with the first that drops it", first, by, o.Identity()).
		WithRemedy("leave it in one of them"))
}

// left says that the engine leaves the object as it is once it is there.
func left(text string) bool {
	if !strings.Contains(text, "kustomize.toolkit.fluxcd.io/") {
		return false
	}
	o, err := manifest.Decode[struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	}](text)
	for name, values := range leaves {
		for _, value := range values {
			if err == nil && o.Metadata.Annotations[name] == value {
				return true
			}
		}
	}
	return false
}
