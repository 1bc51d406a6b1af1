package addon

import (
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/internal/userdata"
)

// TestKarpenterUserData: nodes that Karpenter makes go by the cluster's egress, in the format
// of their image; without one the key is an empty text: a definition takes no null.
func TestKarpenterUserData(t *testing.T) {
	egress := userdata.Egress{Proxy: "http://proxy.corp.example:3128", NoProxy: []string{"localhost"}, Mirrors: map[string]string{"ghcr.io": "mirror.corp.example/ghcr"}}
	for alias, wants := range map[string][]string{
		"al2023@latest":        {"HTTPS_PROXY: \"http://proxy.corp.example:3128\"", "/etc/containerd/certs.d/ghcr.io/hosts.toml"},
		"bottlerocket@v1.50.0": {"https-proxy = \"http://proxy.corp.example:3128\"", "endpoint = [\"https://mirror.corp.example/v2/ghcr\"]"},
	} {
		var text string
		assert.NilError(t, json.Unmarshal([]byte(karpenterUserData(alias, egress)), &text))
		for _, want := range wants {
			assert.Check(t, is.Contains(text, want), alias)
		}
		assert.Equal(t, karpenterUserData(alias, userdata.Egress{}), `""`)
	}
}

// TestNoProxyInValues: without a proxy no chart gets one.
func TestNoProxyInValues(t *testing.T) {
	direct := facts()
	direct.Egress = userdata.Egress{}
	proxied := 0
	for _, a := range All() {
		if !a.HasValues() {
			continue
		}
		options := sampleOptions(t, a)
		out := sampleOutputs(a.Needs(facts(), options))
		text := func(f Facts) string { return inJSON(a.Values(f, options, out)) }
		assert.Check(t, !strings.Contains(strings.ToLower(text(direct)), "no_proxy"), a.Name)
		if strings.Contains(text(facts()), "proxy.corp.example") {
			proxied++
		}
	}
	assert.Equal(t, proxied, 6)
}
