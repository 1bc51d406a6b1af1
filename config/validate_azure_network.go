package config

import (
	"fmt"
	"net/netip"
	"reflect"
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

func (v *validator) azureNetwork() {
	n := v.c.Network
	const at = strict.Path("network")
	if v.c.IsExisting() {
		if v.doc.Has(at) {
			v.problem(at, "remove it: core reads the network from the cluster", "does not go with kubernetes.existing: the cluster has a network")
		}
		return
	}
	v.requiredKeys("", reflect.TypeFor[Cluster](), "network")
	switch {
	case !v.doc.Sound(at):
	case v.doc.Has("network.existing"):
		v.azureExistingNetwork(n)
	case !v.doc.Has("network.cidr"):
		v.problem(at, "add cidr for a new network, or existing for one that exists", "needs cidr or existing")
	default:
		v.azureMadeNetwork(n)
	}
	v.podsAndServices()
}

// azureExistingNetwork checks the subnet of others.
func (v *validator) azureExistingNetwork(n Network) {
	const outbound, subnet = strict.Path("network.outbound"), strict.Path("network.existing.nodeSubnet")
	if v.doc.Has("network.cidr") {
		v.problem("network.cidr", "remove cidr, or existing", "does not go with existing: Tombolo changes nothing in an existing network")
	}
	if !v.doc.Has(outbound) {
		v.problem(outbound, "add outbound: load-balancer, nat-gateway or user-defined-routing, as its owner has prepared the subnet",
			"is required with existing")
	}
	m := form.NodeSubnet.FindStringSubmatch(n.Existing.NodeSubnet)
	if m == nil {
		return
	}
	for i, what := range []string{"resource group", "network", "subnet"} {
		if name := m[i+2]; len(name) > azurefacts.MaxNetworkLabel {
			v.problem(subnet, "use one with a shorter name",
				"the name of its %s has %d characters; AKS makes a label of nodes of it, which has at most %d", what, len(name), azurefacts.MaxNetworkLabel)
		}
	}
}

func (v *validator) azureMadeNetwork(n Network) {
	const at, outbound = strict.Path("network.cidr"), strict.Path("network.outbound")
	if n.Outbound == OutboundRoutes {
		v.problem(outbound, "use nat-gateway or load-balancer, or an existing network whose owner routes it",
			"%s needs a route table that leads to a gateway or an appliance, and core makes none", n.Outbound)
	}
	block, ok := v.azureBlock(at, n.CIDR, largestNetwork, smallestNetwork)
	if !ok {
		return
	}
	nodes := part(block, 1, 0)
	room := 1<<(32-nodes.Bits()) - azurefacts.ReservedAddresses
	if most := v.c.Kubernetes.mostNodes(); most > room && v.soundSizes() {
		v.problem(at, "use a larger block, or smaller sizes of node groups",
			"the subnet for nodes, its first half, has %d addresses for nodes, and the node groups have up to %d while AKS rolls them", room, most)
	}
}

// azureBlock checks a block by itself, and returns it when it is right.
func (v *validator) azureBlock(at strict.Path, cidr string, largest, smallest int) (netip.Prefix, bool) {
	if cidr == "" || !v.doc.Sound(at) {
		return netip.Prefix{}, false
	}
	block, err := netip.ParsePrefix(cidr)
	switch {
	case err != nil:
		v.problem(at, "write four numbers up to 255 and a prefix length, such as 10.0.0.0/16", "%s is not an IPv4 block", wording.Quote(cidr))
	case block != block.Masked():
		v.problem(at, "use "+block.Masked().String(), "%s has bits set outside of its prefix", wording.Quote(cidr))
	case !private(block):
		v.problem(at, "use a block inside "+wording.Or(privateBlocks), "%s is not a private block", wording.Quote(cidr))
	case block.Bits() < largest:
		v.problem(at, fmt.Sprintf("use one from /%d to /%d", largest, smallest), "/%d is too large", block.Bits())
	case block.Bits() > smallest:
		v.problem(at, fmt.Sprintf("use one from /%d to /%d", largest, smallest), "/%d is too small", block.Bits())
	default:
		return block, v.notKept(at, block)
	}
	return netip.Prefix{}, false
}

// notKept refuses a block of which AKS keeps a part, and says whether it does not.
func (v *validator) notKept(at strict.Path, block netip.Prefix) bool {
	for _, reserved := range azurefacts.ReservedBlocks() {
		if block.Overlaps(reserved) {
			v.problem(at, "use another block", "%s overlaps %s, which AKS keeps", block, reserved)
			return false
		}
	}
	return true
}

// podsAndServices checks the blocks that only the cluster knows: they overlap neither each
// other nor the network.
func (v *validator) podsAndServices() {
	const pods, services = strict.Path("kubernetes.podCidr"), strict.Path("kubernetes.serviceCidr")
	k := v.c.Kubernetes
	network, _ := netip.ParsePrefix(v.c.Network.CIDR)
	podBlock, podsOK := v.azureBlock(pods, k.PodCIDR, largestNetwork, azurefacts.NodeBlock)
	serviceBlock, servicesOK := v.azureBlock(services, k.ServiceCIDR, largestServices, smallestServices)
	if podsOK && network.IsValid() && podBlock.Overlaps(network) && v.doc.Sound("network.cidr") {
		v.problem(pods, "set podCidr to a block outside of it, such as 192.168.0.0/16", "%s overlaps the network's %s", k.PodCIDR, network)
	}
	if servicesOK && network.IsValid() && serviceBlock.Overlaps(network) && v.doc.Sound("network.cidr") {
		v.problem(services, "set serviceCidr to a block outside of it, such as "+ServiceCIDR(v.c.Network.CIDR), "%s overlaps the network's %s", k.ServiceCIDR, network)
	}
	if podsOK && servicesOK && podBlock.Overlaps(serviceBlock) {
		v.problem(services, "set serviceCidr to another block", "%s overlaps the pods' %s", k.ServiceCIDR, k.PodCIDR)
	}
	if !podsOK || !v.soundSizes() {
		return
	}
	if room, most := 1<<(azurefacts.NodeBlock-podBlock.Bits()), k.mostNodes(); most > room {
		v.problem(pods, "use a larger block, or smaller sizes of node groups",
			"%s has room for %s, a /%d each, and the node groups have up to %d while AKS rolls them",
			k.PodCIDR, wording.Count(room, "node"), azurefacts.NodeBlock, most)
	}
}

func (v *validator) soundSizes() bool {
	for i := range v.c.Kubernetes.NodeGroups {
		at := strict.Path("kubernetes.nodeGroups").Index(i)
		if !v.doc.Sound(at.Field("size").Field("max"), at.Field("size").Field("min"), at.Field("size").Field("desired"), at.Field("update").Field("maxSurge")) {
			return false
		}
	}
	return true
}

// mostNodes is how many nodes the pools have together while AKS rolls all of them.
func (k Kubernetes) mostNodes() int {
	most := 0
	for _, g := range k.NodeGroups {
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
