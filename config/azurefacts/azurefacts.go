// Package azurefacts has what Azure offers and how it names things, as data with its
// sources: Azure's public cloud, and no other.
package azurefacts

import (
	"net/netip"
	"slices"
)

// region of Azure's public cloud.
type region struct {
	name string
	// zones says that the region has availability zones.
	zones bool
}

// regions are those of Azure's public cloud by their programmatic names, but for those that
// are announced. In some, a subscription needs to ask for access. Source:
// articles/reliability/regions-list.md of https://github.com/MicrosoftDocs/reliability-docs at
// 01021ab, published as https://learn.microsoft.com/azure/reliability/regions-list
var regions = []region{
	{"australiacentral", false},
	{"australiacentral2", false},
	{"australiaeast", true},
	{"australiasoutheast", false},
	{"austriaeast", true},
	{"belgiumcentral", true},
	{"brazilsouth", true},
	{"brazilsoutheast", false},
	{"canadacentral", true},
	{"canadaeast", false},
	{"centralindia", true},
	{"centralus", true},
	{"chilecentral", true},
	{"eastasia", true},
	{"eastus", true},
	{"eastus2", true},
	{"francecentral", true},
	{"francesouth", false},
	{"germanynorth", false},
	{"germanywestcentral", true},
	{"indonesiacentral", true},
	{"israelcentral", true},
	{"italynorth", true},
	{"japaneast", true},
	{"japanwest", true},
	{"koreacentral", true},
	{"koreasouth", false},
	{"malaysiawest", true},
	{"mexicocentral", true},
	{"newzealandnorth", true},
	{"northcentralus", false},
	{"northeurope", true},
	{"norwayeast", true},
	{"norwaywest", false},
	{"polandcentral", true},
	{"qatarcentral", true},
	{"southafricanorth", true},
	{"southafricawest", false},
	{"southcentralus", true},
	{"southeastasia", true},
	{"southindia", false},
	{"spaincentral", true},
	{"swedencentral", true},
	{"switzerlandnorth", true},
	{"switzerlandwest", false},
	{"uaecentral", false},
	{"uaenorth", true},
	{"uksouth", true},
	{"ukwest", false},
	{"westcentralus", false},
	{"westeurope", true},
	{"westindia", false},
	{"westus", false},
	{"westus2", true},
	{"westus3", true},
}

// Regions are the regions that a cluster may be in, sorted.
func Regions() []string {
	names := make([]string, len(regions))
	for i, r := range regions {
		names[i] = r.name
	}
	return names
}

// HasZones says that a region has availability zones.
func HasZones(name string) bool {
	return slices.Contains(regions, region{name, true})
}

// Zones are the names of the availability zones of a region that has some. Source:
// https://learn.microsoft.com/azure/aks/reliability-availability-zones-configure
func Zones() []string { return []string{"1", "2", "3"} }

// ReservedBlocks are the blocks of addresses that AKS keeps: no network, pod or Service may
// have one. Source: "AKS CNI networking prerequisites" in
// https://learn.microsoft.com/azure/aks/concepts-network-cni-overview
func ReservedBlocks() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("172.30.0.0/16"),
		netip.MustParsePrefix("172.31.0.0/16"), netip.MustParsePrefix("192.0.2.0/24"),
	}
}

// The limits of a cluster. Sources: https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges
// for the blocks; https://learn.microsoft.com/azure/aks/concepts-network-azure-cni-overlay for
// nodes and pods, with ReservedAddresses; "Limitations" of
// https://learn.microsoft.com/azure/aks/http-proxy for authorities.
const (
	// MaxAuthorizedBlocks may reach a public endpoint.
	MaxAuthorizedBlocks = 200
	// MinPods and MaxPods are the limits of the pods of a node.
	MinPods = 10
	MaxPods = 250
	// MinSystemPods is how many pods the nodes of a pool have room for together.
	MinSystemPods = 30
	// SystemCores are the vCPUs that AKS asks for of the nodes of a system pool:
	// https://learn.microsoft.com/azure/aks/use-system-pools
	SystemCores = 4
	// NodeBlock is the length of the prefix of the block that a node gets for its pods.
	NodeBlock = 24
	// ReservedAddresses of each subnet are Azure's own.
	ReservedAddresses = 5
	// MaxAuthorities is how many certificates a cluster trusts beside the public ones.
	MaxAuthorities = 20
	// MaxPoolNodes is how many nodes a pool has.
	MaxPoolNodes = 1000
	// MaxPools of a cluster, and MaxNodes of all of them, which the tier free has fewer of. Sources:
	// https://learn.microsoft.com/azure/aks/quotas-skus-regions and
	// https://learn.microsoft.com/azure/aks/free-standard-pricing-tiers
	MaxPools     = 100
	MaxNodes     = 5000
	MaxFreeNodes = 1000
)

// MaxVaultBlocks of addresses reach a key vault by rules of their own, and none of PrivateBlocks is
// among them. Source: https://learn.microsoft.com/azure/key-vault/general/network-security
const MaxVaultBlocks = 1000

// PrivateBlocks are those of RFC 1918.
func PrivateBlocks() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16")}
}

// MinDiskGiB and MaxDiskGiB are the limits of a node's disk, in GiB; the image
// needs the smaller one. Source: osDiskSizeGB in
// https://learn.microsoft.com/rest/api/aks/agent-pools/create-or-update, whose largest value
// is 2048.
const (
	MinDiskGiB = 30
	MaxDiskGiB = 2048
)
