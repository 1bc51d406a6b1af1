package flux

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/openapi"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/tree"
)

// checkIdentity looks for what kustomize builds and the API does not take: objects without apiVersion, without a name once
// it was substituted, and without a namespace though their kind is in one. Flux has no namespace for them by default.
// Source: DryRunErr in ssa/errors of fluxcd/pkg ("namespace not specified").
func (w *Walk) checkIdentity(s *sync, o manifest.Object) {
	at := tree.Wanted{Object: o, Path: []string{"metadata", "name"}, Value: o.Metadata.Name}
	switch {
	case strings.Contains(o.Kind+o.APIVersion+o.Metadata.Name, manifest.Unset):
	case o.APIVersion == "":
		w.Refer(s.origin, at, finding.Errorf("%s has no apiVersion: %s stops at it", o.Identity(), s.Identity()).WithRemedy("add apiVersion"))
	case o.Metadata.Name == "":
		w.Refer(s.origin, tree.Wanted{Object: o, Path: []string{"kind"}, Value: o.Kind}, finding.Errorf(
			"%s has an empty name once its variables are substituted: %s stops at it", o.Kind, s.Identity()).WithRemedy("give the variable in metadata.name a value"))
	case o.Metadata.Namespace == "" && isNamespaced(o):
		w.Refer(s.origin, at, finding.Errorf("%s has no namespace: %s stops at it", o.Identity(), s.Identity()).
			WithRemedy("write metadata.namespace, or namespace in the kustomization file, or spec.targetNamespace of the Kustomization"))
	}
}

// isNamespaced says whether objects of a kind are known to be in namespaces: of Kubernetes' own kinds and Flux's.
func isNamespaced(o manifest.Object) bool {
	if servedVersions[o.Group()+"/"+o.Kind] != nil {
		return true
	}
	namespaced, known := openapi.IsNamespaceScoped(kyaml.TypeMeta{APIVersion: o.APIVersion, Kind: o.Kind})
	return known && namespaced
}
