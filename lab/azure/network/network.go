// Package network is Azure's virtual networks in the stand-in.
package network

import (
	"cmp"
	"fmt"
	"regexp"
	"time"

	network "github.com/pulumi/pulumi-azure-native-sdk/network/v2/v20190601"

	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/rbac"
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
			Put:      describeNetwork,
			Remove:   func(c *standin.Call) error { return removeNetwork(c, users) },
			// Seconds, by azure-native's own recordings and users' logs.
			Takes: standin.Timing{Create: 5 * time.Second, Update: 5 * time.Second, Remove: 11 * time.Second},
		}),
		SubnetType: subnets.Type(standin.Type{
			Constructor: network.NewSubnet,
			Put:         func(c *standin.Call) error { return describeSubnet(c, users) },
			Remove:      func(c *standin.Call) error { return checkUnused(c, c.Record, users) },
			Takes:       standin.Timing{Create: 5 * time.Second, Update: 5 * time.Second, Remove: 11 * time.Second},
		}),
		NatGatewayType: gateways.Type(standin.Type{
			Constructor: network.NewNatGateway,
			Put:         describeGateway,
			Remove:      removeGateway,
			Takes:       standin.Timing{Create: 3 * time.Second, Update: 3 * time.Second, Remove: 11 * time.Second},
		}),
		AddressType: addresses.Type(standin.Type{
			Constructor: network.NewPublicIPAddress,
			// forceNewMap in provider/pkg/gen/replacement.go of azure-native
			ForceNew: []string{"location", "publicIPAddressVersion", "publicIPPrefix", "sku"},
			Put:      describeAddress,
			Remove:   removeAddress,
			Takes:    standin.Timing{Create: 3 * time.Second, Update: 3 * time.Second, Remove: 11 * time.Second},
			// https://github.com/MicrosoftDocs/azure-docs/issues/106096
			LimitExceeded: standin.Refusal{Code: "PublicIPCountLimitReached", Message: "Cannot create more than 1000 public IP addresses for this subscription in this region."},
		}),
		BalancerType: balancers.Type(standin.Type{
			Constructor: network.NewLoadBalancer,
			// forceNewMap in provider/pkg/gen/replacement.go of azure-native
			ForceNew: []string{"location", "sku"},
			Put:      describeBalancer,
			Takes:    standin.Timing{Create: 3 * time.Second, Update: 3 * time.Second, Remove: 11 * time.Second},
		}),
		RouteTableType: routeTables.Type(standin.Type{
			Constructor: network.NewRouteTable,
			Put:         describeRouteTable,
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

// The network team's network, which exists from the start, as companies have networks that
// no cluster makes. It is in a subscription of its own. Its route table leads to the team's
// firewall.
const (
	TeamGroup      = "network-team"
	TeamNetwork    = "shared"
	TeamSubnet     = "aks"
	TeamRouteTable = "to-firewall"
)

// The ids of the network team's resources.
const (
	teamGroupID      = "/subscriptions/" + arm.NetworkSubscription + "/resourceGroups/" + TeamGroup
	TeamNetworkID    = teamGroupID + "/providers/Microsoft.Network/virtualNetworks/" + TeamNetwork
	TeamSubnetID     = TeamNetworkID + "/subnets/" + TeamSubnet
	TeamRouteTableID = teamGroupID + "/providers/Microsoft.Network/routeTables/" + TeamRouteTable
)

// TeamZone is the id of the network team's private DNS zone for the clusters of a location.
func TeamZone(location string) string {
	return teamGroupID + "/providers/Microsoft.Network/privateDnsZones/privatelink." + location + ".azmk8s.io"
}

// OwnNetwork makes the network team's network, in a location, where it does not exist yet.
// The lab's credentials may read it, join its subnet and assign roles on all that the team
// has, such as its private DNS zones; they may change nothing.
func OwnNetwork(c *standin.Cloud, location string) error {
	defer c.Lock()()
	if arm.ByID(c, NetworkType, TeamNetworkID) != nil {
		return nil
	}
	for _, r := range teamResources(location) {
		if err := c.Put(teamRecord(c, r)); err != nil {
			return fmt.Errorf("make the network team's network: %w", err)
		}
	}
	return nil
}

type teamResource struct {
	token, id string
	in, out   standin.Props
}

// teamRecord is implied: it is no resource of anybody's that works with the account, and is
// in no inventory.
func teamRecord(c *standin.Cloud, r teamResource) *standin.Record {
	out := standin.Merged(r.in, r.out)
	return &standin.Record{
		Type: r.token, ID: r.id, Region: standin.Global, Implied: true,
		// Long ago: rights that the team has given count.
		Created: c.Now().Add(-24 * time.Hour), Inputs: r.in, Outputs: standin.Normal(map[string]any(out)).(map[string]any),
	}
}

func teamResources(location string) []teamResource {
	state := func(name, kind string, more standin.Props) standin.Props {
		return standin.Merged(standin.Props{"name": name, "type": kind, "provisioningState": "Succeeded", "etag": arm.Etag()}, more)
	}
	inTeam := func(in standin.Props) standin.Props {
		return standin.Merged(in, standin.Props{"resourceGroupName": TeamGroup})
	}
	list := []teamResource{
		{arm.GroupType, teamGroupID, standin.Props{"resourceGroupName": TeamGroup, "location": location}, standin.Props{
			"name": TeamGroup, "type": "Microsoft.Resources/resourceGroups", "properties": map[string]any{"provisioningState": "Succeeded"},
		}},
		{NetworkType, TeamNetworkID, inTeam(standin.Props{
			"virtualNetworkName": TeamNetwork, "location": location, "addressSpace": map[string]any{"addressPrefixes": []any{"10.200.0.0/16"}},
		}), state(TeamNetwork, networks.ARM, standin.Props{"enableDdosProtection": false, "virtualNetworkPeerings": []any{}})},
		{RouteTableType, TeamRouteTableID, inTeam(standin.Props{
			"routeTableName": TeamRouteTable, "location": location, "disableBgpRoutePropagation": true,
			"routes": []any{map[string]any{"name": "default", "addressPrefix": "0.0.0.0/0", "nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.200.255.4"}},
		}), state(TeamRouteTable, routeTables.ARM, nil)},
		{SubnetType, TeamSubnetID, inTeam(standin.Props{
			"virtualNetworkName": TeamNetwork, "subnetName": TeamSubnet, "addressPrefix": "10.200.0.0/20", "routeTable": map[string]any{"id": TeamRouteTableID},
		}), state(TeamSubnet, subnets.ARM, standin.Props{"privateEndpointNetworkPolicies": "Enabled", "privateLinkServiceNetworkPolicies": "Enabled", "delegations": []any{}})},
	}
	rights := []struct{ scope, role string }{
		{teamGroupID, rbac.Reader},
		{TeamSubnetID, rbac.SubnetJoiner},
		{teamGroupID, rbac.AccessAdministrator},
	}
	for i, right := range rights {
		list = append(list, teamRight(i, right.scope, right.role))
	}
	return list
}

// teamRight is a role that the team has given to the lab's credentials.
func teamRight(number int, scope, role string) teamResource {
	name := fmt.Sprintf("00000000-0000-4000-8000-0000000000d%d", number)
	in := standin.Props{
		"principalId": arm.ClientObject, "principalType": "ServicePrincipal", "scope": scope,
		"roleDefinitionId": rbac.Definition(arm.NetworkSubscription, role), "roleAssignmentName": name,
	}
	return teamResource{
		rbac.AssignmentType, scope + "/providers/Microsoft.Authorization/roleAssignments/" + name, in,
		standin.Props{"name": name, "type": "Microsoft.Authorization/roleAssignments"},
	}
}
