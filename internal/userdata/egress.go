package userdata

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Egress is how a node reaches what is outside of the cluster's network. The zero Egress is
// directly.
type Egress struct {
	// Proxy is the URL of an HTTP proxy, and NoProxy what is reached without it.
	Proxy   string
	NoProxy []string
	// CertificateAuthority is trusted beside the public ones: certificates in PEM.
	CertificateAuthority string
	// Mirrors by registry, as host[:port][/path]; containerd asks nobody else for the
	// images of a registry that has one.
	Mirrors map[string]string
}

func (e Egress) says() bool {
	return e.Proxy != "" || e.CertificateAuthority != "" || len(e.Mirrors) > 0
}

// The environment of programs behind a proxy.
const (
	httpProxy  = "HTTP_PROXY"
	httpsProxy = "HTTPS_PROXY"
	noProxy    = "NO_PROXY"
)

// environment is the part of a NodeConfig by which nodeadm, and every service of the node,
// goes by the proxy; nodeadm asks EC2 before any script runs. It is in the images of EKS
// since the end of 2025. Sources: nodeadm/internal/system in
// https://github.com/awslabs/amazon-eks-ami and
// https://github.com/awslabs/amazon-eks-ami/issues/2128
func (e Egress) environment() string {
	if e.Proxy == "" {
		return ""
	}
	return fmt.Sprintf("  instance:\n    environment:\n      default:\n        %s: %q\n        %s: %q\n        %s: %q\n",
		httpProxy, e.Proxy, httpsProxy, e.Proxy, noProxy, strings.Join(e.NoProxy, ","))
}

// Where AL2023 has what it trusts, and containerd what it knows of registries. Sources:
// update-ca-trust(8), https://github.com/containerd/containerd/blob/main/docs/hosts.md and
// config_path in nodeadm/internal/containerd of https://github.com/awslabs/amazon-eks-ami
const (
	anchor     = "/etc/pki/ca-trust/source/anchors/company-ca.pem"
	registries = "/etc/containerd/certs.d/"
)

// scriptHead begins Tombolo's own script.
const scriptHead = "#!/bin/sh\n# Written by Tombolo: egress of the cluster file.\nset -e\n"

// script writes the files that no NodeConfig has. Scripts run before nodeadm starts
// containerd and the kubelet. Source: nodeadm-run.service in
// https://github.com/awslabs/amazon-eks-ami
func (e Egress) script() string {
	if e.CertificateAuthority == "" && len(e.Mirrors) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(scriptHead)
	if e.CertificateAuthority != "" {
		fmt.Fprintf(&b, "cat > %s <<'EOF'\n%sEOF\nupdate-ca-trust\n", anchor, e.CertificateAuthority)
	}
	for _, registry := range slices.Sorted(maps.Keys(e.Mirrors)) {
		dir := registries + registry
		fmt.Fprintf(&b, "mkdir -p %s\ncat > %s/hosts.toml <<'EOF'\n%sEOF\n", dir, dir, hosts(e.Mirrors[registry]))
	}
	return b.String()
}

// hosts is a hosts.toml by which a mirror is asked in place of a registry, and nobody after
// it: a name that is not at the mirror is not looked up on the internet.
func hosts(mirror string) string {
	return fmt.Sprintf("server = %q\ncapabilities = [\"pull\", \"resolve\"]\noverride_path = true\n", Endpoint(mirror))
}

// Endpoint is the root of a mirror's API, https://<host>/v2[/<path>], given as
// host[:port][/path].
func Endpoint(mirror string) string {
	host, path, _ := strings.Cut(mirror, "/")
	return strings.TrimSuffix("https://"+host+"/v2/"+path, "/")
}

// mirrorOf is the mirror with that endpoint.
func mirrorOf(endpoint string) string {
	host, path, _ := strings.Cut(strings.TrimPrefix(endpoint, "https://"), "/v2")
	return host + path
}

var (
	ownEnvironment = regexp.MustCompile(`(?m)^  instance:\n    environment:\n      default:\n        HTTP_PROXY: (".*")\n        HTTPS_PROXY: ".*"\n        NO_PROXY: (".*")\n`)
	ownAnchor      = regexp.MustCompile(`(?s)cat > ` + anchor + ` <<'EOF'\n(.*?)EOF\n`)
	ownMirror      = regexp.MustCompile(`cat > ` + registries + `(\S+)/hosts\.toml <<'EOF'\nserver = (".*")\n`)
)

// readEnvironment takes Tombolo's environment out of its NodeConfig.
func (e *Egress) readEnvironment(config string) string {
	m := ownEnvironment.FindStringSubmatch(config)
	if m == nil {
		return config
	}
	e.Proxy = unquoted(m[1])
	e.NoProxy = strings.Split(unquoted(m[2]), ",")
	return strings.Replace(config, m[0], "", 1)
}

// readScript reads Tombolo's script, and says whether it is one.
func (e *Egress) readScript(text string) bool {
	if !strings.HasPrefix(text, scriptHead) {
		return false
	}
	text += "\n"
	if m := ownAnchor.FindStringSubmatch(text); m != nil {
		e.CertificateAuthority = m[1]
	}
	for _, m := range ownMirror.FindAllStringSubmatch(text, -1) {
		if e.Mirrors == nil {
			e.Mirrors = map[string]string{}
		}
		e.Mirrors[m[1]] = mirrorOf(unquoted(m[2]))
	}
	return true
}

func unquoted(s string) string {
	text, err := strconv.Unquote(s)
	if err != nil {
		return s
	}
	return text
}

// bundle is the name of the company's certificates in Bottlerocket.
const bundle = "company-ca"

// settings are those of Bottlerocket, by table. Of a mirror's endpoint the whole path counts,
// as in containerd's own settings, and the registry itself is asked after it: Bottlerocket
// has no setting against that. Sources:
// https://bottlerocket.dev/en/os/latest/#/api/settings/network/,
// https://bottlerocket.dev/en/os/latest/#/api/settings/pki/ and
// https://bottlerocket.dev/en/os/latest/#/api/settings/container-registry/
func (e Egress) settings() map[string]map[string]any {
	out := map[string]map[string]any{}
	if e.Proxy != "" {
		out["network"] = map[string]any{"https-proxy": e.Proxy, "no-proxy": e.NoProxy}
	}
	if e.CertificateAuthority != "" {
		out["pki"] = map[string]any{bundle: map[string]any{
			"data": base64.StdEncoding.EncodeToString([]byte(e.CertificateAuthority)), "trusted": true,
		}}
	}
	var mirrors []map[string]any
	for _, registry := range slices.Sorted(maps.Keys(e.Mirrors)) {
		mirrors = append(mirrors, map[string]any{"registry": registry, "endpoint": []string{Endpoint(e.Mirrors[registry])}})
	}
	if len(mirrors) > 0 {
		out["container-registry"] = map[string]any{"mirrors": mirrors}
	}
	return out
}
