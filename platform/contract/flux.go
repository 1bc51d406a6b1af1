package contract

import (
	"fmt"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"tombolo/internal/names"
)

// The API groups of the objects that refer to others.
const (
	kustomizeGroup = "kustomize.toolkit.fluxcd.io"
	helmGroup      = "helm.toolkit.fluxcd.io"
	sourceGroup    = "source.toolkit.fluxcd.io"
)

// disabled is the label, or annotation, of objects without substitution.
const disabled = kustomizeGroup + "/substitute"

// manifest is what the check reads of every object.
type manifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
}

func (m manifest) group() string {
	group, _, _ := strings.Cut(m.APIVersion, "/")
	return group
}

// identity is how findings name an object.
func (m manifest) identity() string {
	if m.Metadata.Namespace == "" {
		return m.Kind + " " + m.Metadata.Name
	}
	return m.Kind + " " + m.Metadata.Namespace + "/" + m.Metadata.Name
}

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
	manifest
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
	SubstituteFrom []struct {
		Kind     string `json:"kind"`
		Name     string `json:"name"`
		Optional bool   `json:"optional"`
	} `json:"substituteFrom"`
}

// release is a HelmRelease.
type release struct {
	manifest
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
	} `json:"spec"`
}

// firstKustomization is the one that bootstrap makes, at the cluster's path.
func firstKustomization(p Published) kustomization {
	var k kustomization
	k.APIVersion, k.Kind = kustomizeGroup+"/v1", "Kustomization"
	k.Metadata.Name, k.Metadata.Namespace = names.Platform, names.FluxNamespace
	k.Spec.Path = p.Path
	k.Spec.SourceRef = reference{Kind: "GitRepository", Name: names.Platform}
	k.Spec.PostBuild = &postBuild{}
	k.Spec.PostBuild.SubstituteFrom = append(k.Spec.PostBuild.SubstituteFrom, struct {
		Kind     string `json:"kind"`
		Name     string `json:"name"`
		Optional bool   `json:"optional"`
	}{"ConfigMap", names.InfraConfig, false})
	return k
}

// decode reads an object out of its YAML.
func decode[T any](text string) (T, error) {
	var out T
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		return out, fmt.Errorf("decoding: %w", err)
	}
	return out, nil
}
