package config

import (
	"strings"

	"tombolo/config/azurefacts"
	"tombolo/config/strict"
)

// CheckAzureEgress checks how the cluster reaches what is outside of its network. Nodes get it by
// the proxy configuration of AKS: https://learn.microsoft.com/azure/aks/http-proxy
func CheckAzureEgress(v *File, e Egress) {
	const at = strict.Path("egress")
	if !v.Doc.Has(at) || !v.Doc.Sound(at) {
		return
	}
	checkOutside(v, at, e)
	if v.Existing { // its nodes are their owner's
		return
	}
	url, authorities := at.Field("proxy").Field("url"), at.Field("certificateAuthority")
	if strings.HasPrefix(e.Proxy.URL, "https://") && v.Doc.Sound(url) {
		v.Problem(url, "use the proxy's http:// address: what is sent through it is encrypted none the less",
			"begins with https://, and AKS takes a proxy for HTTP by http:// alone")
		v.Doc.Conceal()
	}
	if e.CertificateAuthority != "" && e.Proxy.URL == "" && v.Doc.Sound(authorities, url) {
		v.Problem(authorities, "add egress.proxy, or remove it", "has no effect without egress.proxy: AKS gives nodes authorities together with a proxy")
	}
	if n := strings.Count(e.Certificates(), "-----BEGIN "+certificateBlock); n > azurefacts.MaxAuthorities && v.Doc.Sound(authorities) {
		v.Problem(authorities, "leave those of the proxy", "has %d certificates; AKS takes %d", n, azurefacts.MaxAuthorities)
		v.Doc.Conceal()
	}
}
