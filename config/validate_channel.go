package config

import "tombolo/config/strict"

// PrometheusAddon is the name of the addon whose Alertmanager writes to the channel.
const PrometheusAddon = "kube-prometheus-stack"

// channel checks that something writes to the channel.
func (v *validator) channel(c *Channel) {
	const at = strict.Path("gitops.channel")
	if c == nil || !v.doc.Sound(at) {
		return
	}
	if _, on := v.c.Addons[PrometheusAddon]; !on && v.c.GitOps.Engine == ArgoCD && !c.HasNotices() && v.doc.Sound("addons", "gitops.engine") {
		v.problem(at, "add the addon "+PrometheusAddon+", or notices, or remove it", "has no effect with Argo CD without the addon %s and without notices", PrometheusAddon)
	}
	v.secretRef(at.Field("address"), c.Address)
}

// HasNotices says that the channel is told how runs end.
func (c *Channel) HasNotices() bool {
	return c != nil && c.Notices != "" && c.Notices != NoNotices
}

// ChannelType is the type of the platform's channel, "" without one.
func (c *Cluster) ChannelType() string {
	if c.GitOps.Channel == nil {
		return ""
	}
	return string(c.GitOps.Channel.Type)
}
