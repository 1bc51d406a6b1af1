package config

import "slices"

// everywhereInAzure is what no pod and no node in Azure reaches by a proxy: itself, the
// cluster's DNS names (with the dot that Flux's controllers put at the end), the instance
// metadata and the platform's own address. Sources:
// https://learn.microsoft.com/azure/aks/http-proxy,
// https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service and
// https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
var everywhereInAzure = []string{
	"localhost", "127.0.0.1", ".svc", ".cluster.local", ".cluster.local.", "169.254.169.254", "168.63.129.16",
}

// azureNoProxy is what a file for Azure need not say. The blocks of an existing cluster are
// its owner's, and not known here.
func (c *Cluster) azureNoProxy() []string {
	out := slices.Clone(everywhereInAzure)
	for _, block := range []string{c.Kubernetes.ServiceCIDR, c.Kubernetes.PodCIDR, c.Network.CIDR} {
		if block != "" {
			out = append(out, block)
		}
	}
	// The names of the private endpoint: https://learn.microsoft.com/azure/aks/private-clusters
	if private := c.Kubernetes.Endpoint.Private; c.IsExisting() || private == nil || *private {
		out = append(out, ".azmk8s.io")
	}
	return out
}
