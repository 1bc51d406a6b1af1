package check

import (
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/check/substitution"
	"tombolo/config"
	"tombolo/config/addon"
)

// TestGatewayByCloud: the one Gateway of the trees has what bootstrap publishes for a cloud in
// its place, as mappings. TestBothEnginesMakeTheSame holds the other tree.
func TestGatewayByCloud(t *testing.T) {
	const probe = "service.beta.kubernetes.io/port_443_health-probe_port"
	for _, c := range []struct {
		file, protocol string
		tls            any
		probe          any
	}{
		{file: "../clusters/full.yaml", protocol: "HTTP"},
		{
			file: "../config/testdata/good/azure-full.yaml", protocol: "HTTPS", probe: "15021",
			tls: map[string]any{"mode": "Terminate", "certificateRefs": []any{map[string]any{"name": "public-tls"}}},
		},
	} {
		cluster, err := config.Load(c.file)
		assert.NilError(t, err)
		values := fleetOfAll(t, "clusters/prod")[0].Examples()
		for _, k := range addon.Find("istio").Keys() {
			values[k.Name] = k.Value(cluster.AddonFacts(), cluster.Addons["istio"], addon.Outputs{Certificate: "arn:aws:acm:eu-central-1:111122223333:certificate/1"})
		}
		_, objects := fluxReleases(t, substitution.Variables{Values: values, Substituting: true})
		spec := objects["Gateway public"]["spec"].(map[string]any)
		listeners := spec["listeners"].([]any)
		https := listeners[len(listeners)-1].(map[string]any)
		annotations := spec["infrastructure"].(map[string]any)["annotations"].(map[string]any)
		assert.Equal(t, https["protocol"], c.protocol, c.file)
		assert.DeepEqual(t, https["tls"], c.tls)
		assert.Equal(t, annotations[probe], c.probe, c.file)
		assert.Equal(t, annotations["service.beta.kubernetes.io/aws-load-balancer-ssl-cert"] != nil, c.protocol == "HTTP", c.file)
	}
}
