package azure

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"tombolo/automation/cloud/azure/arm"
	"tombolo/automation/preflight"
	"tombolo/config"
	"tombolo/internal/armid"
)

const assignRoles = "Microsoft.Authorization/roleAssignments/write"

// rights that core needs in the cluster's subscription:
// https://learn.microsoft.com/azure/role-based-access-control/resource-provider-operations
func rights(c *config.Cluster) []string {
	out := []string{
		assignRoles,
		"Microsoft.ContainerService/managedClusters/write",
		"Microsoft.ContainerService/managedClusters/agentPools/write",
		"Microsoft.ContainerService/managedClusters/listClusterUserCredential/action",
		"Microsoft.ManagedIdentity/userAssignedIdentities/write",
		"Microsoft.ManagedIdentity/userAssignedIdentities/assign/action",
		"Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials/write",
		"Microsoft.Resources/subscriptions/resourceGroups/write",
	}
	makes := addonMakes(c)
	for _, m := range makes {
		out = append(out, m.rights...)
	}
	if !c.OwnsNetwork() {
		return out
	}
	out = append(out, "Microsoft.Network/virtualNetworks/write", "Microsoft.Network/virtualNetworks/subnets/write", subnetJoin)
	if len(makes) > 0 {
		// https://learn.microsoft.com/azure/virtual-network/virtual-network-service-endpoints-overview#provisioning
		out = append(out, "Microsoft.Network/virtualNetworks/subnets/joinViaServiceEndpoint/action")
	}
	if c.Network.Outbound == config.OutboundNATGateway {
		out = append(out, "Microsoft.Network/natGateways/write", "Microsoft.Network/natGateways/join/action",
			"Microsoft.Network/publicIPAddresses/write", "Microsoft.Network/publicIPAddresses/join/action")
	}
	return out
}

// What core does with a subnet of others: it reads it and its network, and AKS asks whether the
// caller may join it. Sources: https://learn.microsoft.com/azure/aks/configure-azure-cni#prerequisites
// and https://learn.microsoft.com/troubleshoot/azure/azure-kubernetes/create-upgrade-delete/linkedauthorizationfailed-error
const (
	subnetRead  = "Microsoft.Network/virtualNetworks/subnets/read"
	subnetJoin  = "Microsoft.Network/virtualNetworks/subnets/join/action"
	networkRead = "Microsoft.Network/virtualNetworks/read"
)

// scoped are actions on a resource of others.
type scoped struct {
	id      string
	actions []string
}

// rightsOnOthers are those that core needs on what others own. The table is the subnet's route
// table, "" for none.
func rightsOnOthers(c *config.Cluster, table string) []scoped {
	var out []scoped
	if existing := c.Network.Existing; existing != nil {
		subnet, err := armid.ParseSubnet(existing.NodeSubnet)
		if err != nil {
			return nil
		}
		ofSubnet, ofNetwork := []string{subnetRead, subnetJoin}, []string{networkRead}
		if existing.GrantAccess {
			ofSubnet = append(ofSubnet, assignRoles)
			if ownZone(c) != "" { // which AKS links with the network
				ofNetwork = append(ofNetwork, assignRoles)
			}
			if table != "" {
				out = append(out, scoped{table, []string{assignRoles}})
			}
		}
		out = append(out, scoped{existing.NodeSubnet, ofSubnet}, scoped{subnet.NetworkID(), ofNetwork})
	}
	if zone := ownZone(c); zone != "" {
		out = append(out, scoped{zone, []string{assignRoles}})
	}
	return append(out, rightsOfRoles(c)...)
}

// rightsOfRoles are those to assign the roles of services and addons in other subscriptions:
// the cluster's own is asked for as a whole.
func rightsOfRoles(c *config.Cluster) []scoped {
	var out []scoped
	for _, scope := range c.RoleScopes() {
		known := slices.ContainsFunc(out, func(s scoped) bool { return strings.EqualFold(s.id, scope) })
		if !known && !strings.EqualFold(armid.SubscriptionOf(scope), c.Cloud.Account) {
			out = append(out, scoped{scope, []string{assignRoles}})
		}
	}
	return out
}

// ownZone is the id of the private DNS zone that the file names; "" when AKS makes one, or none.
func ownZone(c *config.Cluster) string {
	if zone := c.Kubernetes.Endpoint.PrivateDNSZone; strings.HasPrefix(zone, "/") {
		return zone
	}
	return ""
}

// permission is one of those that the caller's roles add up to.
type permission struct {
	Actions, NotActions []string
}

// lacking are the actions that no role of the caller's allows on a resource, or in a
// subscription.
func lacking(ctx context.Context, client arm.Client, at string, actions []string) ([]string, string) {
	all, err := arm.List[permission](ctx, client, at+"/providers/Microsoft.Authorization/permissions", permissionVersion, "")
	if err != nil {
		return nil, err.Error()
	}
	return slices.DeleteFunc(slices.Clone(actions), func(action string) bool {
		return slices.ContainsFunc(all, func(p permission) bool {
			return matches(p.Actions, action) && !matches(p.NotActions, action)
		})
	}), ""
}

// missingOnOthers asks for each resource of others by itself: roles there count, and those on
// what it is in. Source: https://learn.microsoft.com/rest/api/authorization/permissions/list-for-resource
func missingOnOthers(ctx context.Context, client arm.Client, c *config.Cluster) []preflight.RightsOn {
	var out []preflight.RightsOn
	for _, need := range rightsOnOthers(c, routeTable(ctx, client, c)) {
		missing, unknown := lacking(ctx, client, need.id, need.actions)
		if len(missing) > 0 || unknown != "" {
			out = append(out, preflight.RightsOn{ID: need.id, Missing: missing, Err: unknown})
		}
	}
	return out
}

// routeTable is that of the existing subnet, where nodes go out by routes; "" when there is
// none, or the subnet cannot be read: then the right to read it is missing.
func routeTable(ctx context.Context, client arm.Client, c *config.Cluster) string {
	if c.Network.Existing == nil || c.Network.Outbound != config.OutboundRoutes {
		return ""
	}
	var subnet struct {
		Properties struct{ RouteTable struct{ ID string } }
	}
	if err := client.Get(ctx, c.Network.Existing.NodeSubnet, networkVersion, &subnet); err != nil {
		return ""
	}
	return subnet.Properties.RouteTable.ID
}

// matches says that one of the patterns, in which an asterisk stands for any text, is the
// action's.
func matches(patterns []string, action string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		expression := "(?i)^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$"
		found, err := regexp.MatchString(expression, action)
		return err == nil && found
	})
}
