// Package network is Azure's virtual networks in the stand-in.
package network

import (
	"cmp"
	"regexp"
	"time"

	network "github.com/pulumi/pulumi-azure-native-sdk/network/v2/v20190601"

	"tombolo/lab/azure/arm"
	"tombolo/lab/standin"
)

// The types of the network's resources.
const (
	NetworkType    = "azure-native:network/v20190601:VirtualNetwork"
	SubnetType     = "azure-native:network/v20190601:Subnet"
	NatGatewayType = "azure-native:network/v20190601:NatGateway"
	AddressType    = "azure-native:network/v20190601:PublicIPAddress"
	RouteTableType = "azure-native:network/v20190601:RouteTable"
	BalancerType   = "azure-native:network/v20190601:LoadBalancer"
)

const (
	namespace = "Microsoft.Network"
	inGroup   = "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Microsoft.Network/"
)

// names of what is in networks are by
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/resource-name-rules
var names = regexp.MustCompile(`^[A-Za-z0-9]([-\w.]{0,78}\w)?$`)

const nameRule = "The name can be up to 80 characters long. It must begin with a word character, and it must end with a word character or with '_'. " +
	"The name may contain word characters or '.', '-', '_'."

func kind(token, plural, property string) arm.Kind {
	return arm.Kind{
		Token: token, ARM: namespace + "/" + plural, Path: inGroup + plural + "/{" + property + "}",
		Name: names, NameRule: nameRule, Provider: namespace,
	}
}

var (
	networks    = kind(NetworkType, "virtualNetworks", "virtualNetworkName")
	gateways    = kind(NatGatewayType, "natGateways", "natGatewayName")
	addresses   = kind(AddressType, "publicIPAddresses", "publicIpAddressName")
	routeTables = kind(RouteTableType, "routeTables", "routeTableName")
	balancers   = kind(BalancerType, "loadBalancers", "loadBalancerName")
	subnets     = arm.Kind{
		Token: SubnetType, ARM: namespace + "/virtualNetworks/subnets", Provider: namespace,
		Path:   inGroup + "virtualNetworks/{virtualNetworkName}/subnets/{subnetName}",
		Parent: NetworkType, ParentPath: inGroup + "virtualNetworks/{virtualNetworkName}",
		Name: names, NameRule: nameRule, Copied: true,
	}
)

// Users finds what has addresses in a subnet: the id of a network interface, empty where
// there is none. The account is locked. Load balancers are found without it.
type Users func(c *standin.Cloud, subnet *standin.Record) string

// Types are networks, and what is in them. interfaces tells what of others is in a subnet.
func Types(interfaces Users) map[string]*standin.Type {
	users := func(c *standin.Cloud, subnet *standin.Record) string {
		return cmp.Or(interfaces(c, subnet), frontWith(c, "subnet", subnet.ID))
	}
	return map[string]*standin.Type{
		NetworkType: networks.Type(standin.Type{
			Constructor: network.NewVirtualNetwork,
			// forceNewMap in provider/pkg/gen/replacement.go of azure-native
			ForceNew: []string{"location"},
			Create:   func(c *standin.Call) (string, error) { return "", describeNetwork(c) },
			Update:   func(c *standin.Call) error { return describeNetwork(c) },
			Remove:   func(c *standin.Call) error { return removeNetwork(c, users) },
			// Seconds, by azure-native's own recordings and users' logs.
			Takes: standin.Timing{Create: 5 * time.Second, Update: 5 * time.Second, Remove: 11 * time.Second},
		}),
		SubnetType: subnets.Type(standin.Type{
			Constructor: network.NewSubnet,
			Create:      func(c *standin.Call) (string, error) { return "", describeSubnet(c) },
			Update:      func(c *standin.Call) error { return updateSubnet(c, users) },
			Remove:      func(c *standin.Call) error { return checkUnused(c, c.Record, users) },
			Takes:       standin.Timing{Create: 5 * time.Second, Update: 5 * time.Second, Remove: 11 * time.Second},
		}),
		NatGatewayType: gateways.Type(standin.Type{
			Constructor: network.NewNatGateway,
			Create:      func(c *standin.Call) (string, error) { return "", describeGateway(c) },
			Update:      describeGateway,
			Remove:      removeGateway,
			Takes:       standin.Timing{Create: 3 * time.Second, Update: 3 * time.Second, Remove: 11 * time.Second},
		}),
		AddressType: addresses.Type(standin.Type{
			Constructor: network.NewPublicIPAddress,
			// forceNewMap in provider/pkg/gen/replacement.go of azure-native
			ForceNew: []string{"location", "publicIPAddressVersion", "publicIPPrefix", "sku"},
			Create:   func(c *standin.Call) (string, error) { return "", describeAddress(c) },
			Update:   describeAddress,
			Remove:   removeAddress,
			Takes:    standin.Timing{Create: 3 * time.Second, Update: 3 * time.Second, Remove: 11 * time.Second},
			// https://github.com/MicrosoftDocs/azure-docs/issues/106096
			LimitExceeded: standin.Refusal{Code: "PublicIPCountLimitReached", Message: "Cannot create more than 1000 public IP addresses for this subscription in this region."},
		}),
		BalancerType: balancers.Type(standin.Type{
			Constructor: network.NewLoadBalancer,
			// forceNewMap in provider/pkg/gen/replacement.go of azure-native
			ForceNew: []string{"location", "sku"},
			Create:   func(c *standin.Call) (string, error) { return "", describeBalancer(c) },
			Update:   describeBalancer,
			Takes:    standin.Timing{Create: 3 * time.Second, Update: 3 * time.Second, Remove: 11 * time.Second},
		}),
		RouteTableType: routeTables.Type(standin.Type{
			Constructor: network.NewRouteTable,
			Create:      func(c *standin.Call) (string, error) { return "", describeRouteTable(c) },
			Update:      describeRouteTable,
			Remove:      removeRouteTable,
			Takes:       standin.Timing{Create: 3 * time.Second, Update: 3 * time.Second, Remove: 11 * time.Second},
		}),
	}
}

// Functions look up networks, subnets and route tables.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"azure-native:network/v20190601:getVirtualNetwork": {SDK: network.LookupVirtualNetwork, Run: arm.Lookup(networks, withSubnets)},
		"azure-native:network/v20190601:getSubnet":         {SDK: network.LookupSubnet, Run: arm.Lookup(subnets, withRouteTable)},
		"azure-native:network/v20190601:getRouteTable":     {SDK: network.LookupRouteTable, Run: arm.Lookup(routeTables, nil)},
		"azure-native:network/v20190601:getNatGateway":     {SDK: network.LookupNatGateway, Run: arm.Lookup(gateways, nil)},
		"azure-native:network/v20190601:getPublicIPAddress": {
			SDK: network.LookupPublicIPAddress, Run: arm.Lookup(addresses, nil),
		},
	}
}

// withSubnets adds the subnets of a network.
func withSubnets(q *standin.Query, r *standin.Record, out standin.Props) {
	list := []any{}
	for subnet := range SubnetsOf(q.Cloud, r) {
		list = append(list, map[string]any(standin.WithID(subnet)))
	}
	out["subnets"] = list
}

// withRouteTable adds what a subnet's route table has.
func withRouteTable(q *standin.Query, r *standin.Record, out standin.Props) {
	if table := arm.ByID(q.Cloud, RouteTableType, r.Outputs.Sub("routeTable").Str("id")); table != nil {
		out["routeTable"] = map[string]any(standin.WithID(table))
	}
}

// succeeded fills in what all resources of a network have.
func succeeded(c *standin.Call) {
	out := c.Out()
	out["provisioningState"], out["etag"] = "Succeeded", arm.Etag()
	if c.Type.HasOutput("resourceGuid") {
		out["resourceGuid"] = arm.UUID()
		if c.Old != nil {
			out["resourceGuid"] = c.Old.Outputs["resourceGuid"]
		}
	}
}

// checkReference refuses the id of a resource that does not exist, or is in another
// location. Source:
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/troubleshooting/common-deployment-errors
func checkReference(c *standin.Call, token, id, location string) error {
	r := arm.ByID(c.Cloud, token, id)
	if r != nil && (location == "" || r.Outputs.Str("location") == location) {
		return nil
	}
	return c.Refusef("InvalidResourceReference", "Resource %s referenced by resource %s was not found. Please make sure that the referenced resource exists, "+
		"and that both resources are in the same region.", id, c.Record.ID)
}
