package argocd

import (
	"encoding/json"
	"path"
	"reflect"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/yaml"

	"tombolo/check/finding"
	"tombolo/check/helm"
	"tombolo/check/kustomize"
	"tombolo/check/tree"
	"tombolo/check/walk"
)

// Source is where an Application's manifests come from.
type Source struct {
	RepoURL        string `json:"repoURL"`
	TargetRevision string `json:"targetRevision"`
	Path           string `json:"path"`
	Chart          string `json:"chart"`
	Ref            string `json:"ref"`
	Helm           *Helm  `json:"helm"`
	// Kustomize and Directory are how a kustomization and a directory are read.
	Kustomize *kustomization `json:"kustomize"`
	Directory *directory     `json:"directory"`
	// Plugin is the config management plugin that makes the manifests.
	Plugin json.RawMessage `json:"plugin"`
}

// kustomization is what a source adds to a kustomization file.
type kustomization struct {
	Patches    []types.Patch `json:"patches"`
	NamePrefix string        `json:"namePrefix"`
	NameSuffix string        `json:"nameSuffix"`
	Namespace  string        `json:"namespace"`
	Components []string      `json:"components"`
	// IgnoreMissingComponents leaves out components that are not there.
	IgnoreMissingComponents bool `json:"ignoreMissingComponents"`
}

// options are what it adds to a kustomization file. Argo CD lets kustomize load files of the
// kustomization's own directory alone, unless kustomize.buildOptions says otherwise.
// Source: docs/user-guide/kustomize.md of argoproj/argo-cd.
func (s Source) options() kustomize.Options {
	o := kustomize.Options{OwnFilesOnly: true}
	if k := s.Kustomize; k != nil {
		o.Namespace, o.NamePrefix, o.NameSuffix, o.Patches, o.Components = k.Namespace, k.NamePrefix, k.NameSuffix, k.Patches, k.Components
		o.IgnoreMissingComponents = k.IgnoreMissingComponents
	}
	return o
}

// Kinds of sources, by who makes their manifests.
const (
	ofHelm      = "Helm"
	ofKustomize = "kustomize"
	ofDirectory = "a directory"
	ofPlugin    = "a plugin"
)

// kinds are those that the source names: one, or Argo CD looks at its files. A block without
// anything in it counts for none. Source: NormalizeSource in util/argo/argo.go of argoproj/argo-cd v3.5.
func (s Source) kinds() []string {
	var out []string
	for _, of := range []struct {
		kind  string
		named bool
	}{
		{ofHelm, s.Helm != nil && !reflect.DeepEqual(*s.Helm, Helm{})},
		{ofKustomize, s.Kustomize != nil && !reflect.DeepEqual(*s.Kustomize, kustomization{})},
		{ofDirectory, s.Directory != nil && *s.Directory != directory{}},
		{ofPlugin, s.hasPlugin()},
	} {
		if of.named {
			out = append(out, of.kind)
		}
	}
	return out
}

// hasPlugin says whether a plugin makes the manifests of a source.
func (s Source) hasPlugin() bool { return len(s.Plugin) > 0 && string(s.Plugin) != "null" }

// kindOf is by whom the manifests of a source are made: what it says, or what its directory has. It reports a
// source whose directory cannot be that, which Argo CD does not make anything of.
func (w *Walk) kindOf(parent *walk.Origin, app Application, from Source) (string, bool) {
	dir := tree.Relative(from.Path)
	_, kustomized := w.Builds.File(dir)
	chart := w.Files.IsFile(path.Join(dir, "Chart.yaml"))
	var message string
	switch kinds := from.kinds(); {
	case len(kinds) > 1:
		message = "its source is of " + strings.Join(kinds, " and of ") + ", and can be of one kind alone"
	case len(kinds) == 0 && chart:
		return ofHelm, true
	case len(kinds) == 0 && kustomized:
		return ofKustomize, true
	case len(kinds) == 0:
		return ofDirectory, true
	case kinds[0] == ofHelm && !chart:
		message = "its source has settings for Helm, and " + dir + " has no Chart.yaml"
	case kinds[0] == ofKustomize && !kustomized:
		message = "its source has settings for kustomize, and " + dir + " has no kustomization.yaml"
	default:
		return kinds[0], true
	}
	w.Incomplete = true
	w.referSource(parent, app, "path", from.Path, finding.Errorf("%s: %s", w.named(app), message).
		WithRemedy("remove the settings of the other kind, or correct the path"))
	return "", false
}

// withFilesOfSource is a source with what .argocd-source.yaml and .argocd-source-<application>.yaml of its
// directory put over it. Source: mergeSourceParameters in reposerver/repository/repository.go of
// argoproj/argo-cd v3.5.
func (w *Walk) withFilesOfSource(app Application, from Source) (Source, bool) {
	for _, name := range []string{".argocd-source.yaml", ".argocd-source-" + app.Metadata.Name + ".yaml"} {
		file := path.Join(tree.Relative(from.Path), name)
		if !w.Files.IsFile(file) {
			continue
		}
		merged, err := w.withFile(from, file)
		if err != nil {
			w.Incomplete = true
			w.At(tree.Place{File: file}, finding.Errorf("cannot be put over the source of %s: %s", w.named(app), walk.Innermost(err)).
				WithRemedy("write it as fields of an Application's source"))
			return from, false
		}
		merged.Chart, merged.Path, merged.RepoURL, merged.TargetRevision = from.Chart, from.Path, from.RepoURL, from.TargetRevision
		from = merged
	}
	return from, true
}

func (w *Walk) withFile(from Source, file string) (Source, error) {
	text, err := w.Files.Read(file)
	if err != nil {
		return from, err
	}
	patch, err := yaml.YAMLToJSON(text)
	if err != nil {
		return from, err
	}
	below, err := json.Marshal(from)
	if err != nil {
		return from, err
	}
	merged, err := jsonpatch.MergePatch(below, patch)
	if err != nil {
		return from, err
	}
	var out Source
	err = json.Unmarshal(merged, &out)
	return out, err
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
	// FileParameters are values that are the texts of files.
	FileParameters []struct {
		Name string `json:"name"`
		Path string `json:"path"`
	} `json:"fileParameters"`
}
