package config

import (
	"strings"

	"tombolo/config/azurefacts"
	"tombolo/config/strict"
)

// azureEgress checks how the cluster reaches what is outside of its network. Nodes get it by
// the proxy configuration of AKS: https://learn.microsoft.com/azure/aks/http-proxy
func (v *validator) azureEgress() {
	at, e := strict.Path("egress"), v.c.Egress
	if !v.doc.Has(at) || !v.doc.Sound(at) {
		return
	}
	v.outside(at, e)
	if v.c.IsExisting() { // its nodes are their owner's
		return
	}
	url, authorities := at.Field("proxy").Field("url"), at.Field("certificateAuthority")
	if strings.HasPrefix(e.Proxy.URL, "https://") && v.doc.Sound(url) {
		v.problem(url, "use the proxy's http:// address: what is sent through it is encrypted none the less",
			"begins with https://, and AKS takes a proxy for HTTP by http:// alone")
		v.doc.Conceal()
	}
	if e.CertificateAuthority != "" && e.Proxy.URL == "" && v.doc.Sound(authorities, url) {
		v.problem(authorities, "add egress.proxy, or remove it", "has no effect without egress.proxy: AKS gives nodes authorities together with a proxy")
	}
	if n := strings.Count(e.Certificates(), "-----BEGIN "+certificateBlock); n > azurefacts.MaxAuthorities && v.doc.Sound(authorities) {
		v.problem(authorities, "leave those of the proxy", "has %d certificates; AKS takes %d", n, azurefacts.MaxAuthorities)
		v.doc.Conceal()
	}
}
