// Package flux follows a platform tree as Flux does for one cluster, and says what
// of it Flux would stop at, wait for, or take for empty.
package flux

import (
	"sigs.k8s.io/kustomize/api/types"

	"tombolo/check/kustomize"
	"tombolo/check/manifest"
	"tombolo/check/published"
	"tombolo/internal/names"
)

// The API groups of the objects that refer to others.
const (
	kustomizeGroup = "kustomize.toolkit.fluxcd.io"
	helmGroup      = "helm.toolkit.fluxcd.io"
)

// reference to an object by name; the namespace is the referring object's own
// unless it is given.
type reference struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

func (r reference) in(namespace string) string {
	if r.Namespace != "" {
		return r.Namespace
	}
	return namespace
}

// kustomization is a Flux Kustomization.
type kustomization struct {
	manifest.Object
	Spec struct {
		Path                    string        `json:"path"`
		SourceRef               reference     `json:"sourceRef"`
		DependsOn               []reference   `json:"dependsOn"`
		PostBuild               *postBuild    `json:"postBuild"`
		TargetNamespace         string        `json:"targetNamespace"`
		NamePrefix              string        `json:"namePrefix"`
		NameSuffix              string        `json:"nameSuffix"`
		Patches                 []types.Patch `json:"patches"`
		Components              []string      `json:"components"`
		IgnoreMissingComponents bool          `json:"ignoreMissingComponents"`
		Images                  []types.Image `json:"images"`
	} `json:"spec"`
}

// postBuild is the substitution of a Flux Kustomization.
type postBuild struct {
	Substitute     map[string]string `json:"substitute"`
	SubstituteFrom []variablesFrom   `json:"substituteFrom"`
}

// variablesFrom is an object whose data become variables.
type variablesFrom struct {
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Optional bool   `json:"optional"`
}

// release is a HelmRelease.
type release struct {
	manifest.Object
	Spec struct {
		Chart *struct {
			Spec struct {
				SourceRef reference `json:"sourceRef"`
			} `json:"spec"`
		} `json:"chart"`
		ChartRef   *reference  `json:"chartRef"`
		DependsOn  []reference `json:"dependsOn"`
		ValuesFrom []struct {
			Kind      string `json:"kind"`
			Name      string `json:"name"`
			ValuesKey string `json:"valuesKey"`
			Optional  bool   `json:"optional"`
		} `json:"valuesFrom"`
		Values map[string]any `json:"values"`

		// What takes a release elsewhere, or has others at work for it.
		ReleaseName        string    `json:"releaseName"`
		TargetNamespace    string    `json:"targetNamespace"`
		StorageNamespace   string    `json:"storageNamespace"`
		ServiceAccountName string    `json:"serviceAccountName"`
		KubeConfig         *struct{} `json:"kubeConfig"`
		PostRenderers      []any     `json:"postRenderers"`
	} `json:"spec"`
}

// firstKustomization is the one that bootstrap makes, at the cluster's path.
func firstKustomization(p published.Set) kustomization {
	var k kustomization
	k.APIVersion, k.Kind = kustomizeGroup+"/v1", "Kustomization"
	k.Metadata.Name, k.Metadata.Namespace = names.Platform, names.FluxNamespace
	k.Spec.Path = p.Path
	k.Spec.SourceRef = reference{Kind: "GitRepository", Name: names.Platform}
	k.Spec.PostBuild = &postBuild{SubstituteFrom: []variablesFrom{{Kind: "ConfigMap", Name: names.InfraConfig}}}
	return k
}

// isOwn says whether it follows this tree.
func (k kustomization) isOwn() bool {
	ref := k.Spec.SourceRef
	return ref.Kind == "GitRepository" && ref.Name == names.Platform && ref.in(k.Metadata.Namespace) == names.FluxNamespace
}

// sources are the objects that its variables come from.
func (k kustomization) sources() []variablesFrom {
	if k.Spec.PostBuild == nil {
		return nil
	}
	return k.Spec.PostBuild.SubstituteFrom
}

// options are what it adds to a kustomization file.
func (k kustomization) options() kustomize.Options {
	return kustomize.Options{
		Namespace: k.Spec.TargetNamespace, NamePrefix: k.Spec.NamePrefix, NameSuffix: k.Spec.NameSuffix,
		Patches: k.Spec.Patches, Components: k.Spec.Components, IgnoreMissingComponents: k.Spec.IgnoreMissingComponents,
		Images: k.Spec.Images,
	}
}
