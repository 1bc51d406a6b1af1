package azurefacts

// The lengths of names, in characters. Sources:
// https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules
// for resources; https://learn.microsoft.com/azure/aks/use-system-pools for node pools;
// kubernetes_dns_prefix.go of https://github.com/hashicorp/terraform-provider-azurerm for the
// DNS prefix.
const (
	MaxResourceGroupName = 90
	// MaxNodeGroupName is the length of the name of the resource group that AKS makes for
	// nodes: "Can I modify the node resource group" in
	// https://learn.microsoft.com/azure/aks/faq
	MaxNodeGroupName = 80
	MaxClusterName   = 63
	MaxDNSPrefix     = 54
	MinNetworkName   = 2
	MaxPoolName      = 12
	MaxIdentityName  = 128
	// MaxCredentialName is the length of the name of an identity's federated credential, by
	// https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations
	// and the pattern of the name in Microsoft.ManagedIdentity 2023-01-31.
	MaxCredentialName = 120
	// MaxNetworkLabel is the length of the names of a subnet, its network and its resource
	// group, which become labels of nodes:
	// https://learn.microsoft.com/azure/aks/concepts-network-azure-cni-overlay
	MaxNetworkLabel = 63
)

// The limits of tags. Source:
// https://learn.microsoft.com/azure/azure-resource-manager/management/tag-resources
const (
	// MaxTags of a resource. A private DNS zone has fewer: MaxZoneTags.
	MaxTags = 50
	// MaxZoneTags of the private DNS zone that AKS makes with the tags of the cluster.
	MaxZoneTags = 15
	MaxTagKey   = 512
	// MaxStorageTagKey is MaxTagKey of a storage account.
	MaxStorageTagKey = 128
	MaxTagValue      = 256
	// NotInTagKey are the characters that a key does not have.
	NotInTagKey = `<>%&\?/`
)

// ReservedTagPrefixes begin keys of tags that are Azure's own, in any case. Source:
// https://learn.microsoft.com/rest/api/resources/tags/create-or-update
func ReservedTagPrefixes() []string { return []string{"microsoft", "azure", "windows"} }
