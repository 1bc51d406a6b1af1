// Package armid reads and writes the ids of Azure's Resource Manager. What core makes has
// names that the cluster file gives, so that its ids are known before it is made.
package armid

import (
	"fmt"
	"strings"
)

// The types of resources that ids are written of.
const (
	VirtualNetworks = "Microsoft.Network/virtualNetworks"
	NatGateways     = "Microsoft.Network/natGateways"
	PublicAddresses = "Microsoft.Network/publicIPAddresses"
	Identities      = "Microsoft.ManagedIdentity/userAssignedIdentities"
	ManagedClusters = "Microsoft.ContainerService/managedClusters"
	Zones           = "Microsoft.Network/dnsZones"
	PrivateZones    = "Microsoft.Network/privateDnsZones"
	Vaults          = "Microsoft.KeyVault/vaults"
	StorageAccounts = "Microsoft.Storage/storageAccounts"
)

// subnets is the type of subnets below that of networks.
const subnets = "subnets"

// Subscription is the id of a subscription.
func Subscription(subscription string) string { return "/subscriptions/" + subscription }

// Group is the id of a resource group.
func Group(subscription, group string) string {
	return Subscription(subscription) + "/resourceGroups/" + group
}

// Resource is the id of a resource of a type in a resource group.
func Resource(subscription, group, resourceType, name string) string {
	return Group(subscription, group) + "/providers/" + resourceType + "/" + name
}

// Subnet is the id of a subnet of a network.
func Subnet(subscription, group, network, subnet string) string {
	return Resource(subscription, group, VirtualNetworks, network) + "/" + subnets + "/" + subnet
}

// containers is the type of blob containers below that of storage accounts.
const containers = "/blobServices/default/containers/"

// Container is the id of a blob container in a storage account.
func Container(subscription, group, account, container string) string {
	return Resource(subscription, group, StorageAccounts, account) + containers + container
}

// ContainerParts are the names of the storage account and the container in the id of a container;
// "" for any other id.
func ContainerParts(id string) (account, container string) {
	account, container, found := strings.Cut(id, containers)
	if !found {
		return "", ""
	}
	return NameOf(account), container
}

// SubscriptionOf is the subscription in an id, "" when there is none.
func SubscriptionOf(id string) string {
	parts := strings.Split(id, "/")
	if len(parts) < 3 || !strings.EqualFold(parts[1], "subscriptions") {
		return ""
	}
	return parts[2]
}

// GroupOf is the id of the resource group in an id, "" when there is none.
func GroupOf(id string) string {
	parts := strings.Split(id, "/")
	if SubscriptionOf(id) == "" || len(parts) < 5 || !strings.EqualFold(parts[3], "resourceGroups") {
		return ""
	}
	return strings.Join(parts[:5], "/")
}

// Is says that an id is of a resource of a type. Azure tells no capitals from small letters.
func Is(id, resourceType string) bool {
	return strings.Contains(strings.ToLower(id), "/providers/"+strings.ToLower(resourceType)+"/")
}

// NameOf is the last part of an id, the name of what it is of.
func NameOf(id string) string { return id[strings.LastIndex(id, "/")+1:] }

// SubnetParts are the parts of the id of a subnet.
type SubnetParts struct {
	Subscription, Group, Network, Subnet string
}

// NetworkID is the id of the subnet's network.
func (s SubnetParts) NetworkID() string {
	return Resource(s.Subscription, s.Group, VirtualNetworks, s.Network)
}

// ParseSubnet reads the id of a subnet. Azure tells no capitals from small letters in ids.
func ParseSubnet(id string) (SubnetParts, error) {
	form := strings.Split(Subnet("", "", "", ""), "/")
	parts := strings.Split(id, "/")
	matches := len(parts) == len(form)
	for i := 0; matches && i < len(form); i++ {
		given := form[i] == "" && i > 0 // the names, between the words
		matches = given && parts[i] != "" || !given && strings.EqualFold(parts[i], form[i])
	}
	if !matches {
		return SubnetParts{}, fmt.Errorf("%q is no id of a subnet; write %s", id, Subnet("<subscription>", "<group>", "<network>", "<subnet>"))
	}
	return SubnetParts{Subscription: parts[2], Group: parts[4], Network: parts[8], Subnet: parts[10]}, nil
}
