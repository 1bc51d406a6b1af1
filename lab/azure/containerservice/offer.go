package containerservice

import (
	"fmt"
	"strings"

	"tombolo/lab/standin"
)

// Size is a size of virtual machines on offer.
type Size struct {
	Name, Family string
	CPUs, Memory int
}

// series of sizes on offer, with the numbers of vCPUs that each has. Source:
// https://learn.microsoft.com/en-us/azure/virtual-machines/sizes/overview
var series = map[string][]int{
	"Standard_B%ds_v2": {2, 4, 8, 16, 32}, "Standard_B%das_v2": {2, 4, 8, 16, 32}, "Standard_B%dps_v2": {2, 4, 8, 16},
	"Standard_B%dms":   {2, 4, 8, 12, 16, 20},
	"Standard_D%ds_v3": vCPUs, "Standard_D%ds_v4": vCPUs, "Standard_D%das_v4": vCPUs,
	"Standard_D%ds_v5": vCPUs, "Standard_D%dds_v5": vCPUs, "Standard_D%dls_v5": vCPUs, "Standard_D%das_v5": vCPUs, "Standard_D%dads_v5": vCPUs, "Standard_D%dps_v5": vCPUs, "Standard_D%dpds_v5": vCPUs,
	"Standard_D%ds_v6": vCPUs, "Standard_D%dds_v6": vCPUs, "Standard_D%das_v6": vCPUs, "Standard_D%dads_v6": vCPUs, "Standard_D%dps_v6": vCPUs, "Standard_D%dpds_v6": vCPUs,
	"Standard_E%ds_v5": vCPUs, "Standard_E%dds_v5": vCPUs, "Standard_E%das_v5": vCPUs, "Standard_E%dads_v5": vCPUs, "Standard_E%dps_v5": vCPUs,
	"Standard_E%ds_v6": vCPUs, "Standard_E%das_v6": vCPUs, "Standard_E%dads_v6": vCPUs,
	"Standard_F%ds_v2": {2, 4, 8, 16, 32, 48, 64, 72}, "Standard_L%ds_v3": {8, 16, 32, 48, 64, 80},
}

var vCPUs = []int{2, 4, 8, 16, 32, 48, 64}

// Sizes are those on offer, in the order of their names.
func Sizes() []Size {
	var list []Size
	for _, format := range standin.SortedKeys(series) {
		for _, cpus := range series[format] {
			name := fmt.Sprintf(format, cpus)
			s, _ := sizeOf(name)
			list = append(list, Size{Name: name, Family: familyInLists(s.quotaFamily()), CPUs: cpus, Memory: s.memory()})
		}
	}
	return list
}

// Used are the vCPUs that nodes have in a location, by family. The account is locked.
func Used(c *standin.Cloud, location string) map[string]int {
	counts := map[string]int{}
	for family, cpus := range used(c, location, "") {
		counts[familyInLists(family)] = cpus
	}
	return counts
}

// familyInLists is the name of a family in lists of sizes and quotas: standardDSv5Family.
func familyInLists(family string) string { return strings.ToLower(family[:1]) + family[1:] }

// Offer is a minor version of Kubernetes that AKS offers.
type Offer struct {
	Version string
	// Patches of it, the oldest first, each with the versions it can be upgraded to.
	Patches  []string
	Upgrades map[string][]string
	// OnlyLTS is only for clusters with long-term support.
	OnlyLTS bool
}

// Offers are all versions on offer, the newest first.
func Offers() []Offer {
	list := make([]Offer, 0, len(offered))
	for i := range offered {
		m := offered[len(offered)-1-i]
		o := Offer{Version: m.name, Patches: m.patches, Upgrades: map[string][]string{}, OnlyLTS: m.lts}
		for _, patch := range m.patches {
			o.Upgrades[patch] = upgrades(patch)
		}
		list = append(list, o)
	}
	return list
}

// Upgrades is the upgrade profile of a cluster: what its control plane and its pools may be
// upgraded to. Source: https://learn.microsoft.com/en-us/rest/api/aks/managed-clusters/get-upgrade-profile
func Upgrades(c *standin.Cloud, r *standin.Record) map[string]any {
	defer c.Lock()()
	pools := []any{}
	for p := range PoolsOf(c, r.ID) {
		profile := upgradeProfile(p.Outputs.Str("currentOrchestratorVersion"))
		profile["name"], profile["osType"] = p.Outputs.Str("name"), p.Outputs.Str("osType")
		pools = append(pools, profile)
	}
	plane := upgradeProfile(r.Outputs.Str("currentKubernetesVersion"))
	plane["osType"] = "Linux"
	return map[string]any{
		"id": r.ID + "/upgradeprofiles/default", "name": "default", "type": "Microsoft.ContainerService/managedClusters/upgradeprofiles",
		"properties": map[string]any{"controlPlaneProfile": plane, "agentPoolProfiles": pools},
	}
}

func upgradeProfile(version string) map[string]any {
	list := []any{}
	for _, to := range upgrades(version) {
		list = append(list, map[string]any{"kubernetesVersion": to})
	}
	return map[string]any{"kubernetesVersion": version, "upgrades": list}
}
