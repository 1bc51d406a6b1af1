package containerservice

import (
	"encoding/binary"
	"net/netip"
	"regexp"
	"slices"

	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/managedidentity"
	"tombolo/lab/azure/network"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
)

// dnsPrefixes are by https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/resource-name-rules
var dnsPrefixes = regexp.MustCompile(`^[a-zA-Z0-9]([-a-zA-Z0-9]{0,52}[a-zA-Z0-9])?$`)

func checkDNSPrefix(c *standin.Call, prefix string) error {
	if prefix == "" || dnsPrefixes.MatchString(prefix) {
		return nil
	}
	return c.Refusef("InvalidParameter", "The value of parameter dnsPrefix is invalid. Error details: DNS prefix '%s' is invalid. DNS prefix must contain between 1 and 54 characters, "+
		"alphanumeric or '-', and begin and end with an alphanumeric. Please see https://aka.ms/aks-naming-rules for more details.", prefix)
}

// describeClusterNetwork fills in the defaults of a network profile. Source: as of answered.
func describeClusterNetwork(c *standin.Call) error {
	profile := standin.Merged(c.In().Sub("networkProfile"), nil)
	profile.SetDefault("networkPlugin", "azure")
	if profile.Str("networkPlugin") == "azure" && len(c.In().Sub("networkProfile")) == 0 {
		profile["networkPluginMode"] = "overlay"
	}
	profile.SetDefault("networkDataplane", "azure")
	profile.SetDefault("networkPolicy", map[bool]string{true: "cilium", false: "none"}[profile.Str("networkDataplane") == "cilium"])
	profile.SetDefault("outboundType", "loadBalancer")
	profile.SetDefault("loadBalancerSku", "standard")
	if profile.Str("networkPluginMode") == "overlay" {
		profile.SetDefault("podCidr", "10.244.0.0/16")
		profile.SetDefault("podCidrs", []any{profile["podCidr"]})
	}
	profile.SetDefault("serviceCidr", "10.0.0.0/16")
	profile.SetDefault("dnsServiceIP", "10.0.0.10")
	profile.SetDefault("serviceCidrs", []any{profile["serviceCidr"]})
	profile.SetDefault("ipFamilies", []any{"IPv4"})
	c.Out()["networkProfile"] = map[string]any(profile)
	return checkPlugin(c, profile)
}

// checkPlugin refuses settings of a network that AKS does not have. Source:
// https://learn.microsoft.com/en-us/azure/aks/azure-cni-powered-by-cilium
func checkPlugin(c *standin.Call, profile standin.Props) error {
	cilium := profile.Str("networkDataplane") == "cilium"
	switch {
	case cilium && profile.Str("networkPlugin") != "azure":
		return c.Refusef("BadRequest", "Cilium dataplane requires network plugin azure.")
	case cilium && !slices.Contains([]string{"", "none", "cilium"}, profile.Str("networkPolicy")):
		return c.Refusef("BadRequest", "Cilium dataplane requires network policy cilium.")
	case !cilium && profile.Str("networkPolicy") == "cilium":
		return c.Refusef("BadRequest", "Network policy cilium requires cilium dataplane.")
	case profile.Str("outboundType") == "userDefinedRouting" && profile.Has("loadBalancerProfile"):
		return c.Refusef("InvalidUserDefinedRoutingWithLoadBalancerProfile", "Cannot set both a user defined routing outbound type and a load balancer profile.")
	}
	return nil
}

// nodeSubnet is the subnet of a cluster's first pool, "" where AKS makes the network.
func nodeSubnet(c *standin.Call) string {
	for _, p := range c.In().Objects("agentPoolProfiles") {
		return p.Str("vnetSubnetID")
	}
	return ""
}

// nodeNetwork is the network of a cluster's nodes, nil where AKS makes it.
func nodeNetwork(c *standin.Call) *standin.Record {
	if id := nodeSubnet(c); id != "" {
		return arm.ParentOf(c.Cloud, network.NetworkType, id)
	}
	return nil
}

// checkClusterNetwork refuses ranges and subnets that a cluster cannot have.
func checkClusterNetwork(c *standin.Call) error {
	profile := c.Out().Sub("networkProfile")
	if err := checkRanges(c, profile); err != nil {
		return err
	}
	id := nodeSubnet(c)
	if id == "" {
		if profile.Str("outboundType") == "userAssignedNATGateway" {
			return c.Refusef("UserAssignedNATGatewayWithManagedVNetNotAllowed", "Outbound type userAssignedNATGateway is only allowed with a custom virtual network.")
		}
		if profile.Str("outboundType") == "userDefinedRouting" {
			return c.Refusef("ExistingRouteTableNotAssociatedWithSubnet", "An existing route table has not been associated with a subnet: the managed cluster has no custom subnet. Please update the route table association")
		}
		return nil
	}
	subnet, err := checkSubnet(c, id)
	if err != nil {
		return err
	}
	if err := checkServiceRange(c, profile, network.NetworkOf(c.Cloud, subnet)); err != nil {
		return err
	}
	if err := checkOutbound(c, profile, subnet); err != nil {
		return err
	}
	return checkIdentityRights(c, subnet)
}

// checkSubnet refuses a subnet for nodes that does not exist, or that the caller may not
// use, or that another service has. Source:
// https://learn.microsoft.com/en-us/azure/aks/configure-azure-cni#prerequisites
func checkSubnet(c *standin.Call, id string) (*standin.Record, error) {
	subnet := arm.ByID(c.Cloud, network.SubnetType, id)
	if subnet == nil && arm.Allowed(c, "Microsoft.Network/virtualNetworks/subnets/read", id) {
		// https://learn.microsoft.com/en-us/troubleshoot/azure/azure-kubernetes/create-upgrade-delete/missing-or-invalid-service-principal
		return nil, c.Refusef("GetVnetError", "Get virtual network or subnet failed: %s was not found.", id)
	}
	if err := arm.CheckLinked(c, "Microsoft.Network/virtualNetworks/subnets/join/action", id); err != nil {
		return nil, err
	}
	location := network.NetworkOf(c.Cloud, subnet).Outputs.Str("location")
	if own := clusterLocation(c); own != "" && location != own {
		return nil, c.Refusef("InvalidResourceReference", "Resource %s referenced by resource %s was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.", id, c.Record.ID)
	}
	if len(subnet.Outputs.Objects("delegations")) > 0 {
		return nil, c.Refusef("SubnetIsDelegated", "AgentPoolProfile subnet with id %s cannot be used as it's a delegated subnet. Please check https://aka.ms/adv-network-prerequest for more details.", id)
	}
	return subnet, nil
}

// clusterLocation is the location of the call's cluster.
func clusterLocation(c *standin.Call) string {
	if location := c.Out().Str("location"); location != "" {
		return location
	}
	return locationOf(c.Cloud, c.Record)
}

// reserved ranges of AKS. Source:
// https://learn.microsoft.com/en-us/azure/aks/azure-cni-overlay#ip-address-planning
var reserved = []netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("172.30.0.0/16"), netip.MustParsePrefix("172.31.0.0/16"), netip.MustParsePrefix("192.0.2.0/24"),
}

// checkRanges refuses blocks that a cluster's pods and services cannot have. Sources: the
// page above, https://learn.microsoft.com/en-us/troubleshoot/azure/azure-kubernetes/create-upgrade-delete/dnsserviceipoutofservicecidr-error,
// and the list of codes at namespace.
func checkRanges(c *standin.Call, profile standin.Props) error {
	blocks := map[string]netip.Prefix{}
	for _, property := range []string{"serviceCidr", "podCidr"} {
		text := profile.Str(property)
		if text == "" {
			continue
		}
		block, err := netip.ParsePrefix(text)
		if err != nil || block != block.Masked() {
			return c.Refusef("CidrStringParseError", "The value %s of networkProfile.%s is not a valid CIDR block.", text, property)
		}
		for _, taken := range reserved {
			if block.Overlaps(taken) {
				return c.Refusef("InvalidCIDR", "The value %s of networkProfile.%s overlaps with %s, which AKS reserves.", text, property, taken)
			}
		}
		blocks[property] = block
	}
	services, pods := blocks["serviceCidr"], blocks["podCidr"]
	if services.Bits() < 12 {
		// https://learn.microsoft.com/en-us/azure/aks/configure-azure-cni
		return c.Refusef("ServiceCidrTooLarge", "The service CIDR %s is too large: it has to be smaller than /12.", services)
	}
	if pods.IsValid() && pods.Overlaps(services) {
		return c.Refusef("PodCidrOverlapServiceCidr", "Pod CIDR %s overlaps with service CIDR %s.", pods, services)
	}
	return checkDNSAddress(c, profile.Str("dnsServiceIP"), services)
}

func checkDNSAddress(c *standin.Call, text string, services netip.Prefix) error {
	address, err := netip.ParseAddr(text)
	switch {
	case err != nil || !services.Contains(address):
		return c.Refusef("DnsServiceIpOutOfServiceCidr", "The specified DNS Service IP %s is not in the range of service CIDR %s", text, services)
	case address == last(services):
		return c.Refusef("DnsBroadcastAddressConflicting", "The specified DNS Service IP %s conflicts with the broadcast address of service CIDR %s.", text, services)
	case address == services.Addr().Next():
		return c.Refusef("DnsServiceIpConflicting", "The specified DNS Service IP %s conflicts with the first IP of the service CIDR, which the API server has.", text)
	}
	return nil
}

// last address of a block of IPv4.
func last(block netip.Prefix) netip.Addr {
	b := block.Addr().As4()
	host := uint32(1)<<(32-block.Bits()) - 1
	binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(b[:])|host)
	return netip.AddrFrom4(b)
}

// checkServiceRange refuses services and pods whose addresses are those of a subnet of the
// network. Source:
// https://learn.microsoft.com/en-us/troubleshoot/azure/azure-kubernetes/create-upgrade-delete/servicecidroverlapexistingsubnetscidr-error
func checkServiceRange(c *standin.Call, profile standin.Props, within *standin.Record) error {
	if within == nil {
		return nil
	}
	services, _ := netip.ParsePrefix(profile.Str("serviceCidr"))
	pods, _ := netip.ParsePrefix(profile.Str("podCidr"))
	for subnet := range network.SubnetsOf(c.Cloud, within) {
		for _, block := range network.Prefixes(subnet) {
			if services.IsValid() && block.Overlaps(services) {
				return c.Refusef("ServiceCidrOverlapExistingSubnetsCidr", "The specified service CIDR %s is conflicted with an existing subnet CIDR %s", services, block)
			}
			if pods.IsValid() && block.Overlaps(pods) {
				return c.Refusef("PodCidrOverlapExistingSubnetsCidr", "The specified pod CIDR %s is conflicted with an existing subnet CIDR %s", pods, block)
			}
		}
	}
	return nil
}

// checkOutbound refuses a way out that the subnet does not have. Sources:
// https://learn.microsoft.com/en-us/azure/aks/egress-outboundtype,
// https://learn.microsoft.com/en-us/azure/aks/nat-gateway, and the list of codes at namespace
func checkOutbound(c *standin.Call, profile standin.Props, subnet *standin.Record) error {
	switch profile.Str("outboundType") {
	case "userDefinedRouting":
		return checkRoutes(c, subnet)
	case "managedNATGateway":
		return c.Refusef("ManagedNATGatewayWithCustomVNetNotAllowed", "Outbound type managedNATGateway is not allowed with a custom virtual network.")
	case "userAssignedNATGateway":
		gateway := arm.ByID(c.Cloud, network.NatGatewayType, subnet.Inputs.Sub("natGateway").Str("id"))
		if gateway == nil {
			return c.Refusef("SubnetNotAssociatedWithNATGateway", "Subnet '%s' must have a NAT gateway associated for outbound connection", subnet.ID)
		}
		if len(gateway.Inputs.Objects("publicIpAddresses"))+len(gateway.Inputs.Objects("publicIpPrefixes")) == 0 {
			return c.Refusef("NATGatewayNotAssociatedWithPublicIPOrIPPrefix", "NAT gateway '%s' must have at least one public IP or IP prefix associated", gateway.ID)
		}
	}
	return nil
}

// checkRoutes wants a route table with a default route to an appliance or a gateway. Source
// of the words: https://learn.microsoft.com/en-us/azure/aks/egress-udr
func checkRoutes(c *standin.Call, subnet *standin.Record) error {
	table := arm.ByID(c.Cloud, network.RouteTableType, subnet.Inputs.Sub("routeTable").Str("id"))
	if table == nil {
		return c.Refusef("ExistingRouteTableNotAssociatedWithSubnet", "An existing route table has not been associated with subnet %s. Please update the route table association", subnet.ID)
	}
	for _, route := range table.Inputs.Objects("routes") {
		if route.Str("addressPrefix") != "0.0.0.0/0" {
			continue
		}
		if hop := route.Str("nextHopType"); hop != "VirtualAppliance" && hop != "VirtualNetworkGateway" {
			return c.Refusef("RouteTableInvalidNextHop", "The next hop of the default route of route table %s is %s: it has to be a virtual appliance or a virtual network gateway.", table.ID, hop)
		}
		return nil
	}
	return c.Refusef("RouteTableMissingDefaultRouteError", "The route table %s has no default route 0.0.0.0/0, which the outbound type userDefinedRouting requires.", table.ID)
}

// checkIdentityRights wants the control plane's own identity to be allowed to use the subnet
// and to read and change its route table. Only the command line tool grants that by itself.
// Sources: https://learn.microsoft.com/en-us/azure/aks/configure-azure-cni#prerequisites and, of
// route tables, https://learn.microsoft.com/en-us/azure/aks/egress-outboundtype
func checkIdentityRights(c *standin.Call, subnet *standin.Record) error {
	own := userAssigned(c.In())
	if own == "" {
		return nil // AKS gives a system-assigned identity its rights
	}
	principal := principalOf(c, own)
	const join = "Microsoft.Network/virtualNetworks/subnets/join/action"
	if !rbac.May(c.Cloud, principal, join, subnet.ID) {
		identity := arm.ByID(c.Cloud, managedidentity.IdentityType, own)
		return c.Refuse(standin.Refusal{Code: "LinkedAuthorizationFailed", Status: 403, Message: "Reconcile VMSS agent pool failed. The client '" + identity.Outputs.Str("clientId") + "' with object id '" + principal +
			"' has permission to perform action 'Microsoft.Compute/virtualMachineScaleSets/write' on scope '" + nodeGroupOf(c.Record) + "'; however, it does not have permission to perform action(s) '" + join +
			"' on the linked scope(s) '" + subnet.ID + "' (respectively) or the linked scope(s) are invalid."})
	}
	table := subnet.Inputs.Sub("routeTable").Str("id")
	if table != "" && !rbac.May(c.Cloud, principal, "Microsoft.Network/routeTables/write", table) {
		return c.Refusef("CustomRouteTableMissingPermission", "The managed identity %s has no permission to read and write the route table %s.", own, table)
	}
	return nil
}
