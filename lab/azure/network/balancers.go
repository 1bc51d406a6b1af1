package network

import (
	"net/netip"
	"slices"
	"strconv"

	"tombolo/lab/azure/arm"
	"tombolo/lab/standin"
)

// describeBalancer refuses what a load balancer cannot be, and gives its parts their ids.
// Azure publishes the limits, and not all words. Source:
// https://learn.microsoft.com/en-us/azure/load-balancer/load-balancer-faqs
func describeBalancer(c *standin.Call) error {
	in := c.In()
	if in.Sub("sku").Str("name") != "Standard" {
		// https://azure.microsoft.com/en-us/updates/azure-basic-load-balancer-will-be-retired-on-30-september-2025-upgrade-to-standard-load-balancer/
		return c.Refusef("BasicLoadBalancerRetired", "Load balancer %s must have the SKU Standard: the SKU Basic is retired.", c.Record.ID)
	}
	fronts := in.Objects("frontendIPConfigurations")
	if len(fronts) == 0 {
		// The reason why the cloud provider deletes a load balancer with its last frontend:
		// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/00dfec20e1e6aa430e0cd4953e16ee8a8e9956ee/pkg/provider/azure_loadbalancer.go
		return c.Refusef("LoadBalancerHasNoFrontend", "Load balancer %s has no frontend IP configuration.", c.Record.ID)
	}
	described := []any{}
	for _, given := range fronts {
		front := standin.Merged(given, nil)
		if err := describeFront(c, front); err != nil {
			return err
		}
		described = append(described, map[string]any(front))
	}
	out := c.Out()
	out["frontendIPConfigurations"] = described
	for _, parts := range []string{"backendAddressPools", "loadBalancingRules", "probes"} {
		if err := describeParts(c, parts); err != nil {
			return err
		}
	}
	for _, parts := range []string{"inboundNatRules", "inboundNatPools", "outboundRules"} {
		out.SetDefault(parts, []any{})
	}
	succeeded(c)
	return nil
}

// partID is the id of a part of a load balancer.
func partID(c *standin.Call, parts, name string) string {
	return c.Record.ID + "/" + parts + "/" + name
}

// describeFront checks what a frontend refers to, and gives it its private address.
func describeFront(c *standin.Call, front standin.Props) error {
	id := partID(c, "frontendIPConfigurations", front.Str("name"))
	public, subnet := front.Sub("publicIPAddress").Str("id"), front.Sub("subnet").Str("id")
	if (public == "") == (subnet == "") {
		return c.Refusef("LoadBalancerFrontendIPConfigurationMustHaveSubnetOrPublicIP", "Frontend IP configuration %s must have either a subnet or a public IP address.", id)
	}
	if public != "" {
		if err := checkPublicFront(c, id, public); err != nil {
			return err
		}
	} else if err := placeFront(c, front, id, subnet); err != nil {
		return err
	}
	front["id"], front["provisioningState"], front["etag"] = id, "Succeeded", arm.Etag()
	return nil
}

// checkPublicFront refuses a public address that the caller may not use, or something else has.
func checkPublicFront(c *standin.Call, front, public string) error {
	if err := checkReference(c, AddressType, public, c.Out().Str("location")); err != nil {
		return err
	}
	if err := arm.CheckLinked(c, "Microsoft.Network/publicIPAddresses/join/action", public); err != nil {
		return err
	}
	return checkFree(c, arm.ByID(c.Cloud, AddressType, public), front)
}

// placeFront gives a frontend an address in a subnet that the caller may join. The first four
// addresses of a subnet and the last one are Azure's:
// https://learn.microsoft.com/en-us/azure/virtual-network/virtual-networks-faq
func placeFront(c *standin.Call, front standin.Props, id, subnet string) error {
	if err := checkReference(c, SubnetType, subnet, ""); err != nil {
		return err
	}
	if err := arm.CheckLinked(c, "Microsoft.Network/virtualNetworks/subnets/join/action", subnet); err != nil {
		return err
	}
	front.SetDefault("privateIPAllocationMethod", "Dynamic")
	taken := map[string]bool{}
	for r := range c.Cloud.Each(BalancerType, standin.Global) {
		for _, other := range r.Outputs.Objects("frontendIPConfigurations") {
			if arm.Same(other.Str("id"), id) {
				front.SetDefault("privateIPAddress", other.Str("privateIPAddress"))
			}
			taken[other.Str("privateIPAddress")] = true
		}
	}
	if front.Str("privateIPAddress") != "" {
		return nil
	}
	block := Prefixes(arm.ByID(c.Cloud, SubnetType, subnet))[0]
	free := 1<<(32-block.Bits()) - 5
	first, _ := strconv.Atoi(arm.Hashed(id))
	for i := range free {
		address := nth(block.Addr(), 4+(first+i)%free)
		if !taken[address] {
			front["privateIPAddress"] = address
			return nil
		}
	}
	return c.Refusef("SubnetIsFull", "Subnet %s does not have enough capacity for 1 IP addresses.", subnet)
}

// nth address after one of IPv4.
func nth(from netip.Addr, n int) string {
	b := from.As4()
	n += int(b[0])<<24 | int(b[1])<<16 | int(b[2])<<8 | int(b[3])
	return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}).String()
}

// describeParts gives the other parts of a load balancer their ids. A rule refers to a frontend
// of its own load balancer.
func describeParts(c *standin.Call, parts string) error {
	described := []any{}
	for _, part := range c.In().Objects(parts) {
		id := partID(c, parts, part.Str("name"))
		if front := part.Sub("frontendIPConfiguration").Str("id"); front != "" && !hasPart(c.Out(), front) {
			return c.Refusef("InvalidResourceReference", "Resource %s referenced by resource %s was not found. Please make sure that the referenced resource exists, "+
				"and that both resources are in the same region.", front, id)
		}
		described = append(described, map[string]any(standin.Merged(part, standin.Props{"id": id, "provisioningState": "Succeeded", "etag": arm.Etag()})))
	}
	c.Out()[parts] = described
	return nil
}

func hasPart(balancer standin.Props, front string) bool {
	return slices.ContainsFunc(balancer.Objects("frontendIPConfigurations"), func(f standin.Props) bool { return arm.Same(f.Str("id"), front) })
}

// frontWith is the id of the frontend of a load balancer that has a public address, or is in a
// subnet; empty where there is none.
func frontWith(c *standin.Cloud, property, id string) string {
	for r := range c.Each(BalancerType, standin.Global) {
		for _, front := range r.Outputs.Objects("frontendIPConfigurations") {
			if arm.Same(front.Sub(property).Str("id"), id) {
				return front.Str("id")
			}
		}
	}
	return ""
}

// addressUser is the id of what has a public address; empty where nothing has.
func addressUser(c *standin.Cloud, address *standin.Record) string {
	if gateway := gatewayOf(c, address); gateway != nil {
		return gateway.ID
	}
	return frontWith(c, "publicIPAddress", address.ID)
}
