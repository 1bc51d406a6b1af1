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
