// Package armid reads and writes the ids of Azure's Resource Manager. What core makes has
// names that the cluster file gives, so that its ids are known before it is made.
//
// The SDK's parser is in azcore/arm, whose HTTP client would come along: config would link 72
// packages more.
package armid

import (
	"fmt"
	"slices"
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
	Groups          = "Microsoft.Resources/resourceGroups"
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
const containers = "blobServices/containers"

// Container is the id of a blob container in a storage account.
func Container(subscription, group, account, container string) string {
	return Resource(subscription, group, StorageAccounts, account) + "/blobServices/default/containers/" + container
}

// ID is the id of a resource in Azure's Resource Manager, and its parts. Azure tells no capitals
// from small letters in it. Source:
// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules and
// https://learn.microsoft.com/rest/api/resources/resources/get-by-id
type ID struct {
	// Text is the whole id.
	Text string
	// Subscription and Group that the resource is in; Group is "" for what is above groups.
	Subscription, Group string
	// Type of the resource, such as Microsoft.Network/virtualNetworks/subnets; for a group Groups.
	Type string
	// Name of the resource, and Parent, the id of what it is a part of, or on; "" for none.
	Name, Parent string
}

// Parse reads an id; false for a text that is none.
func Parse(text string) (ID, bool) {
	parts := strings.Split(strings.TrimPrefix(text, "/"), "/")
	if SubscriptionOf(text) == "" || len(parts)%2 != 0 || slices.Contains(parts, "") {
		return ID{}, false
	}
	id := ID{Text: text, Subscription: parts[1], Name: NameOf(text)}
	if group := GroupOf(text); group != "" {
		id.Group, id.Type = NameOf(group), Groups
	}
	provider := -1
	for i := 2; i < len(parts); i += 2 {
		if strings.EqualFold(parts[i], "providers") {
			provider = i
		}
	}
	if provider < 0 {
		return id, true
	}
	id.Type = parts[provider+1]
	for i := provider + 2; i < len(parts); i += 2 {
		id.Type += "/" + parts[i]
	}
	switch {
	case len(parts)-provider > 4: // a part of another resource of the provider
		id.Parent = "/" + strings.Join(parts[:len(parts)-2], "/")
	case provider > 4: // a resource on another one
		id.Parent = "/" + strings.Join(parts[:provider], "/")
	}
	return id, true
}

// Is says that the resource is of a type.
func (id ID) Is(resourceType string) bool { return strings.EqualFold(id.Type, resourceType) }

// In says that the resource is in a group of a subscription, or that it is the group.
func (id ID) In(subscription, group string) bool {
	return strings.EqualFold(id.Subscription, subscription) && strings.EqualFold(id.Group, group)
}

// Same says that two texts are the id of one resource.
func Same(a, b string) bool { return strings.EqualFold(a, b) }

// Is says that an id is of a resource of a type.
func Is(text, resourceType string) bool {
	id, ok := Parse(text)
	return ok && id.Is(resourceType)
}

// SubscriptionOf is the subscription in an id or in the beginning of one, "" when there is none.
func SubscriptionOf(id string) string {
	parts := strings.SplitN(id, "/", 4)
	if len(parts) < 3 || parts[0] != "" || !strings.EqualFold(parts[1], "subscriptions") {
		return ""
	}
	return parts[2]
}

// GroupOf is the id of the resource group in an id or in the beginning of one, "" when there is
// none.
func GroupOf(id string) string {
	parts := strings.Split(id, "/")
	if SubscriptionOf(id) == "" || len(parts) < 5 || !strings.EqualFold(parts[3], "resourceGroups") || parts[4] == "" {
		return ""
	}
	return strings.Join(parts[:5], "/")
}

// NameOf is the last part of an id, the name of what it is of.
func NameOf(id string) string { return id[strings.LastIndex(id, "/")+1:] }

// ContainerParts are the names of the storage account and the container in the id of a container;
// "" for any other id.
func ContainerParts(text string) (account, container string) {
	id, _ := Parse(text)
	if !id.Is(StorageAccounts + "/" + containers) {
		return "", ""
	}
	services, _ := Parse(id.Parent)
	return NameOf(services.Parent), id.Name
}

// SubnetParts are the parts of the id of a subnet.
type SubnetParts struct {
	Subscription, Group, Network, Subnet string
}

// NetworkID is the id of the subnet's network.
func (s SubnetParts) NetworkID() string {
	return Resource(s.Subscription, s.Group, VirtualNetworks, s.Network)
}

// ParseSubnet reads the id of a subnet.
func ParseSubnet(text string) (SubnetParts, error) {
	id, _ := Parse(text)
	if !id.Is(VirtualNetworks+"/"+subnets) || id.Group == "" {
		return SubnetParts{}, fmt.Errorf("%q is no id of a subnet; write %s", text, Subnet("<subscription>", "<group>", "<network>", "<subnet>"))
	}
	return SubnetParts{Subscription: id.Subscription, Group: id.Group, Network: NameOf(id.Parent), Subnet: id.Name}, nil
}

// Credential is the name of the federated credential of a service account of Kubernetes: letters,
// digits, dashes and underscores, as Azure takes them, where Kubernetes has no underscores.
func Credential(namespace, account string) string {
	return namespace + "_" + strings.ReplaceAll(account, ".", "__")
}
