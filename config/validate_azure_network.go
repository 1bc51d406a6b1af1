package config

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"tombolo/config/azurefacts"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// The sizes of a network that core makes in Azure. Source of the largest:
// https://learn.microsoft.com/azure/aks/concepts-network-ip-address-planning
const (
	largestNetwork  = 8
	smallestNetwork = 24
)

// NodeSubnetCIDR is the block of the subnet for nodes in a network that core makes in Azure:
// the first half, so that the other stays free for subnets to come, such as one for private
// endpoints. It fails when the network is not an IPv4 block.
func NodeSubnetCIDR(network string) (string, error) {
	block, err := netip.ParsePrefix(network)
	if err != nil || !block.Addr().Is4() {
		return "", fmt.Errorf("lay out the subnet for nodes: %q is not an IPv4 block; use one such as 10.0.0.0/16", network)
	}
	return part(block.Masked(), 1, 0).String(), nil
}

// CheckAzureNetwork checks the network of a cluster in Azure, whose pools have up to most nodes.
func CheckAzureNetwork(v *File, n Network, most int) {
	const at = strict.Path("network")
	if v.Existing {
		if v.Doc.Has(at) {
			v.Problem(at, "remove it: core reads the network from the cluster", "does not go with kubernetes.existing: the cluster has a network")
		}
		return
	}
	switch {
	case !v.Doc.Sound(at):
	case v.Doc.Has("network.existing"):
		checkAzureExistingNetwork(v, n)
	case !v.Doc.Has("network.cidr"):
		v.Problem(at, "add cidr for a new network, or existing for one that exists", "needs cidr or existing")
	default:
		checkAzureMadeNetwork(v, n, most)
	}
}

// checkAzureExistingNetwork checks the subnet of others.
func checkAzureExistingNetwork(v *File, n Network) {
	const outbound, subnet = strict.Path("network.outbound"), strict.Path("network.existing.nodeSubnet")
	if v.Doc.Has("network.cidr") {
		v.Problem("network.cidr", "remove cidr, or existing", "does not go with existing: Tombolo changes nothing in an existing network")
	}
	if !v.Doc.Has(outbound) {
		v.Problem(outbound, "add outbound: load-balancer, nat-gateway or user-defined-routing, as its owner has prepared the subnet",
			"is required with existing")
	}
	m := form.NodeSubnet.FindStringSubmatch(n.Existing.NodeSubnet)
	if m == nil {
		return
	}
	for i, what := range []string{"resource group", "network", "subnet"} {
		if name := m[i+2]; len(name) > azurefacts.MaxNetworkLabel {
			v.Problem(subnet, "use one with a shorter name",
				"the name of its %s has %d characters; AKS makes a label of nodes of it, which has at most %d", what, len(name), azurefacts.MaxNetworkLabel)
		}
	}
}

func checkAzureMadeNetwork(v *File, n Network, most int) {
	const at, outbound = strict.Path("network.cidr"), strict.Path("network.outbound")
	if n.Outbound == OutboundRoutes {
		v.Problem(outbound, "use nat-gateway or load-balancer, or an existing network whose owner routes it",
			"%s needs a route table that leads to a gateway or an appliance, and core makes none", n.Outbound)
	}
	block, ok := checkAzureBlock(v, at, n.CIDR, largestNetwork, smallestNetwork)
	if !ok {
		return
	}
	nodes := part(block, 1, 0)
	room := 1<<(32-nodes.Bits()) - azurefacts.ReservedAddresses
	if most > room {
		v.Problem(at, "use a larger block, or smaller sizes of node groups",
			"the subnet for nodes, its first half, has %d addresses for nodes, and the node groups have up to %d while AKS rolls them", room, most)
	}
}

// checkAzureBlock checks a block by itself, and returns it when it is right.
func checkAzureBlock(v *File, at strict.Path, cidr string, largest, smallest int) (netip.Prefix, bool) {
	if cidr == "" || !v.Doc.Sound(at) {
		return netip.Prefix{}, false
	}
	block, err := netip.ParsePrefix(cidr)
	switch {
	case err != nil:
		v.Problem(at, "write four numbers up to 255 and a prefix length, such as 10.0.0.0/16", "%s is not an IPv4 block", wording.Quote(cidr))
	case block != block.Masked():
		v.Problem(at, "use "+block.Masked().String(), "%s has bits set outside of its prefix", wording.Quote(cidr))
	case !private(block):
		v.Problem(at, "use a block inside "+wording.Or(privateBlocks), "%s is not a private block", wording.Quote(cidr))
	case block.Bits() < largest:
		v.Problem(at, fmt.Sprintf("use one from /%d to /%d", largest, smallest), "/%d is too large", block.Bits())
	case block.Bits() > smallest:
		v.Problem(at, fmt.Sprintf("use one from /%d to /%d", largest, smallest), "/%d is too small", block.Bits())
	default:
		return block, checkNotKept(v, at, block)
	}
	return netip.Prefix{}, false
}

// checkNotKept refuses a block of which AKS keeps a part, and says whether it does not.
func checkNotKept(v *File, at strict.Path, block netip.Prefix) bool {
	for _, reserved := range azurefacts.ReservedBlocks() {
		if block.Overlaps(reserved) {
			v.Problem(at, "use another block", "%s overlaps %s, which AKS keeps", block, reserved)
			return false
		}
	}
	return true
}

// checkPodsAndServices checks the blocks that only the cluster knows: they overlap neither each
// other nor the network.
func checkPodsAndServices(v *File, k Kubernetes, network string) {
	const pods, services = strict.Path("kubernetes.podCidr"), strict.Path("kubernetes.serviceCidr")
	block, _ := netip.ParsePrefix(network)
	podBlock, podsOK := checkAzureBlock(v, pods, k.PodCIDR, largestNetwork, azurefacts.NodeBlock)
	serviceBlock, servicesOK := checkAzureBlock(v, services, k.ServiceCIDR, largestServices, smallestServices)
	if podsOK && block.IsValid() && podBlock.Overlaps(block) && v.Doc.Sound("network.cidr") {
		v.Problem(pods, "set podCidr to a block outside of it, such as 192.168.0.0/16", "%s overlaps the network's %s", k.PodCIDR, block)
	}
	if servicesOK && block.IsValid() && serviceBlock.Overlaps(block) && v.Doc.Sound("network.cidr") {
		v.Problem(services, "set serviceCidr to a block outside of it, such as "+ServiceCIDR(network), "%s overlaps the network's %s", k.ServiceCIDR, block)
	}
	if podsOK && servicesOK && podBlock.Overlaps(serviceBlock) {
		v.Problem(services, "set serviceCidr to another block", "%s overlaps the pods' %s", k.ServiceCIDR, k.PodCIDR)
	}
	if !podsOK || !SoundSizes(v, k.NodeGroups) {
		return
	}
	if room, most := 1<<(azurefacts.NodeBlock-podBlock.Bits()), MostNodes(k.NodeGroups); most > room {
		v.Problem(pods, "use a larger block, or smaller sizes of node groups",
			"%s has room for %s, a /%d each, and the node groups have up to %d while AKS rolls them",
			k.PodCIDR, wording.Count(room, "node"), azurefacts.NodeBlock, most)
	}
}

// SoundSizes says that the sizes of all groups could be read.
func SoundSizes(v *File, groups []NodeGroup) bool {
	for i := range groups {
		at := strict.Path("kubernetes.nodeGroups").Index(i)
		if !v.Doc.Sound(at.Field("size").Field("max"), at.Field("size").Field("min"), at.Field("size").Field("desired"), at.Field("update").Field("maxSurge")) {
			return false
		}
	}
	return true
}

// MostNodes is how many nodes the pools have together while AKS rolls all of them.
func MostNodes(groups []NodeGroup) int {
	most := 0
	for _, g := range groups {
		most += *g.Size.Max + g.surge()
	}
	return most
}

// surge is how many nodes AKS adds while it rolls the pool at its largest size.
func (g NodeGroup) surge() int {
	number, percent := strings.CutSuffix(g.Update.MaxSurge, "%")
	n, err := strconv.Atoi(number)
	switch {
	case err != nil:
		return 0
	case percent:
		return (*g.Size.Max*n + 99) / 100
	}
	return min(n, *g.Size.Max)
}

// Group is the subscription and the resource group of an existing network in Azure.
func (n Network) Group() (subscription, group string) {
	if n.Existing == nil {
		return "", ""
	}
	m := form.NodeSubnet.FindStringSubmatch(n.Existing.NodeSubnet)
	if m == nil {
		return "", ""
	}
	return m[1], m[2]
}
