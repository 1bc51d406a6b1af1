package flux

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestVersions: what a release of Flux does not serve is an error at apiVersion, with the version to write.
func TestVersions(t *testing.T) {
	for _, test := range []struct{ release, apiVersion, kind, remedy string }{
		{"v2.9.3", "helm.toolkit.fluxcd.io/v2beta1", "HelmRelease", "write helm.toolkit.fluxcd.io/v2"},
		{"v2.7.5", "helm.toolkit.fluxcd.io/v2beta2", "HelmRelease", ""},
		{"v2.7.5", "helm.toolkit.fluxcd.io/v2beta1", "HelmRelease", "write helm.toolkit.fluxcd.io/v2"},
		{"v2.2.0", "helm.toolkit.fluxcd.io/v2", "HelmRelease", "write helm.toolkit.fluxcd.io/v2beta2"},
		{"v2.9.3", "source.toolkit.fluxcd.io/v1beta2", "OCIRepository", "write source.toolkit.fluxcd.io/v1"},
		{"v2.9.3", "source.toolkit.fluxcd.io/v2", "GitRepository", "write source.toolkit.fluxcd.io/v1"},
		{"v2.12.0", "source.toolkit.fluxcd.io/v2", "GitRepository", ""},
		{"v2.12.0", "source.toolkit.fluxcd.io/v1beta1", "GitRepository", "write source.toolkit.fluxcd.io/v1"},
		{"v2.9.3", "notification.toolkit.fluxcd.io/v1", "Provider", "write notification.toolkit.fluxcd.io/v1beta3"},
		{"v2.9.3", "notification.toolkit.fluxcd.io/v1beta1", "Receiver", "write notification.toolkit.fluxcd.io/v1"},
		{"v2.8.8", "notification.toolkit.fluxcd.io/v1beta2", "Provider", ""},
		{"v2.9.0", "notification.toolkit.fluxcd.io/v1beta2", "Alert", "write notification.toolkit.fluxcd.io/v1beta3"},
		{"v2.8.8", "image.toolkit.fluxcd.io/v1beta2", "ImageRepository", ""},
		{"v2.9.3", "image.toolkit.fluxcd.io/v1beta2", "ImageUpdateAutomation", "write image.toolkit.fluxcd.io/v1"},
		{"v2.6.4", "image.toolkit.fluxcd.io/v1beta1", "ImagePolicy", ""},
		{"v2.6.4", "source.toolkit.fluxcd.io/v1", "ExternalArtifact", "take Flux v2.7 or later"},
		{"v2.9.3", "image.toolkit.fluxcd.io/v1alpha2", "ImagePolicy", "write image.toolkit.fluxcd.io/v1"},
		{"v2.9.3", "other.test/v1beta1", "HelmRelease", ""},
		{"", "helm.toolkit.fluxcd.io/v2beta1", "HelmRelease", ""},
	} {
		w := of(t, map[string]string{"start/a.yaml": "kind: " + test.kind + "\napiVersion: " + test.apiVersion + "\nmetadata: {name: a, namespace: b}\n"})
		w.Published.Distribution = test.release
		w.Follow()
		remedy, line := "", 2
		for _, f := range w.Findings {
			remedy, line = f.Remedy, f.Line
			if strings.HasPrefix(remedy, "take") {
				line++ // kind is before it
			}
		}
		assert.Check(t, is.Equal(remedy, test.remedy), "%v", test)
		assert.Check(t, is.Equal(line, 2), "%v", test)
	}
}
