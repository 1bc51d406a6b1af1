package userdata

import (
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"gopkg.in/yaml.v3"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func joined() Own {
	return Own{MaxPods: 110, Cluster: &Cluster{Name: "demo", Endpoint: "https://api.test", CA: "Q0E=", ServiceCIDR: "172.20.0.0/16"}}
}

const nodeConfigText = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      maxPods: 20\n"

// TestArchive: a person's parts come after Tombolo's, so that they win.
func TestArchive(t *testing.T) {
	script := "#!/bin/bash\necho hello\n"
	for _, test := range []struct {
		name, text string
		own        Own
		want       []string
	}{
		{"nothing", "", Own{}, nil},
		{"a script", script, Own{}, []string{`Content-Type: text/x-shellscript; charset="utf-8"`, "#!/bin/bash\necho hello"}},
		{"pods and a NodeConfig", nodeConfigText, Own{MaxPods: 110}, []string{"maxPods: 110", "maxPods: 20"}},
		{"a cluster", "", joined(), []string{"name: demo", "apiServerEndpoint: https://api.test", "certificateAuthority: Q0E=", "cidr: 172.20.0.0/16", "maxPods: 110"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := Compose(AL2023, test.own, test.text)
			assert.NilError(t, err)
			if test.want == nil {
				assert.Equal(t, out, "")
				return
			}
			parts, err := read(out)
			assert.NilError(t, err)
			var bodies []string
			for _, p := range parts {
				bodies = append(bodies, strings.Join(p.headers, "\n")+"\n"+p.body)
			}
			all, at := strings.Join(bodies, "\n"), 0
			for _, want := range test.want {
				i := strings.Index(all[at:], want)
				assert.Assert(t, i >= 0, "no %q after %q in:\n%s", want, all[:at], all)
				at += i
			}
		})
	}
}

// TestArchiveOfAPerson: an archive stays as it is, and with Tombolo's part all its parts stay.
func TestArchiveOfAPerson(t *testing.T) {
	given := "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n--//\nContent-Type: text/cloud-config\nX-Other: 1\n\n#cloud-config\npackages: [htop]\n--//\nContent-Type: application/node.eks.aws\n\n" + nodeConfigText + "--//--\n"
	out, err := Compose(AL2023, Own{}, given)
	assert.NilError(t, err)
	assert.Equal(t, out, given)

	out, err = Compose(AL2023, Own{MaxPods: 30}, given)
	assert.NilError(t, err)
	parts, err := read(out)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(parts, 3))
	assert.Check(t, is.Contains(parts[0].body, "maxPods: 30"))
	assert.DeepEqual(t, parts[1].headers, []string{"Content-Type: text/cloud-config", "X-Other: 1"})
	assert.Check(t, is.Contains(parts[2].body, "maxPods: 20"))
	again, err := Compose(AL2023, Own{MaxPods: 30}, given)
	assert.NilError(t, err)
	assert.Equal(t, again, out)
}

// TestBoundary: a part that has the boundary does not end early.
func TestBoundary(t *testing.T) {
	out, err := Compose(AL2023, Own{}, "#!/bin/sh\n# --tombolo--\necho end\n")
	assert.NilError(t, err)
	parts, err := read(out)
	assert.NilError(t, err)
	assert.Check(t, is.Contains(parts[0].body, "echo end"))
}

func TestSettings(t *testing.T) {
	out, err := Compose(Bottlerocket, joined(), "[settings.kubernetes]\nmax-pods = 20\n[settings.kernel]\nlockdown = \"integrity\"\n")
	assert.NilError(t, err)
	for _, want := range []string{"max-pods = 20", `cluster-dns-ip = "172.20.0.10"`, `api-server = "https://api.test"`, `cluster-name = "demo"`, "[settings.kernel]", "lockdown"} {
		assert.Check(t, is.Contains(out, want))
	}
	kept := "[settings.host-containers.admin]\nenabled = true # by hand\n"
	out, err = Compose(Bottlerocket, Own{}, kept)
	assert.NilError(t, err)
	assert.Equal(t, out, kept)
}

func TestComposeRefuses(t *testing.T) {
	for _, test := range []struct {
		family     Family
		own        Own
		text, want string
	}{
		{AL2023, Own{}, "echo hello", ErrForm.Error()},
		{AL2023, Own{}, "MIME-Version: 1.0\nContent-Type: text/plain\n\nx", `its Content-Type "text/plain" is not multipart with a boundary`},
		{AL2023, Own{}, "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b--\n", "is not a MIME archive: multipart: NextPart: EOF"},
		{AL2023, Own{}, "#!/bin/sh\n" + strings.Repeat("x", Most), "has 16538 bytes; EC2 takes 16384"},
		{Bottlerocket, Own{}, "[settings", "is not TOML"},
		{Bottlerocket, Own{}, "#!/bin/sh", "has no table settings"},
		{Bottlerocket, Own{}, "max-pods = 3\n", "has no table settings"},
		{Bottlerocket, Own{MaxPods: 3}, "[settings]\nkubernetes = 3\n", "has kubernetes, which is not a table"},
		{Bottlerocket, Own{Cluster: &Cluster{ServiceCIDR: "x"}}, "", `the service block "x" is not an IPv4 block`},
		{"windows", Own{}, "", `there is no family of images "windows"`},
	} {
		_, err := Compose(test.family, test.own, test.text)
		assert.Check(t, is.ErrorContains(err, test.want))
	}
}

// TestSplit finds again what was composed.
func TestSplit(t *testing.T) {
	settings := "[settings.kernel]\nlockdown = \"integrity\"\n"
	for _, test := range []struct {
		name   string
		family Family
		own    Own
		text   string
		pods   int
		want   string
	}{
		{"nothing", AL2023, Own{}, "", 0, ""},
		{"pods", AL2023, Own{MaxPods: 110}, "", 110, ""},
		{"a cluster and a script", AL2023, joined(), "#!/bin/sh\necho", 110, "#!/bin/sh\necho\n"},
		{"a NodeConfig of a person", AL2023, Own{}, nodeConfigText + "  instance: {}\n", 0, nodeConfigText + "  instance: {}\n"},
		{"settings", Bottlerocket, Own{}, settings, 0, settings},
		{"pods of Bottlerocket", Bottlerocket, joined(), "", 110, ""},
		{"egress alone", AL2023, Own{Egress: behindProxy()}, "", 0, ""},
		{"egress and a script", AL2023, Own{MaxPods: 60, Egress: behindProxy()}, "#!/bin/sh\necho", 60, "#!/bin/sh\necho\n"},
		{"a proxy", AL2023, Own{Egress: Egress{Proxy: "http://proxy:1", NoProxy: []string{"localhost"}}}, "", 0, ""},
		{"mirrors", AL2023, Own{Egress: Egress{Mirrors: map[string]string{"quay.io": "mirror.test:5000"}}}, "", 0, ""},
		{"egress of Bottlerocket", Bottlerocket, Own{MaxPods: 60, Egress: behindProxy()}, "", 60, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			composed, err := Compose(test.family, test.own, test.text)
			assert.NilError(t, err)
			own, text := Split(test.family, composed)
			assert.Equal(t, own.MaxPods, test.pods)
			assert.DeepEqual(t, own.Egress, test.own.Egress)
			assert.Equal(t, text, test.want)
		})
	}
}

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
