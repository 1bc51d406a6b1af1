package userdata

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const authority = "-----BEGIN CERTIFICATE-----\nQ0E=\n-----END CERTIFICATE-----\n"

func behindProxy() Egress {
	return Egress{
		Proxy: "http://proxy.corp.example:3128", NoProxy: []string{".corp.example", "10.0.0.0/16"}, CertificateAuthority: authority,
		Mirrors: map[string]string{"docker.io": "mirror.corp.example/docker-hub", "localhost:5000": "mirror.corp.example:8443"},
	}
}

// TestEgressOfAL2023: nodeadm has the proxy before any script runs, and the script writes
// what containerd and TLS go by.
func TestEgressOfAL2023(t *testing.T) {
	out, err := Compose(AL2023, Own{Egress: behindProxy()}, "#!/bin/sh\necho mine\n")
	assert.NilError(t, err)
	parts, err := read(out)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(parts, 3))
	var config struct {
		Spec struct {
			Instance struct {
				Environment map[string]map[string]string
			}
		}
	}
	assert.NilError(t, yaml.Unmarshal([]byte(parts[0].body), &config))
	assert.DeepEqual(t, config.Spec.Instance.Environment, map[string]map[string]string{"default": {
		"HTTP_PROXY": "http://proxy.corp.example:3128", "HTTPS_PROXY": "http://proxy.corp.example:3128", "NO_PROXY": ".corp.example,10.0.0.0/16",
	}})
	for _, want := range []string{
		"cat > /etc/pki/ca-trust/source/anchors/company-ca.pem <<'EOF'\n" + authority + "EOF\nupdate-ca-trust\n",
		"mkdir -p /etc/containerd/certs.d/docker.io\n",
		"server = \"https://mirror.corp.example/v2/docker-hub\"\ncapabilities = [\"pull\", \"resolve\"]\noverride_path = true\n",
		"/etc/containerd/certs.d/localhost:5000/hosts.toml <<'EOF'\nserver = \"https://mirror.corp.example:8443/v2\"\n",
	} {
		assert.Check(t, is.Contains(parts[1].body, want))
	}
	assert.Check(t, is.Contains(parts[2].body, "echo mine"))
}

// TestEgressOfBottlerocket: what a person says about a table stays.
func TestEgressOfBottlerocket(t *testing.T) {
	out, err := Compose(Bottlerocket, Own{Egress: behindProxy()}, "[settings.network]\nno-proxy = [\"mine\"]\n")
	assert.NilError(t, err)
	var all map[string]map[string]map[string]any
	_, err = toml.Decode(out, &all)
	assert.NilError(t, err)
	assert.DeepEqual(t, all["settings"]["network"], map[string]any{"https-proxy": "http://proxy.corp.example:3128", "no-proxy": []any{"mine"}})
	assert.DeepEqual(t, all["settings"]["pki"]["company-ca"], map[string]any{"data": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tClEwRT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=", "trusted": true})
	assert.DeepEqual(t, all["settings"]["container-registry"]["mirrors"], []map[string]any{
		{"registry": "docker.io", "endpoint": []any{"https://mirror.corp.example/v2/docker-hub"}},
		{"registry": "localhost:5000", "endpoint": []any{"https://mirror.corp.example:8443/v2"}},
	})
}

// TestEgressIsTooLong: certificates are the longest part.
func TestEgressIsTooLong(t *testing.T) {
	egress := behindProxy()
	egress.CertificateAuthority = strings.Repeat(authority, 300)
	for _, family := range []Family{AL2023, Bottlerocket} {
		_, err := Compose(family, Own{Egress: egress}, "")
		assert.Check(t, is.ErrorContains(err, "EC2 takes 16384"))
	}
}
