package config

import (
	"slices"

	"tombolo/config/awsfacts"
	"tombolo/config/network"
	"tombolo/internal/userdata"
)

// everywhere is what no pod and no node reaches by a proxy: itself, the cluster's DNS names
// (with the dot that Flux's controllers put at the end), the instance metadata and the agent
// of EKS Pod Identity, of each family of addresses. Sources:
// https://fluxcd.io/flux/installation/configuration/proxy-setting/,
// https://repost.aws/knowledge-center/eks-http-proxy-containerd-automation,
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html and
// https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html
var everywhere = []string{
	"localhost", "127.0.0.1", ".svc", ".cluster.local", ".cluster.local.",
	"169.254.169.254", "fd00:ec2::254", "169.254.170.23", "fd00:ec2::23",
}

// chosenByEKS are the blocks of which EKS takes one for the Services of a cluster that names
// none. Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html
var chosenByEKS = []string{"10.100.0.0/16", "172.20.0.0/16"}

// endpointNames are the host names of AWS services that are not <service>.<region>.<suffix>:
// "Private DNS names" of the endpoint services, and that of the gateway endpoint for S3,
// which has a name for each bucket. Sources:
// https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html,
// https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html and
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/VirtualHosting.html
func endpointNames(service, region string) []string {
	inRegion := "." + region + "." + awsfacts.DNSSuffix(region)
	switch service {
	case "ecr.api":
		return []string{"api.ecr" + inRegion}
	case "ecr.dkr":
		return []string{".dkr.ecr" + inRegion}
	case "eks-auth":
		return []string{"eks-auth." + region + ".api.aws"}
	case "s3":
		return []string{"s3" + inRegion, ".s3" + inRegion}
	}
	return []string{service + inRegion}
}

// NoProxy is what the cluster reaches without egress.proxy, in a stable order: what every
// cluster has, and what the file adds.
func (c *Cluster) NoProxy() []string {
	return append(c.ownNoProxy(), c.Egress.Proxy.NoProxy...)
}

// ownNoProxy is what the file need not say.
func (c *Cluster) ownNoProxy() []string {
	if c.onAzure() {
		return c.azureNoProxy()
	}
	out := slices.Concat(everywhere, c.serviceBlocks())
	if c.OwnsNetwork() && c.Network.CIDR != "" {
		out = append(out, c.Network.CIDR)
	}
	if private := c.Kubernetes.Endpoint.Private; c.IsExisting() || private == nil || *private {
		// The name of the private endpoint: https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html
		out = append(out, ".eks."+awsfacts.DNSSuffix(c.Cloud.Region))
	}
	if !c.OwnsNetwork() {
		return out
	}
	for _, service := range slices.Sorted(slices.Values(c.Network.Endpoints)) {
		out = append(out, endpointNames(service, c.Cloud.Region)...)
	}
	return out
}

// FileNoProxy is what of a whole list the file says.
func (c *Cluster) FileNoProxy(all []string) []string {
	own := c.ownNoProxy()
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(own, s) })
}

// serviceBlocks are those that the Services may be in.
func (c *Cluster) serviceBlocks() []string {
	switch {
	case c.Kubernetes.ServiceCIDR != "":
		return []string{c.Kubernetes.ServiceCIDR}
	case c.OwnsNetwork() && c.Network.CIDR != "":
		return []string{network.ServiceCIDR(c.Network.CIDR)}
	}
	return chosenByEKS
}

// NodeEgress is what user data says about egress.
func (c *Cluster) NodeEgress() userdata.Egress {
	e := c.Egress
	out := userdata.Egress{Proxy: e.Proxy.URL, CertificateAuthority: e.Certificates(), Mirrors: e.Images.Mirrors}
	if out.Proxy != "" {
		out.NoProxy = c.NoProxy()
	}
	return out
}

// egressTooLong says that user data of some image has no room for egress alone.
func (c *Cluster) egressTooLong() error {
	for _, family := range []userdata.Family{userdata.AL2023, userdata.Bottlerocket} {
		if _, err := userdata.Compose(family, userdata.Own{Egress: c.NodeEgress()}, ""); err != nil {
			return err
		}
	}
	return nil
}

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
