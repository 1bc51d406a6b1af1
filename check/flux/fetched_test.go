package flux

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/check/findingtest"
)

// TestFetched: source-controller refuses what the definitions of its kinds allow.
func TestFetched(t *testing.T) {
	const source, helm = "source.toolkit.fluxcd.io/v1\nkind: ", "helm.toolkit.fluxcd.io/v2\nkind: HelmRelease"
	const chart = "chart: {spec: {chart: a, sourceRef: {kind: HelmRepository, name: none}, version: "
	for _, test := range []struct{ kind, spec, want string }{
		{source + "HelmRepository", "url: 'https://a.test'", ""},
		{source + "HelmRepository", "url: 'oci://a.test/charts', type: oci", ""},
		{source + "HelmRepository", "url: 'oci://a.test/charts'", "4:13 HelmRepository apps/it: spec.url is that of a registry, and spec.type is not oci: source-controller refuses it"},
		{source + "HelmRepository", "url: 'https://a.test', type: oci", "4:13 HelmRepository apps/it: spec.type is oci, and spec.url does not begin with oci://: source-controller refuses it"},
		{source + "OCIRepository", "url: 'oci://a.test:5000/a/b', ref: {semver: '>=1.0.0-0'}", ""},
		{source + "OCIRepository", "url: 'oci://a.test:5000/a/b:1.0'", "4:13 OCIRepository apps/it: spec.url has the tag 1.0: source-controller refuses it"},
		{source + "OCIRepository", "url: 'oci://a.test/a', ref: {semver: latest}", "4:45 OCIRepository apps/it: spec.ref.semver is no version and no range of versions: source-controller refuses it"},
		{source + "HelmChart", "chart: a, sourceRef: {kind: HelmRepository, name: it}, version: ^^1", "4:72 HelmChart apps/it: spec.version is no version and no range of versions: source-controller refuses it"},
		{source + "HelmChart", "chart: a, sourceRef: {kind: Bucket, name: it}, version: ^^1", ""},
		{helm, chart + "1.x}}", ""},
		{helm, chart + "newest}}", "4:89 HelmRelease apps/it: spec.chart.spec.version is no version and no range of versions: source-controller refuses it"},
	} {
		w := of(t, map[string]string{"start/a.yaml": "apiVersion: " + test.kind + "\nmetadata: {name: it, namespace: apps}\nspec: {" + test.spec + ", interval: 1m}\n"})
		w.Follow()
		if test.want != "" {
			test.want = "start/a.yaml:" + test.want
		}
		assert.Check(t, is.Equal(findingtest.Messages(w.Findings), test.want), test.spec)
	}
}
