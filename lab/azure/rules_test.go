package azure

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
	"tombolo/lab/standin/standintest"
)

// TestCombinationsOfClustersAreRefused: what Azure's documents say does not go together. Their
// sources are at the checks, in containerservice/rules.go.
func TestCombinationsOfClustersAreRefused(t *testing.T) {
	w := newIdentities(t)
	lts := func(tier string) props {
		return props{"supportPlan": "AKSLongTermSupport", "sku": map[string]any{"name": "Base", "tier": tier}}
	}
	network := func(change props) props { return props{"networkProfile": w.clusterNetwork(change)} }
	plain := func(change props) props {
		return network(standin.Merged(props{"networkDataplane": "azure", "networkPluginMode": nil}, change))
	}
	for _, tc := range []refusal{
		{lts("Standard"), "long-term support is only available in the Premium tier."},
		{lts("Free"), "long-term support is only available in the Premium tier."},
		{props{"supportPlan": "AKSLongTermSupport"}, "The value of parameter supportPlan is invalid."},
		{network(props{"networkDataplane": "azure", "networkPlugin": "kubenet"}), "the mode overlay requires the network plugin azure, it is kubenet."},
		{network(props{"networkDataplane": "azure", "networkPlugin": "none"}), "the mode overlay requires the network plugin azure, it is none."},
		{plain(props{"networkPlugin": "kubenet", "networkPolicy": "azure"}), `Code="NetworkPolicyAzureNotSupportedForKubenet"`},
		{plain(props{"networkPlugin": "none", "networkPolicy": "calico"}), `Code="NetworkPolicyNotSupportedForNone"`},
		{network(props{"loadBalancerSku": "basic"}), `Code="UnexpectedLoadBalancerSkuForCurrentOutboundConfiguration"`},
		{
			network(props{"loadBalancerSku": "basic", "outboundType": "loadBalancer", "loadBalancerProfile": map[string]any{"allocatedOutboundPorts": 8}}),
			`Code="UnexpectedLoadBalancerSkuForCurrentOutboundConfiguration"`,
		},
		{
			network(props{"outboundType": "loadBalancer", "loadBalancerProfile": map[string]any{"allocatedOutboundPorts": 100}}),
			`Code="LoadBalancerProfileAllocatedOutboundPortsMustBeMultipleOfEight"`,
		},
		{
			standin.Merged(network(props{"loadBalancerSku": "basic"}), props{"apiServerAccessProfile": map[string]any{"enablePrivateCluster": true}}),
			`Code="PrivateClusterNotSupportedWithBasicLoadBalancer"`,
		},
		{network(props{"dnsServiceIP": "10.0.255.255"}), `Code="DnsBroadcastAddressConflicting"`},
		{network(props{"podCidr": "10.244.0.0/25"}), `Code="InsufficientPodCidr"`},
		{network(props{"podCidr": "10.244.0.0/24"}), `Code="InsufficientPodCidr" Message="Pre-allocated IPs for 2 nodes, a /24 each, exceed the pod CIDR 10.244.0.0/24."`},
		{network(props{"podCidr": "169.254.0.0/16"}), `Code="InvalidCIDR"`},
		{network(props{"podCidr": "192.0.0.0/16"}), `Code="InvalidCIDR"`},
		{network(props{"podCidr": "172.30.0.0/15"}), `Code="InvalidCIDR"`},
		{network(props{"serviceCidr": "172.31.0.0/16", "dnsServiceIP": "172.31.0.10"}), `Code="InvalidCIDR"`},
		{network(props{"serviceCidr": "10.0.0.1/16"}), `Code="CidrStringParseError"`},
		{props{"httpProxyConfig": map[string]any{"httpProxy": "https://proxy:3128"}}, "The url https://proxy:3128 is not correct for the property HTTPProxyConfig.HTTPProxy"},
		{props{"httpProxyConfig": map[string]any{"httpProxy": "proxy:3128"}}, "The url proxy:3128 is not correct for the property HTTPProxyConfig.HTTPProxy"},
	} {
		w.denied(containerservice.ClusterType, without(w.clusterArgs(tc.change)), tc.want)
	}
	w.Make(containerservice.ClusterType, "cluster", w.clusterArgs(standin.Merged(lts("Premium"), props{
		"kubernetesVersion": "1.33", "networkProfile": w.clusterNetwork(props{"podCidr": "10.244.0.0/23"}),
		"httpProxyConfig": map[string]any{"httpProxy": "http://proxy:3128/"},
	})))
}

// TestCombinationsOfPoolsAreRefused as in the one before.
func TestCombinationsOfPoolsAreRefused(t *testing.T) {
	w := newWorld(t)
	system := func(change props) props { return standin.Merged(props{"mode": "System", "nodeTaints": nil}, change) }
	spot := func(change props) props { return standin.Merged(props{"scaleSetPriority": "Spot"}, change) }
	surge := func(value string) props { return props{"upgradeSettings": map[string]any{"maxSurge": value}} }
	labels := func(key, value string) props { return props{"nodeLabels": map[string]any{key: value}} }
	for _, tc := range []refusal{
		{system(props{"osType": "Windows", "osSKU": "Windows2022", "agentPoolName": "win"}), "a System agent pool must have the OS type Linux."},
		{system(props{"scaleSetPriority": "Spot"}), "a Spot agent pool must have the mode User."},
		{system(props{"vmSize": "Standard_B4s_v2"}), "VMs of the B series are not supported for System agent pools."},
		{system(props{"vmSize": "Standard_B4ms"}), "VMs of the B series are not supported for System agent pools."},
		{system(props{"maxPods": 20}), `Code="InsufficientAgentPoolMaxPodsPerAgentPool"`},
		{props{"scaleSetEvictionPolicy": "Delete"}, "an eviction policy can only be set on a Spot agent pool."},
		{props{"spotMaxPrice": 0.5}, "a maximum price can only be set on a Spot agent pool."},
		{spot(props{"spotMaxPrice": 0}), "the price must be -1 or a positive value with up to five decimal places."},
		{spot(props{"spotMaxPrice": -2}), "the price must be -1 or a positive value with up to five decimal places."},
		{spot(props{"spotMaxPrice": 0.123456}), "the price must be -1 or a positive value with up to five decimal places."},
		{spot(surge("10%")), "Spot pools can't set max surge."},
		{props{"osType": "Windows", "osSKU": "Windows2022", "agentPoolName": "winpool"}, `Code="WindowsAgentPoolNameTooLong"`},
		{props{"osSKU": "Windows2022"}, `Code="InvalidOSSKU"`},
		{props{"osType": "Windows", "osSKU": "Ubuntu", "agentPoolName": "win"}, `Code="InvalidOSSKU" Message="OSSKU='Ubuntu' is invalid, details: it is not of the OS type of the agent pool."`},
		{props{"maxPods": 9}, `Code="InsufficientMaxPods"`},
		{props{"maxPods": 251}, `Code="MaxPodsLimitExceeded"`},
		{surge("0"), "0 is neither a number of nodes nor a percentage, greater than 0."},
		{surge("0%"), "is neither a number of nodes nor a percentage"},
		{surge("-1"), "is neither a number of nodes nor a percentage"},
		{surge("ten"), "is neither a number of nodes nor a percentage"},
		{surge("12.5%"), "is neither a number of nodes nor a percentage"},
		{props{"type": "AvailabilitySet", "availabilityZones": list("1")}, `Code="VMSSRequiredForAvailabilityZone"`},
		{props{"type": "AvailabilitySet", "enableNodePublicIP": true}, `Code="NodePublicIPRequiresVMSS"`},
		{props{"nodePublicIPPrefixID": w.ip.ID}, `Code="NodePublicIPCanNotBeFalseWithIPPrefixSet"`},
		{labels("kubernetes.io/os", "linux"), "has the prefix kubernetes.io/, which is reserved"},
		{labels("kubernetes.azure.com/mode", "user"), "has the prefix kubernetes.azure.com/, which is reserved"},
		{labels("a b", "c"), "The value of parameter agentPoolProfile.nodeLabels is invalid."},
		{labels("a", "b c"), "The value of parameter agentPoolProfile.nodeLabels is invalid."},
		{props{"nodeTaints": list("kubernetes.azure.com/mode=x:NoSchedule")}, "has the prefix kubernetes.azure.com/, which is reserved"},
		{props{"nodeTaints": list("kubernetes.azure.com/scalesetpriority=spot:NoSchedule")}, "has the prefix kubernetes.azure.com/, which is reserved"},
		{props{"nodeTaints": list("dedicated=x:Never")}, "is not of the form key=value:effect"},
	} {
		w.denied(containerservice.PoolType, without(w.poolArgs(standin.Merged(props{"agentPoolName": "more"}, tc.change))), tc.want)
	}
	for name, change := range map[string]props{
		"spot":    spot(props{"spotMaxPrice": -1, "scaleSetEvictionPolicy": "Delete", "nodeTaints": list("kubernetes.azure.com/scalesetpriority=spot:NoSchedule")}),
		"surge":   surge("100%"),
		"few":     {"maxPods": 10},
		"many":    {"maxPods": 250, "spotMaxPrice": -1},
		"labels":  labels("team.example.com/name", "a"),
		"system2": system(props{"maxPods": 30}),
	} {
		w.Make(containerservice.PoolType, name, without(w.poolArgs(standin.Merged(props{"agentPoolName": name}, change))))
	}
}

// TestChangesThatAKSMakes: another identity for kubelets, and a larger range of pods; Entra is
// not taken away, nor a range made smaller.
func TestChangesThatAKSMakes(t *testing.T) {
	w := newWorld(t)
	other := w.identity("other-kubelet")
	w.assign("other", w.control, rbac.ManagedIdentityOperator, other.ID)
	assert.NilError(t, w.Update(w.cluster, props{"identityProfile": map[string]any{"kubeletidentity": map[string]any{"resourceId": other.ID}}}))
	found, err := w.Invoke("azure-native:containerservice/v20240901:getManagedCluster", props{"resourceGroupName": demo, "resourceName": demo})
	assert.NilError(t, err)
	assert.Check(t, is.Equal(found.Sub("identityProfile").Sub("kubeletidentity").Str("clientId"), other.Out.Str("clientId")))

	pods := func(block string) props { return props{"networkProfile": w.clusterNetwork(props{"podCidr": block})} }
	for _, block := range []string{"10.244.0.0/17", "10.244.128.0/17", "10.245.0.0/16", "10.240.0.0/15"} {
		standintest.Refuses(t, w.Update(w.cluster, pods(block)), `Changing property 'networkProfile.podCidr' is not allowed.`)
	}
	assert.NilError(t, w.Update(w.cluster, pods("10.244.0.0/15")))

	standintest.Refuses(t, w.Update(w.cluster, props{"aadProfile": nil, "disableLocalAccounts": false}), `Code="PropertyChangeNotAllowed" Message="Changing property 'aadProfile' is not allowed."`)
	standintest.Refuses(t, w.Update(w.nodePool, props{"osSKU": "Debian"}), `Code="InvalidOSSKU"`)
	standintest.Refuses(t, w.Update(w.group, props{"location": arm.Location, "tags": map[string]any{"a<": "b"}}), `Code="InvalidTagNameCharacters"`)
}
