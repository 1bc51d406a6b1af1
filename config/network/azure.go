package network

import (
	"fmt"
	"net/netip"

	"tombolo/config/azurefacts"
	"tombolo/config/check"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// The sizes of a network that core makes in Azure. Source of the largest:
// https://learn.microsoft.com/azure/aks/concepts-network-ip-address-planning
const (
	LargestNetwork  = 8
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

// CheckOnAzure checks the network of a cluster in Azure, whose pools have up to most nodes.
func CheckOnAzure(v *check.File, n Network, most int) {
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
func checkAzureExistingNetwork(v *check.File, n Network) {
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

func checkAzureMadeNetwork(v *check.File, n Network, most int) {
	const at, outbound = strict.Path("network.cidr"), strict.Path("network.outbound")
	if n.Outbound == OutboundRoutes {
		v.Problem(outbound, "use nat-gateway or load-balancer, or an existing network whose owner routes it",
			"%s needs a route table that leads to a gateway or an appliance, and core makes none", n.Outbound)
	}
	block, ok := Block(v, at, n.CIDR, LargestNetwork, smallestNetwork)
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

// Block checks a block by itself, and returns it when it is right.
func Block(v *check.File, at strict.Path, cidr string, largest, smallest int) (netip.Prefix, bool) {
	if cidr == "" || !v.Doc.Sound(at) {
		return netip.Prefix{}, false
	}
	block, err := netip.ParsePrefix(cidr)
	switch {
	case err != nil:
		v.Problem(at, "write four numbers up to 255 and a prefix length, such as 10.0.0.0/16", "%s is not an IPv4 block", wording.Quote(cidr))
	case block != block.Masked():
		v.Problem(at, "use "+block.Masked().String(), "%s has bits set outside of its prefix", wording.Quote(cidr))
	case !form.Private(block):
		v.Problem(at, "use a block inside "+wording.Or(form.PrivateBlocks), "%s is not a private block", wording.Quote(cidr))
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
func checkNotKept(v *check.File, at strict.Path, block netip.Prefix) bool {
	for _, reserved := range azurefacts.ReservedBlocks() {
		if block.Overlaps(reserved) {
			v.Problem(at, "use another block", "%s overlaps %s, which AKS keeps", block, reserved)
			return false
		}
	}
	return true
}
