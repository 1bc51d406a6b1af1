package network

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tombolo/lab/azure/arm"
	"tombolo/lab/standin"
)

// describeGateway refuses a NAT gateway with addresses that it cannot use. Azure publishes
// the limits, and no words. Source:
// https://learn.microsoft.com/en-us/azure/nat-gateway/nat-gateway-resource
func describeGateway(c *standin.Call) error {
	in, out := c.In(), c.Out()
	if in.Sub("sku").Str("name") == "" {
		return c.Refusef("NatGatewayMustHaveStandardSku", "NAT Gateway %s must have the SKU Standard.", c.Record.ID)
	}
	if len(in.List("zones")) > 1 {
		return c.Refusef("NatGatewayCannotHaveMultipleZones", "NAT Gateway %s can be in one zone only.", c.Record.ID)
	}
	if minutes := in.Integer("idleTimeoutInMinutes"); in.Has("idleTimeoutInMinutes") && (minutes < 4 || minutes > 120) {
		return c.Refusef("InvalidIdleTimeout", "The idle timeout of NAT Gateway %s has to be between 4 and 120 minutes.", c.Record.ID)
	}
	for _, id := range in.At("publicIpAddresses", "id") {
		if err := checkReference(c, AddressType, id, out.Str("location")); err != nil {
			return err
		}
		address := arm.ByID(c.Cloud, AddressType, id)
		if address.Outputs.Sub("sku").Str("name") != "Standard" {
			return c.Refusef("NatGatewayPublicIPMustHaveStandardSku", "NAT Gateway %s cannot use the public IP address %s: its SKU is not Standard.", c.Record.ID, id)
		}
		if err := checkFree(c, address, c.Record.ID); err != nil {
			return err
		}
	}
	succeeded(c)
	out.SetDefault("idleTimeoutInMinutes", 4)
	return nil
}

// checkFree refuses a public address that something else has than the one that asks. Source:
// https://github.com/hashicorp/terraform-provider-azurerm/issues/20831
func checkFree(c *standin.Call, address *standin.Record, asks string) error {
	if user := addressUser(c.Cloud, address); user != "" && !arm.Same(user, asks) {
		return c.Refusef("PublicIPAddressInUse", "Resource %s is using public IP address %s.", user, address.ID)
	}
	return nil
}

// gatewayOf is the NAT gateway that has an address, or nil.
func gatewayOf(c *standin.Cloud, address *standin.Record) *standin.Record {
	for r := range c.Each(NatGatewayType, standin.Global) {
		if slices.ContainsFunc(r.Inputs.At("publicIpAddresses", "id"), func(id string) bool { return arm.Same(id, address.ID) }) {
			return r
		}
	}
	return nil
}

// subnetsWith are the ids of the subnets that refer to a resource.
func subnetsWith(c *standin.Cloud, property, id string) []string {
	var ids []string
	for r := range c.Each(SubnetType, standin.Global) {
		if arm.Same(r.Inputs.Sub(property).Str("id"), id) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// removeGateway is by https://github.com/Azure-Samples/Copilot-Studio-with-Azure-AI-Search/issues/62
func removeGateway(c *standin.Call) error {
	if users := subnetsWith(c.Cloud, "natGateway", c.Record.ID); len(users) > 0 {
		return c.Refusef("CannotDeleteNatGatewayAssociatedToSubnet", "NAT Gateway %s is still configured on %d subnets. Remove NAT Gateway from all referenced subnets and then delete NAT Gateway.",
			c.Record.ID, len(users))
	}
	return nil
}

// describeAddress refuses what a public address cannot be. Source:
// https://learn.microsoft.com/en-us/azure/virtual-network/ip-services/public-ip-addresses
func describeAddress(c *standin.Call) error {
	in, out := c.In(), c.Out()
	sku := in.Sub("sku").Str("name")
	if sku == "" {
		sku = "Basic"
		out["sku"] = map[string]any{"name": sku}
	}
	out.SetDefault("publicIPAllocationMethod", "Dynamic")
	if sku == "Standard" && out.Str("publicIPAllocationMethod") != "Static" {
		return c.Refusef("StandardAndStandardV2SkuPublicIPAddressesMustBeStatic", "Standard sku publicIp %s must have AllocationMethod set to Static.", c.Record.ID)
	}
	if sku == "Basic" {
		// https://azure.microsoft.com/en-us/updates/upgrade-to-standard-sku-public-ip-addresses-in-azure-by-30-september-2025-basic-sku-will-be-retired/
		return c.Refusef("IPv4BasicSkuPublicIpCountLimitReached", "Cannot create more than 0 IPv4 Basic SKU public IP addresses for this subscription in this region.")
	}
	succeeded(c)
	out.SetDefault("publicIPAddressVersion", "IPv4")
	out.SetDefault("idleTimeoutInMinutes", 4)
	out.SetDefault("ipTags", []any{})
	out["ipAddress"] = addressOf(c.Record.ID)
	return nil
}

// addressOf is a resource's address: of TEST-NET-3, which nobody has (RFC 5737).
func addressOf(id string) string {
	number, _ := strconv.Atoi(arm.Hashed(id))
	return fmt.Sprintf("203.0.113.%d", 1+number%254)
}

// TeamAddress is what the network team's firewall goes out with.
const TeamAddress = "203.0.113.254"

// OutboundAddress is the public address that a subnet goes out with: that of its NAT gateway,
// or of the network team's firewall. The account is locked.
func OutboundAddress(c *standin.Cloud, subnet string) string {
	found := arm.ByID(c, SubnetType, subnet)
	if found == nil {
		return TeamAddress
	}
	gateway := arm.ByID(c, NatGatewayType, found.Outputs.Sub("natGateway").Str("id"))
	if gateway == nil {
		return TeamAddress
	}
	for _, address := range gateway.Outputs.Objects("publicIpAddresses") {
		if r := arm.ByID(c, AddressType, address.Str("id")); r != nil {
			return r.Outputs.Str("ipAddress")
		}
	}
	return TeamAddress
}

// removeAddress is by https://github.com/hashicorp/terraform-provider-azurerm/issues/2566
func removeAddress(c *standin.Call) error {
	if user := addressUser(c.Cloud, c.Record); user != "" {
		return c.Refusef("PublicIPAddressCannotBeDeleted", "Public IP address %s can not be deleted since it is still allocated to resource %s. "+
			"In order to delete the public IP, disassociate/detach the Public IP address from the resource.  To learn how to do this, see aka.ms/deletepublicip.", c.Record.ID, user)
	}
	return nil
}

func describeRouteTable(c *standin.Call) error {
	routes := []any{}
	for _, route := range c.In().Objects("routes") {
		if route.Str("nextHopType") == "VirtualAppliance" && route.Str("nextHopIpAddress") == "" {
			// https://learn.microsoft.com/en-us/azure/virtual-network/virtual-networks-udr-overview
			return c.Refusef("InvalidNextHopIpAddress", "Route %s of route table %s has no next hop IP address, which the next hop type VirtualAppliance needs.", route.Str("name"), c.Record.ID)
		}
		routes = append(routes, map[string]any(standin.Merged(route, standin.Props{
			"id": c.Record.ID + "/routes/" + route.Str("name"), "provisioningState": "Succeeded", "etag": arm.Etag(),
		})))
	}
	succeeded(c)
	c.Out()["routes"] = routes
	c.Out().SetDefault("disableBgpRoutePropagation", false)
	return nil
}

// removeRouteTable is by https://learn.microsoft.com/en-us/azure/virtual-network/manage-route-table#delete-a-route-table
func removeRouteTable(c *standin.Call) error {
	if users := subnetsWith(c.Cloud, "routeTable", c.Record.ID); len(users) > 0 {
		return c.Refusef("InUseRouteTableCannotBeDeleted", "Route table %s cannot be deleted because it is in use by the following resources: %s. "+
			"In order to delete the Route table, remove the association with the resource(s).", c.Record.ID, strings.Join(users, ", "))
	}
	return nil
}
