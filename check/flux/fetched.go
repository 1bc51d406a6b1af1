package flux

import (
	"strings"

	"github.com/Masterminds/semver/v3"

	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/tree"
	"tombolo/check/walk"
)

// fetched is what source-controller fetches: by a source, or a chart by a HelmChart or HelmRelease.
type fetched struct {
	URL  string `json:"url"`
	Type string `json:"type"`
	Ref  struct {
		SemVer string `json:"semver"`
	} `json:"ref"`
	SourceRef reference `json:"sourceRef"`
	Version   string    `json:"version"`
	Chart     any       `json:"chart"`
}

const oci = "oci://"

// checkFetched reports what source-controller refuses of an object that its definition allows. Source: reconcileSource
// in helmrepository_controller.go, buildFromHelmRepository in helmchart_controller.go, and parseRepository and getTagBySemver
// in ocirepository_controller.go of source-controller v1.9; cloneSemVer in gogit/clone.go of fluxcd/pkg/git.
func (w *Walk) checkFetched(in *walk.Origin, o manifest.Object, text string) {
	of, err := manifest.Decode[struct {
		Spec fetched `json:"spec"`
	}](text)
	if err != nil || o.Group() != sourceGroup && o.Group() != helmGroup || strings.Contains(text, manifest.Unset) {
		return // its own finding
	}
	refused := func(value, message, remedy string, path ...string) {
		w.Refer(in, tree.Wanted{Object: o, Path: append([]string{"spec"}, path...), Value: value}, finding.Errorf(
			"%s: %s: source-controller refuses it", o.Identity(), message).WithRemedy(remedy))
	}
	s := of.Spec
	_, image, _ := strings.Cut(strings.TrimPrefix(s.URL, oci), "/")
	_, tag, tagged := strings.Cut(image, ":")
	switch ofRegistry := strings.HasPrefix(s.URL, oci); {
	case o.Kind == "HelmRepository" && ofRegistry && s.Type != "oci":
		refused(s.URL, "spec.url is that of a registry, and spec.type is not oci", "set type: oci", "url")
	case o.Kind == "HelmRepository" && !ofRegistry && s.Type == "oci":
		refused(s.URL, "spec.type is oci, and spec.url does not begin with "+oci, "write "+oci+", or remove the type", "url")
	case o.Kind == "OCIRepository" && ofRegistry && tagged:
		refused(s.URL, "spec.url has the tag "+tag, "remove it from the URL, and set ref.tag", "url")
	}
	version := func(value string, path ...string) {
		if _, err := semver.NewConstraint(value); value != "" && err != nil {
			refused(value, strings.Join(append([]string{"spec"}, path...), ".")+" is no version and no range of versions", `write it like "1.2.3", "1.x" or ">=1.2.3 <2.0.0"`, path...)
		}
	}
	version(s.Ref.SemVer, "ref", "semver")
	if s.SourceRef.Kind == "HelmRepository" {
		version(s.Version, "version")
	}
	chart, _ := s.Chart.(map[string]any)
	spec, _ := chart["spec"].(map[string]any)
	from, _ := spec["sourceRef"].(map[string]any)
	if value, is := spec["version"].(string); is && from["kind"] == "HelmRepository" {
		version(value, "chart", "spec", "version")
	}
}
