package config

import "cmp"

// The defaults of files for Azure that are the same in each.
const (
	defaultPodCIDR      = "10.244.0.0/16"
	defaultMaxPods      = 110
	defaultAzureDiskGiB = 128
	defaultMaxSurge     = "10%"
	// systemZone has AKS make the zone of the private API's name.
	systemZone = "system"
	// noZone gives the private API a public name.
	noZone = "none"
)

func (n *Network) setAzureDefaults() {
	if n.Existing == nil {
		n.Outbound = cmp.Or(n.Outbound, OutboundNATGateway)
	}
}

func (k *Kubernetes) setAzureDefaults(name, network string) {
	k.PodCIDR = cmp.Or(k.PodCIDR, defaultPodCIDR)
	k.ServiceCIDR = cmp.Or(k.ServiceCIDR, ServiceCIDR(network))
	k.Endpoint.Private = cmp.Or(k.Endpoint.Private, new(!k.Endpoint.Public))
	if *k.Endpoint.Private {
		k.Endpoint.PrivateDNSZone = cmp.Or(k.Endpoint.PrivateDNSZone, systemZone)
	}
	k.Tier = cmp.Or(k.Tier, StandardTier)
	k.Support = cmp.Or(k.Support, StandardSupport)
	k.Upgrades.Kubernetes = cmp.Or(k.Upgrades.Kubernetes, PatchUpgrades)
	k.Upgrades.NodeImages = cmp.Or(k.Upgrades.NodeImages, NodeImageChannel)
	k.NodeResourceGroup = cmp.Or(k.NodeResourceGroup, name+"-nodes")
	for i := range k.NodeGroups {
		k.NodeGroups[i].setAzureDefaults()
	}
}

func (g *NodeGroup) setAzureDefaults() {
	g.Mode = cmp.Or(g.Mode, UserPool)
	g.OS = cmp.Or(g.OS, AzureLinux)
	g.Capacity = cmp.Or(g.Capacity, OnDemand)
	g.MaxPods = cmp.Or(g.MaxPods, defaultMaxPods)
	g.DiskGiB = cmp.Or(g.DiskGiB, defaultAzureDiskGiB)
	if g.Capacity != Spot { // AKS adds no nodes while it rolls these
		g.Update.MaxSurge = cmp.Or(g.Update.MaxSurge, defaultMaxSurge)
	}
	g.Size.setDefaults()
}
