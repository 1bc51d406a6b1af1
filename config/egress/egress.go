// Package egress is how a cluster reaches what is outside of its network. By another proxy AKS makes
// the nodes of all pools anew (https://learn.microsoft.com/azure/aks/http-proxy).
package egress

import (
	"encoding/pem"
	"regexp"
	"slices"
	"strings"

	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/secret"
	"tombolo/config/strict"
)

// Egress is how the cluster reaches what is outside of its network: nodes, the engine and
// what it fetches. With kubernetes.existing the nodes are their owner's, and only the engine
// goes by it.
type Egress struct {
	// Proxy for HTTP and HTTPS. Default: none.
	Proxy Proxy `yaml:"proxy,omitempty"`
	// CertificateAuthority is what nodes and the engine trust beside the public
	// authorities: certificates in PEM, one or more, such as that of a proxy which
	// intercepts TLS, or of a mirror; at most 20 on Azure. Default: none.
	CertificateAuthority string `yaml:"certificateAuthority,omitempty"`
	// Images says where images come from.
	Images ImageSources `yaml:"images,omitempty" cloud:"aws"`
}

var egressFields = field.Of[Egress](map[string]field.Descriptor{
	"Proxy":                {},
	"CertificateAuthority": {Rule: strict.Rule{Secret: true}, Change: field.Always(field.RollsNodes, egressWords), AzureChange: field.Always(field.RollsNodes, aksProxyWords)},
	"Images":               {Remedy: "remove it: AKS takes no mirrors for nodes; name the mirror in the images of the platform tree, and in a manifest of the engine that gitops.distribution names"},
})

// Proxy is an HTTP proxy.
type Proxy struct {
	// URL of the proxy, http:// or https://, with its port; on Azure http:// alone. User name
	// and password are refused: user data of nodes and the engine's Deployments are no place
	// for secrets.
	URL string `yaml:"url"`
	// NoProxy is what is reached directly, beside what Tombolo adds: host names, domains
	// with a dot in front, IP addresses and blocks. Tombolo adds the network of the
	// cluster, its Services, the private endpoint of the API, the instance metadata,
	// the agent of Pod Identity and the services in network.endpoints. Default: nothing.
	NoProxy []string `yaml:"noProxy,omitempty"`
}

var proxyFields = field.Of[Proxy](map[string]field.Descriptor{
	"URL": {
		Rule:   strict.Rule{What: "the URL of an HTTP proxy", Example: "http://proxy.corp.example:3128", Pattern: regexp.MustCompile(`^https?://\S+$`), Secret: true},
		Change: field.Always(field.RollsNodes, egressWords),
		AzureChange: []field.Case{
			{
				When: "taken away", Effect: field.Impossible, Applies: takesProxy, Words: "AKS takes no proxy away by the version of its API that core speaks",
				Remedy: "keep egress.proxy; or make the cluster anew: `tombolo destroy`, then `tombolo up`",
			},
			{Effect: field.RollsNodes, Words: aksProxyWords},
		},
	},
	"NoProxy": {
		Rule: strict.Rule{
			What: "a host, a domain, an address or a block", Noun: "host", Example: ".corp.example",
			Pattern: regexp.MustCompile(`^\.?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]+)?$|^[0-9a-fA-F.:]+(/[0-9]+)?$`), Advice: form.NoProxyAdvice,
		},
		Change: field.Always(field.RollsNodes, egressWords), AzureChange: field.Always(field.RollsNodes, aksProxyWords), Unordered: true,
	},
})

// ImageSources says where images come from.
type ImageSources struct {
	// Mirrors by registry, such as docker.io, each as host, host:port or host/path. The
	// image docker.io/library/nginx comes from <mirror>/library/nginx, by HTTPS and from
	// nowhere else. Nodes use mirrors for every pod, and the images of the engine are
	// named by them. Default: none.
	Mirrors map[string]string `yaml:"mirrors,omitempty"`
	// PullSecret is what the engine's images need at the mirrors. Nodes pull other images
	// without it. Default: none.
	PullSecret *PullSecret `yaml:"pullSecret,omitempty"`
}

var imageSourcesFields = field.Of[ImageSources](map[string]field.Descriptor{
	"Mirrors":    {Change: field.Always(field.RollsNodes, egressWords)},
	"PullSecret": {Change: field.Changes("the Secret for the engine's images is made, or goes, and the engine is installed anew; once Git has its own files, Git decides")},
})

// PullSecret refers to the credentials for the mirrors; it never holds them.
type PullSecret struct {
	// Username at the mirrors.
	Username string `yaml:"username"`
	// Password says where the password or token is.
	Password *secret.SecretRef `yaml:"password"`
}

var pullSecretFields = field.Of[PullSecret](map[string]field.Descriptor{
	"Username": {Rule: strict.Rule{What: "a user name", Example: "robot", Pattern: regexp.MustCompile(`^[^\s:]+$`), Secret: true}, Change: field.Changes("the Secret for the engine's images changes")},
	"Password": {Change: field.Changes("the Secret for the engine's images changes")},
})

// What a change does that several keys share.
const (
	egressWords   = field.RollsAll + "; the engine is installed anew with it, and once Git has its own files, Git decides"
	aksProxyWords = "AKS makes the nodes of every group anew with it; the engine is installed anew with it, and once Git has its own files, Git decides"
)

// takesProxy says that the nodes of a cluster that core makes lose their proxy. Azure has
// httpProxyConfig.enabled: false for it, from version 2026-01-01 of its API on. Source:
// https://github.com/Azure/AKS/issues/5138 and "Disable HTTP proxy" in
// https://learn.microsoft.com/azure/aks/http-proxy
func takesProxy(c field.Change) bool {
	return c.Live.Proxied && !c.File.Proxied && !c.File.Existing
}

// MirrorHosts are the hosts of the mirrors, sorted, each once.
func (s ImageSources) MirrorHosts() []string {
	var out []string
	for _, mirror := range s.Mirrors {
		host, _, _ := strings.Cut(mirror, "/")
		out = append(out, host)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// OfNodes says that nodes have something to do by it.
func (e Egress) OfNodes() bool {
	return e.Proxy.URL != "" || e.CertificateAuthority != "" || len(e.Images.Mirrors) > 0
}

// Certificates are those of CertificateAuthority, in PEM and with nothing else; "" for none.
func (e Egress) Certificates() string {
	var out strings.Builder
	for block, rest := pem.Decode([]byte(e.CertificateAuthority)); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == CertificateBlock {
			out.Write(pem.EncodeToMemory(&pem.Block{Type: CertificateBlock, Bytes: block.Bytes}))
		}
	}
	return out.String()
}

// Fields are the descriptors of the package.
var Fields = field.Join(egressFields, proxyFields, imageSourcesFields, pullSecretFields)

// CertificateBlock is the type of a certificate's PEM block, by RFC 7468.
const CertificateBlock = "CERTIFICATE"
