package health

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const (
	labelled = `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: istiod, namespace: istio-system, labels: {tombolo/addon: istio}}
`
	fed = `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: dns, namespace: external-dns}
spec:
  valuesFrom:
    - {kind: ConfigMap, name: external-dns-values}
`
)

func TestReleasesOfAnAddon(t *testing.T) {
	elsewhere := strings.Replace(fed, "namespace: external-dns", "namespace: other", 1)
	k := fluxWithout(t, nil, labelled, fed, elsewhere)
	for addon, want := range map[string]string{
		"istio":        "HelmRelease istio-system/istiod",
		"external-dns": "HelmRelease external-dns/dns",
		"karpenter":    "",
	} {
		got, err := releasesOf(t.Context(), k, []string{addon})
		assert.Check(t, err == nil && strings.Join(got, ", ") == want, "%s: %v, %v; want %q", addon, got, err, want)
	}
	got, err := releasesOf(t.Context(), fluxWithout(t, []string{"HelmRelease"}), []string{"istio"})
	assert.Check(t, err == nil && got == nil, "without the kind: %v, %v", got, err)
}

func TestFluxMissesWhatALabelTurnsOn(t *testing.T) {
	f := flux{monitoring: []string{"external-dns", "loki"}}
	p, err := f.look(t.Context(), fluxWithout(t, nil, platformYAML, fed))
	assert.NilError(t, err)
	missing := f.missing(p)
	assert.Assert(t, is.Len(missing, 1))
	assert.Check(t, is.Equal(missing[0].String(), "Addon loki/loki: the cluster's label monitoring turns it on, and Flux has no release of it"))
}
