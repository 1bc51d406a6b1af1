package contract

import (
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/api/types"

	"tombolo/internal/names"
)

// argocdGroup is the API group of Argo CD's objects.
const argocdGroup = "argoproj.io"

// applicationSet is an ApplicationSet.
type applicationSet struct {
	manifest
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

// application is an Application.
type application struct {
	manifest
	Metadata struct {
		Name      string            `json:"name"`
		Namespace string            `json:"namespace"`
		Labels    map[string]string `json:"labels"`

		Annotations map[string]string `json:"annotations"`
		Finalizers  []string          `json:"finalizers"`
	} `json:"metadata"`
	Spec struct {
		Source      *source  `json:"source"`
		Sources     []source `json:"sources"`
		Destination struct {
			Namespace string `json:"namespace"`
		} `json:"destination"`
	} `json:"spec"`
}

// sources of an Application: it has one, or a list.
func (a application) sources() []source {
	if len(a.Spec.Sources) == 0 && a.Spec.Source != nil {
		return []source{*a.Spec.Source}
	}
	return a.Spec.Sources
}

// object is the Application as findings name it.
func (a application) object() manifest {
	m := a.manifest
	m.Metadata.Name, m.Metadata.Namespace = a.Metadata.Name, a.Metadata.Namespace
	if m.Metadata.Namespace == "" {
		m.Metadata.Namespace = names.ArgoCDNamespace
	}
	return m
}

// source is where an Application's manifests come from.
type source struct {
	RepoURL        string      `json:"repoURL"`
	TargetRevision string      `json:"targetRevision"`
	Path           string      `json:"path"`
	Chart          string      `json:"chart"`
	Ref            string      `json:"ref"`
	Helm           *helmSource `json:"helm"`
	Kustomize      *struct {
		Patches    []types.Patch `json:"patches"`
		NamePrefix string        `json:"namePrefix"`
		NameSuffix string        `json:"nameSuffix"`
		Namespace  string        `json:"namespace"`
		Components []string      `json:"components"`
	} `json:"kustomize"`
	Directory *struct {
		Recurse bool `json:"recurse"`
	} `json:"directory"`
}

// helmSource is how a source's chart is rendered.
type helmSource struct {
	ReleaseName             string         `json:"releaseName"`
	ValueFiles              []string       `json:"valueFiles"`
	IgnoreMissingValueFiles bool           `json:"ignoreMissingValueFiles"`
	SkipCRDs                bool           `json:"skipCrds"`
	Values                  string         `json:"values"`
	ValuesObject            map[string]any `json:"valuesObject"`
	Parameters              []struct {
		Name        string `json:"name"`
		Value       string `json:"value"`
		ForceString bool   `json:"forceString"`
	} `json:"parameters"`
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
