package config

import (
	"tombolo/config/addon"
	"tombolo/config/strict"
)

// PrometheusAddon is the name of the addon whose Alertmanager writes to the channel.
const PrometheusAddon = "kube-prometheus-stack"

// checkChannel checks that something writes to the channel.
func checkChannel(v *File, c *Channel, engine Engine, addons addon.Selection) {
	const at = strict.Path("gitops.channel")
	if c == nil || !v.Doc.Sound(at) {
		return
	}
	if _, on := addons[PrometheusAddon]; !on && engine == ArgoCD && !c.HasNotices() && v.Doc.Sound("addons", "gitops.engine") {
		v.Problem(at, "add the addon "+PrometheusAddon+", or notices, or remove it", "has no effect with Argo CD without the addon %s and without notices", PrometheusAddon)
	}
	checkSecretRef(v, at.Field("address"), c.Address)
}

// HasNotices says that the channel is told how runs end.
func (c *Channel) HasNotices() bool {
	return c != nil && c.Notices != "" && c.Notices != NoNotices
}
