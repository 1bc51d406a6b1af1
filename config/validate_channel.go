package config

import "tombolo/config/strict"

// PrometheusAddon is the name of the addon whose Alertmanager writes to the channel.
const PrometheusAddon = "kube-prometheus-stack"

// channel checks that something can write to the channel.
func (v *validator) channel(c *Channel) {
	const at = strict.Path("gitops.channel")
	if c == nil || !v.doc.Sound(at) {
		return
	}
	if _, on := v.c.Addons[PrometheusAddon]; !on && v.c.GitOps.Engine == ArgoCD && v.doc.Sound("addons", "gitops.engine") {
		v.problem(at, "add the addon "+PrometheusAddon+", or remove it", "has no effect with Argo CD without the addon %s", PrometheusAddon)
	}
	v.secretRef(at.Field("address"), c.Address)
}

// ChannelType is the type of the platform's channel, "" without one.
func (c *Cluster) ChannelType() string {
	if c.GitOps.Channel == nil {
		return ""
	}
	return string(c.GitOps.Channel.Type)
}
