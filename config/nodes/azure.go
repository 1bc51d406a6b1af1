package nodes

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tombolo/config/azurefacts"
	"tombolo/config/check"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// burstable are sizes that AKS takes for no system pool. Source: "Limitations" in
// https://learn.microsoft.com/azure/aks/use-system-pools
var burstable = regexp.MustCompile(`^Standard_B[0-9]`)

// criticalOnly is the key of the only hard taint of a system pool. Source:
// https://learn.microsoft.com/azure/aks/use-system-pools
const criticalOnly = "CriticalAddonsOnly"

// newSize has the number of vCPUs in the name of a size with a version, such as 4 in
// Standard_D4ads_v5 or 2 in Standard_E4-2s_v5. Older sizes, such as Standard_D11_v2, count otherwise.
// Source: https://learn.microsoft.com/azure/virtual-machines/vm-naming-conventions
var newSize = regexp.MustCompile(`^Standard_[A-Z]+([0-9]+)(-([0-9]+))?[a-z]*_v([3-9]|[1-9][0-9])$`)

// oneCore are older sizes with one vCPU. Source:
// https://learn.microsoft.com/azure/virtual-machines/sizes/overview
var oneCore = regexp.MustCompile(`^Standard_(A0|A1|A1_v2|D1|D1_v2|DS1|DS1_v2|F1|F1s)$`)

// coresIn is how many vCPUs a size of virtual machines has by its name; 0 when it does not tell.
func coresIn(size string) int {
	if oneCore.MatchString(size) {
		return 1
	}
	m := newSize.FindStringSubmatch(size)
	if m == nil {
		return 0
	}
	cores, _ := strconv.Atoi(cmp.Or(m[3], m[1]))
	return cores
}

// CheckOnAzure checks the node pools. The first with mode: system is the pool that AKS makes
// the cluster with.
func CheckOnAzure(v *check.File, groups []NodeGroup) {
	list := strict.Path("kubernetes.nodeGroups")
	check.Unique(v, list, "name", groups, func(g NodeGroup) string { return g.Name }, "give each node group its own name")
	if n := len(groups); n > azurefacts.MaxPools {
		v.Problem(list, "use fewer and larger ones", "has %d node groups; AKS has at most %d pools in a cluster", n, azurefacts.MaxPools)
	}
	system := func(g NodeGroup) bool { return g.Mode == SystemPool }
	if v.Doc.Has(list) && v.Doc.Sound(list) && !slices.ContainsFunc(groups, system) && soundModes(v, groups) {
		v.Problem(list, "add mode: system to one of them", "has no group with mode: system, which AKS needs for the pods of kube-system")
	}
	for i, g := range groups {
		at := list.Index(i)
		checkSize(v, at.Field("size"), g.Size)
		checkPoolSize(v, at.Field("size"), g)
		checkPoolZones(v, at.Field("zones"), g.Zones)
		if g.Mode == SystemPool {
			checkSystemPool(v, at, g)
		}
		if g.Capacity == Spot && v.Doc.Has(at.Field("update").Field("maxSurge")) {
			v.Problem(at.Field("update").Field("maxSurge"), "remove it", "has no effect with capacity: spot: AKS adds no nodes while it rolls these")
		}
		v.Labels(at.Field("labels"), g.Labels)
		for _, key := range slices.Sorted(maps.Keys(g.Labels)) {
			checkNotReserved(v, at.Field("labels").Key(key), key)
		}
		checkNodeTaints(v, at.Field("taints"), g.Taints)
	}
}

func soundModes(v *check.File, groups []NodeGroup) bool {
	for i := range groups {
		if !v.Doc.Sound(strict.Path("kubernetes.nodeGroups").Index(i).Field("mode")) {
			return false
		}
	}
	return true
}

func checkPoolSize(v *check.File, at strict.Path, g NodeGroup) {
	if *g.Size.Max > azurefacts.MaxPoolNodes {
		v.Problem(at.Field("max"), fmt.Sprintf("use %d at most, and more node groups", azurefacts.MaxPoolNodes),
			"is %d, and a pool of AKS has at most %d nodes", *g.Size.Max, azurefacts.MaxPoolNodes)
	}
}

// checkPoolZones refuses zones where the region has none.
func checkPoolZones(v *check.File, at strict.Path, zones []string) {
	check.Unique(v, at, "", zones, check.Itself, "give each zone once")
	if region := v.Region; len(zones) > 0 && v.Doc.Sound("cloud.region", at) && !azurefacts.HasZones(region) {
		v.Problem(at, "remove it, or use a region with zones", "the region %s has no availability zones", region)
	}
}

// checkSystemPool checks what AKS asks of the pools for its own pods. Source: "System and user
// node pools" in https://learn.microsoft.com/azure/aks/use-system-pools
func checkSystemPool(v *check.File, at strict.Path, g NodeGroup) {
	size := at.Field("size").Field("min")
	switch {
	case !v.Doc.Sound(size):
	case *g.Size.Min < 1:
		v.Problem(size, "use 1 or more; 2 keep the cluster's DNS up while a node is replaced", "is 0, and a group with mode: system always has a node")
	case *g.Size.Min*g.MaxPods < azurefacts.MinSystemPods && v.Doc.Sound(at.Field("maxPods")):
		v.Problem(at.Field("maxPods"), fmt.Sprintf("use %d or more, or a larger size.min", azurefacts.MinSystemPods),
			"leaves room for %s on %s, and AKS needs %d with mode: system",
			wording.Count(*g.Size.Min*g.MaxPods, "pod"), wording.Count(*g.Size.Min, "node"), azurefacts.MinSystemPods)
	}
	if g.Capacity == Spot {
		v.Problem(at.Field("capacity"), "use on-demand, or mode: user", "spot does not go with mode: system: Azure takes the nodes back at any time")
	}
	for i, t := range g.Taints {
		if t.Effect != PreferNoSchedule && t.Key != criticalOnly {
			v.Problem(at.Field("taints").Index(i), "use effect: PreferNoSchedule, the key "+criticalOnly+", or mode: user",
				"%s does not go with mode: system: AKS's own pods tolerate no other hard taint than %s", wording.Quote(t.Key+":"+string(t.Effect)), criticalOnly)
		}
	}
	switch cores := coresIn(g.VMSize); {
	case cores == 1:
		v.Problem(at.Field("vmSize"), "use a size with 4 vCPUs or more, such as Standard_D4s_v5", "%s has 1 vCPU, and AKS takes it for no group with mode: system", g.VMSize)
	case cores > 1 && cores < azurefacts.SystemCores && !burstable.MatchString(g.VMSize):
		v.Warn(at.Field("vmSize"), "use a size with 4 vCPUs or more, such as Standard_D4s_v5", "%s has %d vCPUs, and AKS asks for %d with mode: system", g.VMSize, cores, azurefacts.SystemCores)
	}
	if burstable.MatchString(g.VMSize) {
		v.Problem(at.Field("vmSize"), "use a size of another series, such as Standard_D4s_v5", "%s is of the series B, which AKS takes for no group with mode: system", g.VMSize)
	}
}

// checkNodeTaints checks the taints of a pool.
func checkNodeTaints(v *check.File, list strict.Path, taints []Taint) {
	checkRepeatedTaints(v, list, taints)
	for i, t := range taints {
		at := list.Index(i)
		if !v.Doc.Sound(at.Field("key")) {
			continue
		}
		checkTaintKey(v, at.Field("key"), t.Key)
		v.LabelValue(at.Field("value"), "a taint", t.Value)
	}
}

// SoundSizes says that the sizes of all groups could be read.
func SoundSizes(v *check.File, groups []NodeGroup) bool {
	for i := range groups {
		at := strict.Path("kubernetes.nodeGroups").Index(i)
		if !v.Doc.Sound(at.Field("size").Field("max"), at.Field("size").Field("min"), at.Field("size").Field("desired"), at.Field("update").Field("maxSurge")) {
			return false
		}
	}
	return true
}

// MostNodes is how many nodes the pools have together while AKS rolls all of them.
func MostNodes(groups []NodeGroup) int {
	most := 0
	for _, g := range groups {
		most += *g.Size.Max + g.surge()
	}
	return most
}

// surge is how many nodes AKS adds while it rolls the pool at its largest size.
func (g NodeGroup) surge() int {
	number, percent := strings.CutSuffix(g.Update.MaxSurge, "%")
	n, err := strconv.Atoi(number)
	switch {
	case err != nil:
		return 0
	case percent:
		return (*g.Size.Max*n + 99) / 100
	}
	return min(n, *g.Size.Max)
}
