package containerservice

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tombolo/lab/azure/arm"
	"tombolo/lab/standin"
)

// size of a virtual machine: Standard_D4ads_v5 has 4 vCPUs, an AMD processor, and is of the
// family StandardDADSv5Family. Source:
// https://learn.microsoft.com/en-us/azure/virtual-machines/vm-naming-conventions
type size struct {
	family, features, version string
	cpus                      int
}

var sizeNames = regexp.MustCompile(`^Standard_([A-Z]{1,2})(\d+)(?:-\d+)?([a-z]*)(?:_v(\d+))?$`)

// families and the GiB of memory that they have for each vCPU. Source:
// https://learn.microsoft.com/en-us/azure/virtual-machines/sizes/overview
var families = map[string]int{"B": 4, "D": 4, "DS": 4, "DC": 4, "E": 8, "F": 2, "L": 8, "M": 16, "NC": 8, "ND": 8, "NV": 8}

// sizeOf is what a name tells; nothing of one that there is not.
func sizeOf(name string) (size, bool) {
	match := sizeNames.FindStringSubmatch(name)
	if match == nil || families[match[1]] == 0 {
		return size{}, false
	}
	cpus, _ := strconv.Atoi(match[2])
	return size{family: match[1], features: match[3], version: match[4], cpus: cpus}, cpus > 0 && cpus <= 416
}

// arch of the processor: a p among the features is ARM's.
func (s size) arch() string {
	if strings.Contains(s.features, "p") {
		return "arm64"
	}
	return "amd64"
}

// memory in GiB: an l among the features has half as much, a t an eighth.
func (s size) memory() int {
	memory := s.cpus * families[s.family]
	switch {
	case strings.Contains(s.features, "t"):
		return memory / 8
	case strings.Contains(s.features, "l"):
		return memory / 2
	}
	return memory
}

// quotaFamily is what quotas are counted by.
func (s size) quotaFamily() string {
	version := ""
	if s.version != "" {
		version = "v" + s.version
	}
	return "Standard" + s.family + strings.ToUpper(s.features) + version + "Family"
}

// Quota of vCPUs of a family in a location, as the lab's subscription has it.
const Quota = 350

// checkSize refuses a size that there is not, and one that is too small for system pods.
// Sources: https://github.com/Azure/AKS/issues/1171 and
// https://learn.microsoft.com/en-us/azure/aks/use-system-pools
func checkSize(c *standin.Call, pool, name, mode, location string) error {
	s, known := sizeOf(name)
	if !known {
		return c.Refusef("BadRequest", "The VM size of %s is not allowed in your subscription in location '%s'. For more details, please visit https://aka.ms/aks/quotas-skus-regions.", name, location)
	}
	if mode == "System" && (s.cpus < 2 || s.memory() < 4) {
		return c.Refusef("SystemPoolSkuTooLow", "System node pool must use VM sku with more than 2 cores and 4GB memory. Nodepool name: %s.", pool)
	}
	return nil
}

// checkQuota refuses more vCPUs of a family than are left. Source of the words:
// https://github.com/1ChristianAlex/motordesk/issues/14
func checkQuota(c *standin.Call, pool standin.Props, location string, count int, own string) error {
	s, _ := sizeOf(pool.Str("vmSize"))
	family := familyOf(pool, s)
	used := used(c.Cloud, location, own)[family]
	if wanted := s.cpus * count; wanted > Quota-used {
		return c.Refusef("ErrCode_InsufficientVCPUQuota", "Insufficient vcpu quota requested %d, remaining %d for family %s for region %s. Surge nodes would also consume vcpu quota, please consider use smaller maxSurge or use maxUnavailable to proceed upgrade without surge nodes, details: aka.ms/aks/upgrade-without-surge-nodes",
			wanted, max(Quota-used, 0), family, location)
	}
	return nil
}

// used are the vCPUs in a location by family, those of one pool left out.
func used(c *standin.Cloud, location, without string) map[string]int {
	counts := map[string]int{}
	for r := range c.Each(PoolType, standin.Global) {
		if s, known := sizeOf(r.Outputs.Str("vmSize")); known && !arm.Same(r.ID, without) && locationOf(c, r) == location {
			counts[familyOf(r.Outputs, s)] += s.cpus * len(r.Nodes)
		}
	}
	return counts
}

// Spot is what all spot nodes are counted by, of any family. Source:
// https://learn.microsoft.com/en-us/azure/quotas/spot-quota
const Spot = "lowPriorityCores"

// familyOf is what the nodes of a pool are counted by.
func familyOf(pool standin.Props, s size) string {
	if pool.Str("scaleSetPriority") == "Spot" {
		return Spot
	}
	return s.quotaFamily()
}

// locationOf a pool is its cluster's.
func locationOf(c *standin.Cloud, pool *standin.Record) string {
	if r := arm.ByID(c, ClusterType, clusterIDOf(pool.ID)); r != nil {
		return r.Outputs.Str("location")
	}
	return ""
}

// checkZones refuses availability zones that the location does not have. Source:
// https://learn.microsoft.com/en-us/troubleshoot/azure/azure-kubernetes/error-codes/availability-zones-error
func checkZones(c *standin.Call, zones []string, location string) error {
	have := arm.Locations[location]
	if len(zones) > 0 && have == 0 {
		return c.Refusef("AvailabilityZoneNotSupported", "Preflight validation check for resource(s) failed. Message: The zone(s) '%s' for resource is not supported. The location '%s' has no availability zones.", strings.Join(zones, ","), location)
	}
	var offered []string
	for zone := 1; zone <= have; zone++ {
		offered = append(offered, strconv.Itoa(zone))
	}
	for _, zone := range zones {
		if !slices.Contains(offered, zone) {
			return c.Refusef("AvailabilityZoneNotSupported", "Preflight validation check for resource(s) failed. Message: The zone(s) '%s' for resource is not supported. The supported zones for location '%s' are '%s'.",
				zone, location, strings.Join(offered, ","))
		}
	}
	return nil
}

// zoneName is how the label of a node names a zone.
func zoneName(location, zone string) string {
	if zone == "" {
		return "0"
	}
	return fmt.Sprintf("%s-%s", location, zone)
}

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
