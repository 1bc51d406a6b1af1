package network

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
)

// SubnetsOf yields a network's subnets, in the order of their creation. The account is locked.
func SubnetsOf(c *standin.Cloud, network *standin.Record) func(func(*standin.Record) bool) {
	return func(yield func(*standin.Record) bool) {
		for r := range c.Each(SubnetType, standin.Global) {
			if rbac.Covers(network.ID, r.ID) && !yield(r) {
				return
			}
		}
	}
}

// NetworkOf is the network that a subnet is in. The account is locked.
func NetworkOf(c *standin.Cloud, subnet *standin.Record) *standin.Record {
	return arm.ParentOf(c, NetworkType, subnet.ID)
}

// Prefixes are the blocks of a network or a subnet.
func Prefixes(r *standin.Record) []netip.Prefix {
	texts := append(r.Outputs.Sub("addressSpace").List("addressPrefixes"), r.Outputs.List("addressPrefixes")...)
	if one := r.Outputs.Str("addressPrefix"); one != "" {
		texts = append(texts, one)
	}
	var blocks []netip.Prefix
	for _, text := range texts {
		if block, err := netip.ParsePrefix(text); err == nil {
			blocks = append(blocks, block)
		}
	}
	return blocks
}

// describeNetwork refuses blocks that Azure does not take. Of overlaps and sizes, Azure
// publishes the limits and no words. Sources:
// https://learn.microsoft.com/en-us/azure/virtual-network/virtual-networks-faq and
// https://learn.microsoft.com/en-us/azure/virtual-network/manage-virtual-network
func describeNetwork(c *standin.Call) error {
	if len(c.In().Objects("subnets")) > 0 {
		return fmt.Errorf("the Azure stand-in makes no subnets within a network's own inputs; use the type %s", SubnetType)
	}
	given := c.In().Sub("addressSpace").List("addressPrefixes")
	if len(given) == 0 {
		return c.Refusef("InvalidRequestFormat", "Cannot parse the request. The virtual network %s has no address space.", armid.NameOf(c.Record.ID))
	}
	var blocks []netip.Prefix
	for _, text := range given {
		block, err := netip.ParsePrefix(text)
		switch {
		case err != nil || block != block.Masked():
			return c.Refusef("InvalidCIDRNotation", "The address prefix %s in resource %s has an invalid CIDR notation. For the given prefix length, the address prefix should be %s.", text, c.Record.ID, masked(block, err))
		case block.Bits() > 29 || block.Bits() < 2:
			return c.Refusef("VnetAddressSpaceHasInvalidPrefixLength", "The address prefix %s of virtual network %s has a prefix length that is not between 2 and 29.", text, armid.NameOf(c.Record.ID))
		case slices.ContainsFunc(reserved, block.Overlaps):
			return c.Refusef("VnetAddressSpaceIsReserved", "The address prefix %s of virtual network %s overlaps with a range that cannot be added: %s.", text, armid.NameOf(c.Record.ID), texts(reserved))
		case slices.ContainsFunc(blocks, block.Overlaps):
			return c.Refusef("VnetAddressSpacesOverlap", "Address space %s of virtual network %s overlaps with another one of its address spaces.", text, c.Record.ID)
		}
		blocks = append(blocks, block)
	}
	if c.Old != nil {
		if err := checkSubnetsStay(c, blocks); err != nil {
			return err
		}
	}
	succeeded(c)
	out := c.Out()
	out.SetDefault("enableDdosProtection", false)
	out.SetDefault("virtualNetworkPeerings", []any{})
	return nil
}

// reserved ranges are in no virtual network. Source:
// https://learn.microsoft.com/en-us/azure/virtual-network/virtual-networks-faq#what-address-ranges-can-i-use-in-my-virtual-networks
var reserved = []netip.Prefix{
	netip.MustParsePrefix("224.0.0.0/4"), netip.MustParsePrefix("255.255.255.255/32"), netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("168.63.129.16/32"),
}

func texts(blocks []netip.Prefix) string {
	var list []string
	for _, block := range blocks {
		list = append(list, block.String())
	}
	return strings.Join(list, ", ")
}

func masked(block netip.Prefix, err error) string {
	if err != nil {
		return "a block such as 10.0.0.0/16"
	}
	return block.Masked().String()
}

// checkSubnetsStay refuses to take away the block that a subnet is in.
func checkSubnetsStay(c *standin.Call, blocks []netip.Prefix) error {
	for subnet := range SubnetsOf(c.Cloud, c.Record) {
		for _, own := range Prefixes(subnet) {
			if !contained(own, blocks) {
				return outsideNetwork(c, subnet, c.Record)
			}
		}
	}
	return nil
}

func contained(block netip.Prefix, in []netip.Prefix) bool {
	return slices.ContainsFunc(in, func(p netip.Prefix) bool { return p.Bits() <= block.Bits() && p.Contains(block.Addr()) })
}

// outsideNetwork is by https://github.com/MicrosoftDocs/azure-docs/pull/123869
func outsideNetwork(c *standin.Call, subnet, network *standin.Record) error {
	return c.Refusef("NetcfgSubnetRangeOutsideVnet", "Subnet '%s' is not valid because its IP address range is outside the IP address range of virtual network '%s'.",
		armid.NameOf(subnet.ID), armid.NameOf(network.ID))
}

// describeSubnet refuses ranges that Azure does not take, and references to what does not
// exist. Sources: https://github.com/MicrosoftDocs/azure-docs/pull/123869 and, of sizes,
// https://learn.microsoft.com/en-us/azure/virtual-network/virtual-networks-faq
func describeSubnet(c *standin.Call, users Users) error {
	if err := checkRangeInUse(c, users); err != nil {
		return err
	}
	network := NetworkOf(c.Cloud, c.Record)
	blocks := Prefixes(c.Record)
	if len(blocks) == 0 {
		return c.Refusef("NetcfgInvalidSubnet", "Subnet '%s' is not valid in virtual network '%s'.", armid.NameOf(c.Record.ID), armid.NameOf(network.ID))
	}
	for _, block := range blocks {
		if block != block.Masked() || block.Addr().Is4() && block.Bits() > 29 {
			return c.Refusef("NetcfgInvalidSubnet", "Subnet '%s' is not valid in virtual network '%s'.", armid.NameOf(c.Record.ID), armid.NameOf(network.ID))
		}
		if !contained(block, Prefixes(network)) {
			return outsideNetwork(c, c.Record, network)
		}
		for other := range SubnetsOf(c.Cloud, network) {
			if !arm.Same(other.ID, c.Record.ID) && slices.ContainsFunc(Prefixes(other), block.Overlaps) {
				return c.Refusef("NetcfgSubnetRangesOverlap", "Subnet '%s' is not valid because its IP address range overlaps with that of an existing subnet in virtual network '%s'.",
					armid.NameOf(c.Record.ID), armid.NameOf(network.ID))
			}
		}
	}
	location := network.Outputs.Str("location")
	for property, token := range map[string]string{"natGateway": NatGatewayType, "routeTable": RouteTableType} {
		if id := c.In().Sub(property).Str("id"); id != "" {
			if err := checkReference(c, token, id, location); err != nil {
				return err
			}
		}
	}
	succeeded(c)
	describeDelegations(c)
	out := c.Out()
	delete(out, "type")
	out.SetDefault("privateEndpointNetworkPolicies", "Enabled")
	out.SetDefault("privateLinkServiceNetworkPolicies", "Enabled")
	return nil
}

// describeDelegations gives delegations their ids, and a subnet the purpose that it has none.
func describeDelegations(c *standin.Call) {
	list := []any{}
	for _, d := range c.In().Objects("delegations") {
		list = append(list, map[string]any(standin.Merged(d, standin.Props{
			"id": c.Record.ID + "/delegations/" + d.Str("name"), "provisioningState": "Succeeded",
		})))
	}
	c.Out()["delegations"] = list
}

// checkRangeInUse refuses to take away a range that is in use. Source:
// https://learn.microsoft.com/en-us/azure/virtual-network/virtual-network-manage-subnet
func checkRangeInUse(c *standin.Call, users Users) error {
	if c.Old == nil {
		return nil
	}
	if before, after := Prefixes(c.Old), Prefixes(c.Record); !slices.Equal(before, after) && users(c.Cloud, c.Old) != "" {
		return c.Refusef("InUsePrefixCannotBeDeleted", "IpPrefix %s on Subnet %s has active allocations and cannot be deleted.", before[0], armid.NameOf(c.Record.ID))
	}
	return nil
}

// checkUnused refuses to delete a subnet that something is in. Source:
// https://learn.microsoft.com/en-us/azure/virtual-network/virtual-network-manage-subnet#delete-a-subnet,
// the words of https://github.com/microsoft/nav-arm-templates/issues/161
func checkUnused(c *standin.Call, subnet *standin.Record, users Users) error {
	if user := users(c.Cloud, subnet); user != "" {
		return c.Refusef("InUseSubnetCannotBeDeleted", "Subnet %s is in use by %s and cannot be deleted. In order to delete the subnet, delete all the resources within the subnet. See aka.ms/deletesubnet.",
			armid.NameOf(subnet.ID), user)
	}
	return nil
}

// removeNetwork takes along subnets that nothing is in.
func removeNetwork(c *standin.Call, users Users) error {
	for subnet := range SubnetsOf(c.Cloud, c.Record) {
		if err := checkUnused(c, subnet, users); err != nil {
			return err
		}
	}
	return nil
}

// WithoutEndpoint is why a service cannot have a subnet in its network rules; "" when the subnet
// has the endpoint. Sources: https://github.com/Azure/avdaccelerator/issues/818 and
// https://github.com/hashicorp/terraform-provider-azurerm/issues/16547
func WithoutEndpoint(c *standin.Cloud, id, service string) string {
	if subnet := arm.ByID(c, SubnetType, id); subnet != nil {
		for _, endpoint := range subnet.Outputs.Objects("serviceEndpoints") {
			if strings.EqualFold(endpoint.Str("service"), service) {
				return ""
			}
		}
	}
	of, _, _ := strings.Cut(id, "/subnets/")
	return fmt.Sprintf("Subnets %s of virtual network %s do not have ServiceEndpoints for %s resources configured. "+
		"Add %s to subnet's ServiceEndpoints collection before trying to ACL %s resources to these subnets..", armid.NameOf(id), of, service, service, service)
}
