package config

import (
	"net/netip"
	"strings"

	"tombolo/config/kubernetes"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// warnOfNoWay warns of a spoke whose file lets its hub's Argo CD in nowhere. It is no
// refusal: others may have let it in, by a rule that no file has.
func warnOfNoWay(doc *strict.Document, c, hub *Cluster) {
	if c.onAzure() {
		warnOfPrivateSpoke(doc, c, hub)
		return
	}
	e, at := c.Kubernetes.Endpoint, endpointPath
	if hub.onAzure() {
		return // checkAcross has refused it, or something lets the hub in
	}
	together := c.Network.Existing != nil && hub.Network.Existing != nil && c.Network.Existing.VPC == hub.Network.Existing.VPC
	// In its VPC the name of an API leads to the private endpoint, whether it has a public
	// one or not: https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html
	if e.Private == nil || !*e.Private || e.Public && !together || letsIn(e, hub) {
		return
	}
	remedy := "let in the security group of its nodes by securityGroups, or their network by privateCidrs"
	if !together && hub.Network.CIDR != "" {
		remedy = "add its network, " + hub.Network.CIDR + ", to privateCidrs"
	}
	if !together {
		remedy += "; without a connection between the networks, set public: true with the addresses of its NAT gateways in allowedCidrs"
	}
	doc.Warn(at, "lets nobody in from the hub "+wording.Quote(hub.Name)+", whose Argo CD works with this cluster by its Kubernetes API", remedy)
}

// endpointPath is the part of a cluster file that says who reaches the Kubernetes API.
const endpointPath = strict.Path("kubernetes.endpoint")

// checkAcross refuses a spoke whose private API the Argo CD of a hub in another cloud cannot
// reach. Nobody's rule helps: security groups know addresses of another cloud by their blocks
// alone, and AKS links its own zone with the network of the cluster's nodes and with no other:
// https://learn.microsoft.com/azure/aks/private-clusters#hub-and-spoke-with-custom-dns
func checkAcross(doc *strict.Document, c, hub *Cluster) {
	e := c.Kubernetes.Endpoint
	if c.onAzure() == hub.onAzure() || e.Private == nil || !*e.Private || e.Public {
		return
	}
	hubIs := "the hub " + wording.Quote(hub.Name) + " in another cloud"
	public := "or set public: true with the addresses that the hub's requests come from in allowedCidrs"
	switch {
	case c.onAzure() && e.PrivateDNSZone == kubernetes.SystemZone:
		doc.Report(endpointPath, "is private, with a name that this cluster's network alone knows: the Argo CD of "+hubIs+" does not find it",
			"set privateDnsZone: none, which makes the name public and leaves the address private, and connect the networks; "+public)
	case !c.onAzure() && !letsInNetwork(e, hub):
		block := "the hub's network"
		if hub.Network.CIDR != "" {
			block += ", " + hub.Network.CIDR + ","
		}
		doc.Report(endpointPath, "is private, and lets in no address of "+hubIs+", whose Argo CD works with this cluster by its Kubernetes API",
			"add "+block+" to privateCidrs, and connect the networks; "+public)
	}
}

// warnOfPrivateSpoke warns of a spoke in Azure whose private API its hub reaches only where
// others have connected the networks.
func warnOfPrivateSpoke(doc *strict.Document, c, hub *Cluster) {
	e := c.Kubernetes.Endpoint
	if e.Private == nil || !*e.Private || sharesNetwork(c, hub) {
		return
	}
	if !hub.onAzure() {
		doc.Warn(endpointPath, "is private, and the Argo CD of the hub "+wording.Quote(hub.Name)+" in AWS works with this cluster by its Kubernetes API",
			"connect the hub's network with this one, and see that the name of the API leads to its private address there")
		return
	}
	doc.Warn(endpointPath, "is private, and the Argo CD of the hub "+wording.Quote(hub.Name)+" works with this cluster by its Kubernetes API",
		"connect the hub's network with this one, and link it to the private DNS zone; "+
			"or set public: true with the addresses that the hub's requests come from in allowedCidrs")
}

// sharesNetwork says that two clusters are in one existing network in Azure.
func sharesNetwork(a, b *Cluster) bool {
	network := func(c *Cluster) string {
		if c.Network.Existing == nil {
			return ""
		}
		id, _, _ := strings.Cut(c.Network.Existing.NodeSubnet, "/subnets/")
		return strings.ToLower(id)
	}
	return network(a) != "" && network(a) == network(b)
}

// letsIn says that the private endpoint lets in a security group, which may be that of the
// hub's nodes, or a part of the hub's network. A network of others has a block that only AWS
// knows.
func letsIn(e kubernetes.Endpoint, hub *Cluster) bool {
	return letsInNetwork(e, hub) || len(e.SecurityGroups) > 0
}

// letsInNetwork says that the private endpoint lets in a part of the hub's network.
func letsInNetwork(e kubernetes.Endpoint, hub *Cluster) bool {
	network, err := netip.ParsePrefix(hub.Network.CIDR)
	for _, text := range e.PrivateCIDRs {
		block, bad := netip.ParsePrefix(text)
		if bad == nil && (err != nil || block.Overlaps(network)) {
			return true
		}
	}
	return false
}
