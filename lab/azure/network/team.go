package network

import (
	"fmt"
	"time"

	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
)

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
