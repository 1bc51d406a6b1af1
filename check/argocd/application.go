// Package argocd follows a platform tree as Argo CD does for one cluster, and says
// what of it Argo CD would stop at or take for empty.
package argocd

import (
	"cmp"
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/api/types"

	"tombolo/check/helm"
	"tombolo/check/kustomize"
	"tombolo/check/manifest"
	"tombolo/internal/names"
)

// group is the API group of Argo CD's objects.
const group = "argoproj.io"

// applicationSet is an ApplicationSet.
type applicationSet struct {
	manifest.Object
	Spec struct {
		GoTemplate bool `json:"goTemplate"`
		// Generators by their kind, such as clusters.
		Generators    []map[string]json.RawMessage `json:"generators"`
		Template      map[string]any               `json:"template"`
		TemplatePatch string                       `json:"templatePatch"`
	} `json:"spec"`
}

// clusterGenerator gives parameters for each cluster that it selects.
type clusterGenerator struct {
	Selector metav1.LabelSelector `json:"selector"`
	Values   map[string]string    `json:"values"`
}

// matrixGenerator gives the parameters of one generator for each of another's.
type matrixGenerator struct {
	Generators []map[string]json.RawMessage `json:"generators"`
}

// gitGenerator gives parameters for each entry of files.
type gitGenerator struct {
	RepoURL string `json:"repoURL"`
	Files   []struct {
		Path string `json:"path"`
	} `json:"files"`
}

// Application is an Application of Argo CD.
type Application struct {
	manifest.Object
	Metadata struct {
		Name      string            `json:"name"`
		Namespace string            `json:"namespace"`
		Labels    map[string]string `json:"labels"`

		Annotations map[string]string `json:"annotations"`
		Finalizers  []string          `json:"finalizers"`
	} `json:"metadata"`
	Spec struct {
		Project     string   `json:"project"`
		Source      *Source  `json:"source"`
		Sources     []Source `json:"sources"`
		Destination struct {
			Server    string `json:"server"`
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"destination"`
	} `json:"spec"`
}

// Sources of an Application: it has one, or a list.
func (a Application) Sources() []Source {
	if len(a.Spec.Sources) == 0 && a.Spec.Source != nil {
		return []Source{*a.Spec.Source}
	}
	return a.Spec.Sources
}

// object is the Application as findings name it.
func (a Application) object() manifest.Object {
	o := a.Object
	o.Metadata.Name, o.Metadata.Namespace = a.Metadata.Name, cmp.Or(a.Metadata.Namespace, names.ArgoCDNamespace)
	return o
}

// Source is where an Application's manifests come from.
type Source struct {
	RepoURL        string `json:"repoURL"`
	TargetRevision string `json:"targetRevision"`
	Path           string `json:"path"`
	Chart          string `json:"chart"`
	Ref            string `json:"ref"`
	Helm           *Helm  `json:"helm"`
	Kustomize      struct {
		Patches    []types.Patch `json:"patches"`
		NamePrefix string        `json:"namePrefix"`
		NameSuffix string        `json:"nameSuffix"`
		Namespace  string        `json:"namespace"`
		Components []string      `json:"components"`
	} `json:"kustomize"`
	Directory struct {
		Recurse bool `json:"recurse"`
	} `json:"directory"`
}

// options are what it adds to a kustomization file.
func (s Source) options() kustomize.Options {
	k := s.Kustomize
	return kustomize.Options{
		Namespace: k.Namespace, NamePrefix: k.NamePrefix, NameSuffix: k.NameSuffix, Patches: k.Patches, Components: k.Components,
	}
}

// Helm is how a source's chart is rendered.
type Helm struct {
	ReleaseName             string           `json:"releaseName"`
	ValueFiles              []string         `json:"valueFiles"`
	IgnoreMissingValueFiles bool             `json:"ignoreMissingValueFiles"`
	SkipCRDs                bool             `json:"skipCrds"`
	Values                  string           `json:"values"`
	ValuesObject            map[string]any   `json:"valuesObject"`
	Parameters              []helm.Parameter `json:"parameters"`
}

// sameRepository says whether two URLs name one repository, as Argo CD compares
// them: without case, user, and the suffix .git.
func sameRepository(a, b string) bool {
	plain := func(url string) string {
		url = strings.TrimSuffix(strings.ToLower(strings.TrimSuffix(url, "/")), ".git")
		if scheme, rest, ok := strings.Cut(url, "://"); ok {
			if _, host, user := strings.Cut(rest, "@"); user {
				rest = host
			}
			return scheme + "://" + rest
		}
		return url
	}
	return plain(a) == plain(b)
}
