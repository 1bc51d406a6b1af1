package containerservice

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"tombolo/lab/azure/arm"
	"tombolo/lab/standin"
)

// What Azure's documents say of values that do not go together. Codes without another source
// are in the list at namespace; where that has none, the refusal is of the general form, and
// its details are in words of the lab's.

// invalid is AKS's refusal of a value.
func invalid(c *standin.Call, parameter, format string, args ...any) error {
	return c.Refusef("InvalidParameter", "The value of parameter "+parameter+" is invalid. Error details: "+format+" Please see https://aka.ms/aks-naming-rules for more details.", args...)
}

// checkCombinations refuses settings of a cluster that do not go together. Source, of long-term
// support: https://learn.microsoft.com/en-us/azure/aks/long-term-support
func checkCombinations(c *standin.Call) error {
	in := c.In()
	if in.Str("supportPlan") == "AKSLongTermSupport" && in.Sub("sku").Str("tier") != "Premium" {
		return invalid(c, "supportPlan", "long-term support is only available in the Premium tier.")
	}
	profile := in.Sub("networkProfile")
	return c.Check(
		func(c *standin.Call) error { return checkPluginMode(c, profile) },
		func(c *standin.Call) error { return checkLoadBalancer(c, profile) },
	)
}

// checkPluginMode is by https://learn.microsoft.com/en-us/azure/aks/azure-cni-overlay and
// https://learn.microsoft.com/en-us/azure/aks/use-network-policies
func checkPluginMode(c *standin.Call, profile standin.Props) error {
	plugin, policy := profile.Str("networkPlugin"), profile.Str("networkPolicy")
	switch {
	case profile.Str("networkPluginMode") == "overlay" && plugin != "azure" && plugin != "":
		return invalid(c, "networkProfile.networkPluginMode", "the mode overlay requires the network plugin azure, it is %s.", plugin)
	case plugin == "kubenet" && policy == "azure":
		return c.Refusef("NetworkPolicyAzureNotSupportedForKubenet", "Network policy azure is not supported for network plugin kubenet.")
	case plugin == "none" && policy != "none" && policy != "":
		return c.Refusef("NetworkPolicyNotSupportedForNone", "No network policy is supported for network plugin none.")
	}
	return nil
}

// checkLoadBalancer is by https://learn.microsoft.com/en-us/azure/aks/load-balancer-standard
func checkLoadBalancer(c *standin.Call, profile standin.Props) error {
	basic := profile.Str("loadBalancerSku") == "basic"
	outbound := profile.Str("outboundType")
	switch {
	case basic && c.In().Sub("apiServerAccessProfile").Boolean("enablePrivateCluster"):
		return c.Refusef("PrivateClusterNotSupportedWithBasicLoadBalancer", "A private cluster is not supported with a basic load balancer.")
	case basic && (profile.Has("loadBalancerProfile") || outbound != "" && outbound != "loadBalancer"):
		return c.Refusef("UnexpectedLoadBalancerSkuForCurrentOutboundConfiguration", "Load balancer sku must be standard with a load balancer profile or outbound type %s.", outbound)
	case profile.Sub("loadBalancerProfile").Integer("allocatedOutboundPorts")%8 != 0:
		return c.Refusef("LoadBalancerProfileAllocatedOutboundPortsMustBeMultipleOfEight", "Load balancer profile allocated ports %d is not a multiple of 8.",
			profile.Sub("loadBalancerProfile").Integer("allocatedOutboundPorts"))
	}
	return nil
}

// checkEntra refuses to take Entra from a cluster. Source:
// https://learn.microsoft.com/en-us/azure/aks/entra-id-control-plane-authentication
func checkEntra(c *standin.Call) error {
	if c.Old.Outputs.Sub("aadProfile").Boolean("managed") && !c.In().Has("aadProfile") {
		return notAllowed(c, []string{"aadProfile"})
	}
	return nil
}

// grows says that a range of pods becomes a larger one around it, which is the one change that
// AKS makes to it. Source: https://learn.microsoft.com/en-us/azure/aks/azure-cni-overlay-pod-expand
func grows(c *standin.Call, was, is any) bool {
	if c.Old.Outputs.Sub("networkProfile").Str("networkPluginMode") != "overlay" {
		return false
	}
	before, _ := was.(string)
	after, _ := is.(string)
	from, err := netip.ParsePrefix(before)
	to, err2 := netip.ParsePrefix(after)
	return err == nil && err2 == nil && to.Bits() < from.Bits() && to.Contains(from.Addr())
}

// checkPodRange refuses a range of pods that has no /24 for each node. Sources:
// https://learn.microsoft.com/en-us/azure/aks/concepts-network-azure-cni-overlay
func checkPodRange(c *standin.Call, control *standin.Record, nodes int, own string) error {
	profile := control.Outputs.Sub("networkProfile")
	block, err := netip.ParsePrefix(profile.Str("podCidr"))
	if err != nil || profile.Str("networkPluginMode") != "overlay" || block.Bits() < 8 {
		return nil
	}
	for r := range PoolsOf(c.Cloud, control.ID) {
		if !arm.Same(r.ID, own) {
			nodes += len(r.Nodes)
		}
	}
	if room := 1 << max(24-block.Bits(), 0); block.Bits() > 24 || nodes > room {
		return c.Refusef("InsufficientPodCidr", "Pre-allocated IPs for %d nodes, a /24 each, exceed the pod CIDR %s.", nodes, block)
	}
	return nil
}

// checkPoolRules refuses settings of a pool that do not go together.
func checkPoolRules(c *standin.Call, in standin.Props, name string) error {
	return c.Check(
		func(c *standin.Call) error { return checkSystemPool(c, in) },
		func(c *standin.Call) error { return checkSpot(c, in) },
		func(c *standin.Call) error { return checkOS(c, in, name) },
		func(c *standin.Call) error { return checkMaxPods(c, in) },
		func(c *standin.Call) error { return checkSurge(c, in.Sub("upgradeSettings").Str("maxSurge")) },
		func(c *standin.Call) error { return checkScaleSet(c, in) },
	)
}

// checkSystemPool is by https://learn.microsoft.com/en-us/azure/aks/use-system-pools
func checkSystemPool(c *standin.Call, in standin.Props) error {
	if in.Str("mode") != "System" {
		return nil
	}
	s, _ := sizeOf(in.Str("vmSize"))
	switch {
	case in.Str("osType") == "Windows":
		return invalid(c, "agentPoolProfile.osType", "a System agent pool must have the OS type Linux.")
	case in.Str("scaleSetPriority") == "Spot":
		return invalid(c, "agentPoolProfile.scaleSetPriority", "a Spot agent pool must have the mode User.")
	case s.family == "B":
		return invalid(c, "agentPoolProfile.vmSize", "VMs of the B series are not supported for System agent pools.")
	}
	return nil
}

// checkSpot is by https://learn.microsoft.com/en-us/azure/aks/spot-node-pool and, of the surge,
// https://github.com/Azure/bicep-types-az/issues/2217
func checkSpot(c *standin.Call, in standin.Props) error {
	price, given := in["spotMaxPrice"].(float64)
	spot := in.Str("scaleSetPriority") == "Spot"
	switch {
	case !spot && in.Has("scaleSetEvictionPolicy"):
		return invalid(c, "agentPoolProfile.scaleSetEvictionPolicy", "an eviction policy can only be set on a Spot agent pool.")
	case !spot && given && price != -1:
		return invalid(c, "agentPoolProfile.spotMaxPrice", "a maximum price can only be set on a Spot agent pool.")
	case spot && given && price != -1 && (price <= 0 || decimals(price) > 5):
		return invalid(c, "agentPoolProfile.spotMaxPrice", "the price must be -1 or a positive value with up to five decimal places.")
	case spot && in.Sub("upgradeSettings").Str("maxSurge") != "":
		return invalid(c, "agentPoolProfile.upgrade.maxSurge", "Spot pools can't set max surge.")
	}
	return nil
}

func decimals(n float64) int {
	_, after, _ := strings.Cut(strconv.FormatFloat(n, 'f', -1, 64), ".")
	return len(after)
}

// checkOS is by https://learn.microsoft.com/en-us/azure/aks/create-node-pools
func checkOS(c *standin.Call, in standin.Props, name string) error {
	windows := in.Str("osType") == "Windows"
	if windows && len(name) > 6 {
		return c.Refusef("WindowsAgentPoolNameTooLong", "The name %s of a Windows agent pool must have at most 6 characters.", name)
	}
	if sku := in.Str("osSKU"); sku != "" && strings.HasPrefix(sku, "Windows") != windows {
		return c.Refusef("InvalidOSSKU", "OSSKU='%s' is invalid, details: it is not of the OS type of the agent pool.", sku)
	}
	return nil
}

// The pods of a node, and of all nodes of a pool for the system. Sources:
// https://learn.microsoft.com/en-us/azure/aks/concepts-network-ip-address-planning and
// https://learn.microsoft.com/en-us/azure/aks/use-system-pools
const (
	fewestPods, mostPodsOfNode = 10, 250
	fewestOfSystem             = 30
)

func checkMaxPods(c *standin.Call, in standin.Props) error {
	given, is := in["maxPods"].(float64)
	pods := int(given)
	switch {
	case !is:
		return nil
	case pods < fewestPods:
		return c.Refusef("InsufficientMaxPods", "The maxPods %d of an agent pool is less than the minimum, %d.", pods, fewestPods)
	case pods > mostPodsOfNode:
		return c.Refusef("MaxPodsLimitExceeded", "The maxPods %d of an agent pool exceeds the maximum, %d.", pods, mostPodsOfNode)
	case in.Str("mode") == "System" && pods*wanted(in) < fewestOfSystem:
		return c.Refusef("InsufficientAgentPoolMaxPodsPerAgentPool", "The %d nodes of a System agent pool have %d pods each, which is less than the %d that it must support.", wanted(in), pods, fewestOfSystem)
	}
	return nil
}

// surges are how many nodes may be added for an upgrade: a number or a percentage. Source:
// https://learn.microsoft.com/en-us/azure/aks/upgrade-aks-node-pools-rolling
var surges = regexp.MustCompile(`^[1-9]\d*%?$`)

func checkSurge(c *standin.Call, surge string) error {
	if surge == "" || surges.MatchString(surge) {
		return nil
	}
	return invalid(c, "agentPoolProfile.upgrade.maxSurge", "%s is neither a number of nodes nor a percentage, greater than 0.", surge)
}

// checkScaleSet is by https://learn.microsoft.com/en-us/azure/aks/availability-zones and
// https://learn.microsoft.com/en-us/azure/aks/use-node-public-ips
func checkScaleSet(c *standin.Call, in standin.Props) error {
	set := in.Str("type") != "AvailabilitySet"
	switch {
	case !set && len(in.List("availabilityZones")) > 0:
		return c.Refusef("VMSSRequiredForAvailabilityZone", "Virtual Machine Scale Set is required for availability zones.")
	case !set && in.Boolean("enableNodePublicIP"):
		return c.Refusef("NodePublicIPRequiresVMSS", "Virtual Machine Scale Set is required for public IPs of nodes.")
	case in.Str("nodePublicIPPrefixID") != "" && !in.Boolean("enableNodePublicIP"):
		return c.Refusef("NodePublicIPCanNotBeFalseWithIPPrefixSet", "enableNodePublicIP can not be false with nodePublicIPPrefixID set.")
	}
	return nil
}

// reservedPrefixes of the labels of nodes. Source:
// https://learn.microsoft.com/en-us/azure/aks/use-labels#reserved-prefixes
var reservedPrefixes = []string{"kubernetes.azure.com/", "kubernetes.io/"}

// checkLabel refuses a label that AKS keeps for itself, or that Kubernetes does not have.
func checkLabel(c *standin.Call, key, value string) error {
	for _, prefix := range reservedPrefixes {
		if strings.HasPrefix(key, prefix) {
			return invalid(c, "agentPoolProfile.nodeLabels", "label %s has the prefix %s, which is reserved.", key, prefix)
		}
	}
	if reasons := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(value)...); len(reasons) > 0 {
		return invalid(c, "agentPoolProfile.nodeLabels", "label %s=%s: %s.", key, value, reasons[0])
	}
	return nil
}

// spotTaint is AKS's own, which it takes of a pool that has it anyway. Source:
// https://learn.microsoft.com/en-us/azure/aks/spot-node-pool
const spotTaint = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"

// checkTaint refuses a taint of AKS's own. Source:
// https://learn.microsoft.com/en-us/azure/aks/use-node-taints
func checkTaint(c *standin.Call, in standin.Props, taint string) error {
	if taint == spotTaint && in.Str("scaleSetPriority") == "Spot" || !strings.HasPrefix(taint, reservedPrefixes[0]) {
		return nil
	}
	return invalid(c, "agentPoolProfile.nodeTaints", "taint %s has the prefix %s, which is reserved.", taint, reservedPrefixes[0])
}
