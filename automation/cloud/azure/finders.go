package azure

import (
	"strings"

	"tombolo/automation/recovery"
	"tombolo/config"
	"tombolo/internal/armid"
	"tombolo/internal/names"
)

// finders derive ids from inputs, by type token without the version of the API: everything in
// Azure is named by whoever makes it, so that nothing has to be looked up. A type that is
// missing here starts again: its interrupted creation counts as not happened.
//
// Each is the id below the resource group, in which a name in braces stands for an input; one
// that begins with a brace is the whole id.
var finders = map[string]string{
	"azure-native:authorization:RoleAssignment":    "{scope}/providers/Microsoft.Authorization/roleAssignments/{roleAssignmentName}",
	"azure-native:containerservice:AgentPool":      "Microsoft.ContainerService/managedClusters/{resourceName}/agentPools/{agentPoolName}",
	"azure-native:containerservice:ManagedCluster": "Microsoft.ContainerService/managedClusters/{resourceName}",
	"azure-native:keyvault:Vault":                  "Microsoft.KeyVault/vaults/{vaultName}",
	"azure-native:managedidentity:FederatedIdentityCredential": "Microsoft.ManagedIdentity/userAssignedIdentities/{resourceName}/" +
		"federatedIdentityCredentials/{federatedIdentityCredentialResourceName}",
	"azure-native:managedidentity:UserAssignedIdentity": "Microsoft.ManagedIdentity/userAssignedIdentities/{resourceName}",
	"azure-native:network:NatGateway":                   "Microsoft.Network/natGateways/{natGatewayName}",
	"azure-native:network:PublicIPAddress":              "Microsoft.Network/publicIPAddresses/{publicIpAddressName}",
	"azure-native:network:Subnet":                       "Microsoft.Network/virtualNetworks/{virtualNetworkName}/subnets/{subnetName}",
	"azure-native:network:VirtualNetwork":               "Microsoft.Network/virtualNetworks/{virtualNetworkName}",
	"azure-native:resources:ResourceGroup":              "",
	"azure-native:storage:BlobContainer":                "Microsoft.Storage/storageAccounts/{accountName}/blobServices/default/containers/{containerName}",
	"azure-native:storage:ManagementPolicy":             "Microsoft.Storage/storageAccounts/{accountName}/managementPolicies/{managementPolicyName}",
	"azure-native:storage:StorageAccount":               "Microsoft.Storage/storageAccounts/{accountName}",
}

// Finder returns how resources of a type are found again.
func (Cloud) Finder(token string) (recovery.Finder, bool) {
	below, ok := finders[plain(token)]
	if !ok {
		return recovery.Finder{}, false
	}
	return recovery.Finder{ID: func(in recovery.Inputs, c *config.Cluster) string { return derive(below, in, c) }}, true
}

// derive is the id of a resource with the inputs; "" when one is missing.
func derive(below string, in recovery.Inputs, c *config.Cluster) string {
	if !strings.HasPrefix(below, "{") {
		group := armid.Group(c.Cloud.Account, "{resourceGroupName}")
		if below != "" {
			group += "/providers/"
		}
		below = group + below
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(below, "{")
		out.WriteString(before)
		if !found {
			return out.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		value := in.String(name)
		if value == "" {
			return ""
		}
		out.WriteString(strings.TrimSuffix(value, "/"))
		below = after
	}
}

// tagged are the types of the Resource Manager that core makes with tags. Others, such as
// subnets and federated credentials, are parts of what has them, and an id of theirs that is
// derived has its parent in it. Lower case.
var taggedTypes = map[string]bool{
	"microsoft.containerservice/managedclusters":       true,
	"microsoft.keyvault/vaults":                        true,
	"microsoft.managedidentity/userassignedidentities": true,
	"microsoft.network/natgateways":                    true,
	"microsoft.network/publicipaddresses":              true,
	"microsoft.network/virtualnetworks":                true,
	"microsoft.resources/resourcegroups":               true,
	"microsoft.storage/storageaccounts":                true,
}

// Owner is the identity in the tags that the provider says a resource has. Azure makes what
// has no tags at all without the property: that is nobody's of ours.
func (Cloud) Owner(outputs map[string]any) (string, bool) {
	all, has := outputs["tags"].(map[string]any)
	id, _ := all[names.OwnerTag].(string)
	typ, _ := outputs["type"].(string)
	return id, has || taggedTypes[strings.ToLower(typ)]
}
