package containerservice

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/network"
	"tombolo/lab/standin"
)

// A pool is made in two ways: as a resource of its own, or by the inputs of its cluster.
// Both are records of the pools' type; the second ones are implied by their cluster.

func createPool(c *standin.Call) (string, error) {
	control := clusterOf(c)
	if err := checkIdle(c, control, false); err != nil {
		return "", err
	}
	if err := c.Check(
		func(c *standin.Call) error { return checkPools(c, control.ID) },
		func(c *standin.Call) error { return checkPool(c, control, c.In(), c.Record.ID) },
	); err != nil {
		return "", err
	}
	describePool(c, c.Record, control)
	return "", nil
}

// mostPools of a cluster:
// https://learn.microsoft.com/en-us/azure/aks/quotas-skus-regions
const mostPools = 100

// checkPools refuses one pool more than a cluster has.
func checkPools(c *standin.Call, control string) error {
	count := 0
	for r := range PoolsOf(c.Cloud, control) {
		if !arm.Same(r.ID, c.Record.ID) {
			count++
		}
	}
	if count >= mostPools {
		return c.Refusef("MaxAgentPoolCountReached", "The maximum number of agent pools of the managed cluster, %d, has been reached.", mostPools)
	}
	return nil
}

// clusterOf is the cluster that the call's pool is in.
func clusterOf(c *standin.Call) *standin.Record {
	return arm.ByID(c.Cloud, ClusterType, clusterIDOf(c.Record.ID))
}

func updatePool(c *standin.Call) error {
	control := clusterOf(c)
	if err := checkIdle(c, control, false); err != nil {
		return err
	}
	if busy(c.Old) {
		return inProgress(c, c.Old, "node pool")
	}
	err := c.Check(
		checkFixedPool,
		func(c *standin.Call) error { return checkPool(c, control, c.In(), c.Record.ID) },
		func(c *standin.Call) error { return checkPoolVersion(c, c.In().Str("orchestratorVersion"), control) },
		func(c *standin.Call) error { return checkSystemStays(c, c.In().Str("mode")) },
	)
	if err != nil {
		return err
	}
	describePool(c, c.Record, control)
	return nil
}

// fixedOfPool cannot change. Source: https://learn.microsoft.com/en-us/azure/aks/manage-node-pools and
// https://learn.microsoft.com/en-us/troubleshoot/azure/azure-kubernetes/error-codes/aks-error-code-propertychangenotallowed
var fixedOfPool = []string{"availabilityZones", "maxPods", "osDiskSizeGB", "osDiskType", "osType", "scaleSetPriority", "spotMaxPrice", "vnetSubnetID", "enableFIPS", "enableEncryptionAtHost", "kubeletDiskType"}

func checkFixedPool(c *standin.Call) error {
	for _, property := range fixedOfPool {
		given, is := c.In()[property]
		was := c.Old.Outputs[property]
		if is && !standin.Equal(given, was) && !arm.Same(fmt.Sprint(given), fmt.Sprint(was)) {
			return notAllowed(c, []string{"properties", property})
		}
	}
	return nil
}

// checkPoolVersion refuses to take a pool back to an older minor version. Source:
// https://learn.microsoft.com/en-us/azure/aks/manage-node-pools
func checkPoolVersion(c *standin.Call, version string, control *standin.Record) error {
	from := c.Old.Outputs.Str("currentOrchestratorVersion")
	if version == "" || version == minorOf(from) || exact(version) == from {
		return nil
	}
	to := poolVersion(version, control)
	if index(to) < index(from) {
		return c.Refusef("AgentPoolUpgradeVersionNotAllowed", "Upgrading agent pool from version %s to %s is not allowed. Available upgrades: [%s]. Please see https://aka.ms/aks-supported-k8s-ver for version details.",
			from, to, strings.Join(upgrades(from), " "))
	}
	return nil
}

// poolVersion is what a pool with a version runs: of a minor version that the control plane
// has, the control plane's own; nothing for one without.
func poolVersion(version string, control *standin.Record) string {
	current := control.Outputs.Str("currentKubernetesVersion")
	if version == "" || version == minorOf(current) {
		return current
	}
	return exact(version)
}

// taintShape is what a taint of nodes matches.
var taintShape = regexp.MustCompile(`^[^=:\s]+(=[^=:\s]*)?:(NoSchedule|PreferNoSchedule|NoExecute)$`)

// checkPool refuses what AKS refuses of a pool, wherever its inputs come from.
func checkPool(c *standin.Call, control *standin.Record, in standin.Props, id string) error {
	location := control.Outputs.Str("location")
	name := armid.NameOf(id)
	return c.Check(
		func(c *standin.Call) error { return checkSize(c, name, in.Str("vmSize"), in.Str("mode"), location) },
		func(c *standin.Call) error { return checkCount(c, in) },
		func(c *standin.Call) error { return checkPoolRules(c, in, name) },
		func(c *standin.Call) error { return checkAllNodes(c, control, wanted(in), id) },
		func(c *standin.Call) error { return checkZones(c, in.List("availabilityZones"), location) },
		func(c *standin.Call) error { return checkLabels(c, in) },
		func(c *standin.Call) error { return checkQuota(c, in, location, wanted(in), id) },
		func(c *standin.Call) error { return checkOrchestrator(c, in.Str("orchestratorVersion"), control) },
		func(c *standin.Call) error { return checkPoolNetwork(c, control, in, id) },
		func(c *standin.Call) error { return checkPodRange(c, control, wanted(in), id) },
	)
}

// wanted is how many nodes a pool is made with.
func wanted(in standin.Props) int {
	if in.Boolean("enableAutoScaling") && !in.Has("count") {
		return in.Integer("minCount")
	}
	return in.Integer("count")
}

// mostNodes of a pool:
// https://learn.microsoft.com/en-us/azure/aks/quotas-skus-regions
const mostNodes = 1000

// checkCount refuses numbers of nodes. Sources:
// https://learn.microsoft.com/en-us/azure/aks/cluster-autoscaler and
// https://learn.microsoft.com/en-us/azure/aks/use-system-pools
func checkCount(c *standin.Call, in standin.Props) error {
	low, high, count := in.Integer("minCount"), in.Integer("maxCount"), wanted(in)
	scaled := in.Boolean("enableAutoScaling")
	switch {
	case !scaled && (in.Has("minCount") || in.Has("maxCount")):
		return c.Refusef("AutoScalingNotEnabled", "minCount and maxCount of an agent pool can only be set when enableAutoScaling is true.")
	case scaled && (!in.Has("minCount") || !in.Has("maxCount")):
		return c.Refusef("InvalidParameter", "The value of parameter agentPoolProfile.minCount is invalid. Error details: minCount and maxCount are required when enableAutoScaling is true. Please see https://aka.ms/aks-naming-rules for more details.")
	case scaled && low > high:
		return c.Refusef("InvalidParameter", "The value of parameter agentPoolProfile.minCount is invalid. Error details: minCount %d must not be greater than maxCount %d. Please see https://aka.ms/aks-naming-rules for more details.", low, high)
	case scaled && (count < low || count > high):
		return c.Refusef("InvalidParameter", "The value of parameter agentPoolProfile.count is invalid. Error details: count %d must be between minCount %d and maxCount %d. Please see https://aka.ms/aks-naming-rules for more details.", count, low, high)
	case max(count, high) > mostNodes:
		return c.Refusef("AgentPoolMaxCountExceeded", "The count of an agent pool must be at most %d, it is %d.", mostNodes, max(count, high))
	case in.Str("mode") == "System" && (count < 1 || scaled && low < 1):
		return c.Refusef("InvalidParameter", "The value of parameter agentPoolProfile.count is invalid. Error details: a System agent pool must have at least one node. Please see https://aka.ms/aks-naming-rules for more details.")
	}
	return nil
}

// mostInCluster are how many nodes all pools of a cluster have together, by its tier. Sources:
// https://learn.microsoft.com/en-us/azure/aks/quotas-skus-regions and
// https://learn.microsoft.com/en-us/azure/aks/free-standard-pricing-tiers
func mostInCluster(control *standin.Record) int {
	if control.Outputs.Sub("sku").Str("tier") == "Free" {
		return 1000
	}
	return 5000
}

// checkAllNodes refuses more nodes of all pools together than a cluster has.
func checkAllNodes(c *standin.Call, control *standin.Record, nodes int, own string) error {
	for r := range PoolsOf(c.Cloud, control.ID) {
		if !arm.Same(r.ID, own) {
			nodes += r.Outputs.Integer("count")
		}
	}
	if most := mostInCluster(control); nodes > most {
		return c.Refusef("AgentPoolMaxCountExceeded", "The count of the nodes of all agent pools must be at most %d, it is %d.", most, nodes)
	}
	return nil
}

// checkLabels refuses labels and taints that AKS keeps for itself or cannot use. Sources:
// https://learn.microsoft.com/en-us/azure/aks/use-labels,
// https://learn.microsoft.com/en-us/azure/aks/use-node-taints and
// https://learn.microsoft.com/en-us/azure/aks/use-system-pools
func checkLabels(c *standin.Call, in standin.Props) error {
	for key, value := range in.Strs("nodeLabels") {
		if err := checkLabel(c, key, value); err != nil {
			return err
		}
	}
	for _, taint := range in.List("nodeTaints") {
		if !taintShape.MatchString(taint) {
			return c.Refusef("InvalidParameter", "The value of parameter agentPoolProfile.nodeTaints is invalid. Error details: taint '%s' is not of the form key=value:effect. Please see https://aka.ms/aks-naming-rules for more details.", taint)
		}
		if err := checkTaint(c, in, taint); err != nil {
			return err
		}
		hard := strings.HasSuffix(taint, ":NoSchedule") || strings.HasSuffix(taint, ":NoExecute")
		if in.Str("mode") == "System" && hard && !strings.HasPrefix(taint, "CriticalAddonsOnly") {
			return c.Refusef("SystemPoolHasRestrictedTaint", "Placing custom taints on system pool is not supported (except 'CriticalAddonsOnly' taint or taint effect is 'PreferNoSchedule'). Please refer to https://aka.ms/aks/system-taints for detail")
		}
	}
	return nil
}

// checkOrchestrator refuses a version of a pool that there is not, or that the control plane
// cannot work with. Source: https://github.com/dspace-group/simphera-reference-architecture-azure/issues/29
func checkOrchestrator(c *standin.Call, version string, control *standin.Record) error {
	current := control.Outputs.Str("currentKubernetesVersion")
	if version == "" || version == current || version == minorOf(current) {
		return nil
	}
	if index(version) < 0 {
		return c.Refusef("AgentPoolK8sVersionNotSupported", "Version %s is not supported in this region. Please use [az aks get-versions] command to get the supported version list in this region. For more information, please check https://aka.ms/supported-version-list", version)
	}
	return checkSkew(c, poolVersion(version, control), current)
}

// checkPoolNetwork refuses a subnet that a pool cannot be in. Sources:
// https://learn.microsoft.com/en-us/azure/aks/node-pool-unique-subnet and
// https://learn.microsoft.com/en-us/troubleshoot/azure/azure-kubernetes/connectivity/insufficientsubnetsize-error-advanced-networking
func checkPoolNetwork(c *standin.Call, control *standin.Record, in standin.Props, own string) error {
	id := in.Str("vnetSubnetID")
	for r := range PoolsOf(c.Cloud, control.ID) {
		if other := r.Outputs.Str("vnetSubnetID"); !arm.Same(r.ID, own) && !sameNetwork(other, id) {
			return c.Refusef("InvalidParameter", "The value of parameter agentPoolProfile.vnetSubnetID is invalid. Error details: all or none of the agent pools have to be in subnets of one virtual network. Please see https://aka.ms/aks-naming-rules for more details.")
		}
	}
	if id == "" {
		return nil
	}
	subnet, err := checkSubnet(c, id)
	if err != nil {
		return err
	}
	return checkRoom(c, subnet, wanted(in), own)
}

func sameNetwork(a, b string) bool {
	networkOf := func(id string) string { before, _, _ := strings.Cut(strings.ToLower(id), "/subnets/"); return before }
	return networkOf(a) == networkOf(b)
}

// checkRoom refuses more nodes than a subnet has addresses for, with one for an upgrade.
// Azure keeps five addresses of every subnet.
func checkRoom(c *standin.Call, subnet *standin.Record, nodes int, own string) error {
	free := -5
	for _, block := range network.Prefixes(subnet) {
		free += 1 << (32 - block.Bits())
	}
	for r := range c.Cloud.Each(PoolType, standin.Global) {
		if !arm.Same(r.ID, own) && arm.Same(r.Outputs.Str("vnetSubnetID"), subnet.ID) {
			free -= len(r.Nodes) + 1
		}
	}
	if needed := nodes + 1; needed > free {
		return c.Refusef("InsufficientSubnetSize", "Pre-allocated IPs %d exceeds IPs available %d in Subnet Cidr %s, Subnet Name %s. http://aka.ms/aks/insufficientsubnetsize",
			needed, max(free, 0), network.Prefixes(subnet)[0], armid.NameOf(subnet.ID))
	}
	return nil
}

// removePool refuses to take away the last system pool. Source:
// https://learn.microsoft.com/en-us/azure/aks/use-system-pools
func removePool(c *standin.Call) error {
	if err := checkIdle(c, clusterOf(c), false); err != nil {
		return err
	}
	return checkSystemStays(c, "User")
}

// checkSystemStays refuses a change of the call's pool by which no system pool is left.
// Source of the words: the managed cluster's expansion in
// https://github.com/hashicorp/terraform-provider-azurerm/blob/main/internal/services/containers/kubernetes_nodepool.go
func checkSystemStays(c *standin.Call, mode string) error {
	if mode == "System" {
		return nil
	}
	for r := range PoolsOf(c.Cloud, clusterIDOf(c.Record.ID)) {
		if !arm.Same(r.ID, c.Record.ID) && r.Outputs.Str("mode") == "System" {
			return nil
		}
	}
	return c.Refusef("MustDefineAtLeastOneSystemPool", "Must define at least one system pool.")
}

// checkInlinePools refuses the pools in a cluster's own inputs.
func checkInlinePools(c *standin.Call) error {
	profiles := c.In().Objects("agentPoolProfiles")
	isSystem := func(p standin.Props) bool { return p.Str("mode") == "System" }
	if !slices.ContainsFunc(profiles, isSystem) {
		return c.Refusef("MustDefineAtLeastOneSystemPool", "Must define at least one system pool.")
	}
	control := c.Record.Clone()
	control.Outputs["currentKubernetesVersion"] = exact(c.Out().Str("kubernetesVersion"))
	if c.Old != nil {
		control.Outputs["currentKubernetesVersion"] = c.Out()["currentKubernetesVersion"]
	}
	for _, p := range profiles {
		if err := checkPool(c, control, p, c.Record.ID+"/agentPools/"+p.Str("name")); err != nil {
			return err
		}
	}
	return nil
}

// putInlinePools makes or changes the pools that a cluster's own inputs have. Others stay as
// they are.
func putInlinePools(c *standin.Call) error {
	for _, p := range c.In().Objects("agentPoolProfiles") {
		r := inlinePool(c, p)
		if err := c.Cloud.Put(r); err != nil {
			return err
		}
	}
	describeInlinePools(c)
	return nil
}

// inlinePool is the record of a pool in a cluster's inputs, as it becomes.
func inlinePool(c *standin.Call, p standin.Props) *standin.Record {
	r := &standin.Record{
		Type: PoolType, ID: c.Record.ID + "/agentPools/" + p.Str("name"), Region: standin.Global, Created: c.Record.Created, Implied: true,
	}
	if before := poolNamed(c, p.Str("name")); before != nil {
		r = before.Clone()
	}
	r.Inputs = standin.Merged(p, standin.Props{
		"agentPoolName": p.Str("name"), "resourceName": c.In()["resourceName"], "resourceGroupName": c.In()["resourceGroupName"],
	})
	delete(r.Inputs, "name")
	before := r.Outputs
	r.Outputs = standin.Merged(p, standin.Props{"type": "Microsoft.ContainerService/managedClusters/agentPools"})
	if current := before.Str("currentOrchestratorVersion"); current != "" {
		r.Outputs["currentOrchestratorVersion"] = current
	}
	describePool(c, r, c.Record)
	return r
}

// describeInlinePools puts what becomes of the pools into a cluster's outputs.
func describeInlinePools(c *standin.Call) {
	list := []any{}
	for r := range PoolsOf(c.Cloud, c.Record.ID) {
		profile := r.Outputs.Clone()
		profile["type"] = "VirtualMachineScaleSets"
		list = append(list, map[string]any(profile))
	}
	c.Out()["agentPoolProfiles"] = list
}

// settleInlinePools brings the nodes of pools that a cluster's inputs have to its control plane.
func settleInlinePools(ctx context.Context, c *standin.Cloud, cluster *standin.Record) error {
	given := map[string]bool{}
	for _, p := range cluster.Inputs.Objects("agentPoolProfiles") {
		given[strings.ToLower(p.Str("name"))] = true
	}
	for _, r := range c.Snapshot(PoolType) {
		if !given[strings.ToLower(armid.NameOf(r.ID))] || !arm.Same(clusterIDOf(r.ID), cluster.ID) {
			continue
		}
		if err := setNodes(ctx, c, r); err != nil {
			return err
		}
	}
	return nil
}
