package azurefacts

import (
	"regexp"
	"slices"
	"strings"
)

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
	// MaxCredentials is how many federated credentials an identity has at most, by the same page.
	MaxCredentials = 20
	// MaxNetworkLabel is the length of the names of a subnet, its network and its resource
	// group, which become labels of nodes:
	// https://learn.microsoft.com/azure/aks/concepts-network-azure-cni-overlay
	MaxNetworkLabel = 63
)

// reservedNames are no names of resources that an endpoint has the name of, in any case. Source:
// https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-reserved-resource-name
var reservedNames = []string{
	"access", "azure", "bing", "bizspark", "biztalk", "cortana", "directx", "dotnet", "dynamics", "excel", "exchange", "forefront", "groove",
	"hololens", "hyperv", "kinect", "lync", "msdn", "o365", "office", "office365", "onedrive", "onenote", "outlook", "powerpoint", "sharepoint",
	"skype", "visio", "visualstudio", "xbox",
}

// ReservedWord is the word by which Azure refuses a name of a resource with an endpoint, by the same
// source: the name itself, a part of it, or its begin; "" for none.
func ReservedWord(name string) string {
	lower := strings.ToLower(name)
	for _, word := range []string{"microsoft", "windows"} {
		if strings.Contains(lower, word) {
			return word
		}
	}
	if strings.HasPrefix(lower, "login") {
		return "login"
	}
	if slices.Contains(reservedNames, lower) {
		return lower
	}
	return ""
}

// The limits of tags. Source:
// https://learn.microsoft.com/azure/azure-resource-manager/management/tag-resources
const (
	// MaxTags of a resource. A private DNS zone has fewer: MaxZoneTags.
	MaxTags = 50
	// MaxZoneTags of the private DNS zone that AKS makes with the tags of the cluster: it takes 15,
	// and one is AKS's. Source: https://github.com/Azure/AKS/issues/3038
	MaxZoneTags = 14
	MaxTagKey   = 512
	// MaxStorageTagKey is MaxTagKey of a storage account.
	MaxStorageTagKey = 128
	MaxTagValue      = 256
	// NotInTagKey are the characters that a key does not have.
	NotInTagKey = `<>%&\?/`
)

// zoneTagKey is the key of a tag that a DNS zone of Azure keeps. It drops others without a word.
// Sources: https://github.com/Azure/azure-rest-api-specs/issues/11748,
// https://github.com/Azure/azure-resource-manager-schemas/issues/3367 and the limits above, by which a
// key begins with no digit.
var zoneTagKey = regexp.MustCompile(`^[A-Za-z_.-][A-Za-z0-9_.-]*$`)

// ZoneKeepsTag says that a DNS zone keeps a tag with the key.
func ZoneKeepsTag(key string) bool { return zoneTagKey.MatchString(key) }

// ReservedTagPrefixes begin keys of tags that are Azure's own, in any case. Source:
// https://learn.microsoft.com/rest/api/resources/tags/create-or-update
func ReservedTagPrefixes() []string { return []string{"microsoft", "azure", "windows"} }
