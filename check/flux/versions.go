package flux

import (
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"tombolo/check/finding"
	"tombolo/check/manifest"
	"tombolo/check/near"
	"tombolo/check/tree"
)

// served is from which release of Flux on an API version is served, and from which it is no more; "" is
// from the first, and to the last.
type served struct{ version, since, gone string }

// servedVersions are those of Flux's kinds, the one to write first. Source: served in the definitions in config/crd/bases
// of the controllers that manifests/crds of flux2 v2.6.4, v2.7.5, v2.8.8 and v2.9.3 names; for what v2.2, v2.3 and v2.5
// added, the release notes of fluxcd/flux2.
var servedVersions = map[string][]served{
	kustomizeGroup + "/Kustomization":               {{version: "v1"}, {"v1beta2", "", "v2.8"}, {"v1beta1", "", "v2.7"}},
	helmGroup + "/HelmRelease":                      {{"v2", "v2.3", ""}, {"v2beta2", "v2.2", "v2.8"}, {"v2beta1", "", "v2.7"}},
	sourceGroup + "/GitRepository":                  {{version: "v1"}, {"v1beta2", "", "v2.8"}, {"v1beta1", "", "v2.7"}},
	sourceGroup + "/HelmRepository":                 {{"v1", "v2.3", ""}, {"v1beta2", "", "v2.8"}, {"v1beta1", "", "v2.7"}},
	sourceGroup + "/HelmChart":                      {{"v1", "v2.3", ""}, {"v1beta2", "", "v2.8"}, {"v1beta1", "", "v2.7"}},
	sourceGroup + "/Bucket":                         {{"v1", "v2.5", ""}, {"v1beta2", "", "v2.8"}, {"v1beta1", "", "v2.7"}},
	sourceGroup + "/OCIRepository":                  {{"v1", "v2.6", ""}, {"v1beta2", "", "v2.8"}},
	sourceGroup + "/ExternalArtifact":               {{"v1", "v2.7", ""}},
	extensionsGroup + "/ArtifactGenerator":          {{"v1beta1", "v2.7", ""}},
	notificationGroup + "/Provider":                 {{"v1beta3", "v2.2", ""}, {"v1beta2", "", "v2.9"}, {"v1beta1", "", "v2.7"}},
	notificationGroup + "/Alert":                    {{"v1beta3", "v2.2", ""}, {"v1beta2", "", "v2.9"}, {"v1beta1", "", "v2.7"}},
	notificationGroup + "/Receiver":                 {{version: "v1"}, {"v1beta2", "", "v2.9"}, {"v1beta1", "", "v2.7"}},
	"image.toolkit.fluxcd.io/ImageRepository":       {{"v1", "v2.7", ""}, {"v1beta2", "", "v2.9"}, {"v1beta1", "", "v2.7"}},
	"image.toolkit.fluxcd.io/ImagePolicy":           {{"v1", "v2.7", ""}, {"v1beta2", "", "v2.9"}, {"v1beta1", "", "v2.7"}},
	"image.toolkit.fluxcd.io/ImageUpdateAutomation": {{"v1", "v2.7", ""}, {"v1beta2", "", "v2.9"}, {"v1beta1", "", "v2.7"}},
}

const (
	sourceGroup       = "source.toolkit.fluxcd.io"
	notificationGroup = "notification.toolkit.fluxcd.io"
	// lastKnown is the last release that servedVersions is known for: a later one may add versions.
	lastKnown = "v2.9"
)

// in says whether a release of Flux serves the version.
func (v served) in(release string) bool {
	return (v.since == "" || semver.Compare(release, v.since) >= 0) && (v.gone == "" || semver.Compare(release, v.gone) < 0)
}

// checkVersion looks whether the cluster's Flux serves the API version of an object of Flux: without it, the
// dry-run of the object's Kustomization fails, and nothing of it is applied.
func (w *Walk) checkVersion(s *sync, o manifest.Object) {
	release := semver.MajorMinor(w.Published.Distribution)
	known, ok := servedVersions[o.Group()+"/"+o.Kind]
	_, version, _ := strings.Cut(o.APIVersion, "/")
	if release == "" {
		return
	}
	if !ok {
		w.checkKind(s, o, release)
		return
	}
	if at := slices.IndexFunc(known, func(v served) bool { return v.gone == "" }); at >= 0 && !slices.ContainsFunc(known, func(v served) bool { return v.in(release) }) {
		w.Refer(s.origin, tree.Wanted{Object: o, Path: []string{"kind"}, Value: o.Kind}, finding.Errorf(
			"%s: Flux %s, which gitops.distribution.version names, does not have the kind %s: %s stops at it",
			o.Identity(), w.Published.Distribution, o.Kind, s.Identity()).WithRemedy("take Flux "+known[at].since+" or later"))
		return
	}
	write, listed := "", false
	for _, v := range known {
		listed = listed || v.version == version
		switch {
		case v.in(release) && v.version == version:
			return
		case v.in(release) && write == "":
			write = v.version
		}
	}
	if write == "" || !listed && semver.Compare(release, lastKnown) > 0 {
		return
	}
	w.Refer(s.origin, tree.Wanted{Object: o, Path: []string{"apiVersion"}, Value: o.APIVersion}, finding.Errorf(
		"%s: Flux %s, which gitops.distribution.version names, does not serve %s of %s: %s stops at it",
		o.Identity(), w.Published.Distribution, o.APIVersion, o.Kind, s.Identity()).WithRemedy("write "+o.Group()+"/"+write))
}

// checkKind reports a kind that a group of Flux does not have in a release that is known.
func (w *Walk) checkKind(s *sync, o manifest.Object, release string) {
	var kinds []string
	for known := range servedVersions {
		if kind, ok := strings.CutPrefix(known, o.Group()+"/"); ok {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) == 0 || semver.Compare(release, lastKnown) > 0 {
		return
	}
	w.Refer(s.origin, tree.Wanted{Object: o, Path: []string{"kind"}, Value: o.Kind}, finding.Errorf(
		"%s: Flux %s has no kind %s in %s: %s stops at it", o.Identity(), w.Published.Distribution, o.Kind, o.Group(), s.Identity()).
		WithRemedy(near.DidYouMean(o.Kind, kinds, "correct the kind")))
}
