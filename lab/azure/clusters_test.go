package azure

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/authorization"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/azure/keyvault"
	"tombolo/lab/azure/network"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
	"tombolo/lab/standin/standintest"
)

func TestClustersAreRefused(t *testing.T) {
	w := newIdentities(t)
	for _, tc := range []refusal{
		{props{"kubernetesVersion": "1.20"}, `Status=400 Code="K8sVersionNotSupported" Message="Managed cluster demo is on version 1.20 which is not supported in this region. Please use [az aks get-versions] command`},
		{props{"kubernetesVersion": "1.33"}, `Code="K8sVersionNotSupported" Message="Managed cluster demo is on version 1.33.13, which is only available for Long-Term Support (LTS).`},
		{props{"resourceName": "-demo"}, `'resourceName' does not match expression '^[a-zA-Z0-9]$|^[a-zA-Z0-9][-_a-zA-Z0-9]{0,61}[a-zA-Z0-9]$'`},
		{props{"dnsPrefix": nil}, `Code="InvalidParameter" Message="Required parameter dnsPrefix is missing (null).`},
		{props{"dnsPrefix": "a_b"}, `Code="InvalidParameter" Message="The value of parameter dnsPrefix is invalid. Error details: DNS prefix 'a_b' is invalid.`},
		{props{"identity": nil}, `Code="InvalidParameter" Message="The value of parameter identity is invalid.`},
		{props{"identity": map[string]any{"type": "UserAssigned"}}, `Code="InvalidParameter" Message="The value of parameter identity.userAssignedIdentities is invalid.`},
		{props{"identity": map[string]any{"type": "SystemAssigned"}}, `Code="CustomKubeletIdentityOnlySupportedOnUserAssignedMSICluster"`},
		{props{"identity": map[string]any{"type": "UserAssigned", "userAssignedIdentities": list(w.control.ID + "2")}}, `Code="FailedIdentityOperation"`},
		{props{"identityProfile": map[string]any{"kubeletidentity": map[string]any{"resourceId": w.control.ID}}}, `Code="CustomKubeletIdentityMissingPermissionError" Message="The cluster using user-assigned managed identity must be granted 'Managed Identity Operator' role to assign kubelet identity.`},
		{props{"aadProfile": nil}, `Message="Disable local accounts is only supported on a managed cluster with Microsoft Entra ID enabled."`},
		{props{"aadProfile": map[string]any{"managed": false}}, `Code="LegacyAADNotAllowed"`},
		{props{"aadProfile": map[string]any{"managed": true, "enableAzureRBAC": true}, "enableRBAC": false}, `Code="RBACNotEnabledForAAD"`},
		{props{"aadProfile": map[string]any{"managed": true, "tenantID": arm.Subscription}}, `the tenant ` + arm.Subscription + ` does not exist`},
		{props{"oidcIssuerProfile": nil}, `Code="WorkloadIdentityRequiresOIDCIssuer"`},
		{props{"resourceName": "my-microsoft"}, `Code="ReservedResourceName" Message="The resource name 'my-microsoft' or a part of the name is a trademarked or reserved word."`},
		{props{"resourceName": "Office"}, `Code="ReservedResourceName"`},
		{props{"nodeResourceGroup": demo}, `Code="NodeResourceGroupSameAsResourceGroup"`},
		{props{"apiServerAccessProfile": map[string]any{"enablePrivateCluster": true}, "tags": letters("abcdefghijklmno")}, `A maximum of 15 tags are allowed`},
		{proxied("https://proxy.example:3128/"), `Code="HTTPProxyWrongUrlError" Message="The url https://proxy.example:3128/ is not correct for the property HTTPProxyConfig.HTTPProxy"`},
		{proxied("http://proxy.example:3128"), `Code="HTTPProxyWrongUrlError"`},
		{proxied("http://a:b@proxy.example:3128/"), `Code="HTTPProxyWrongUrlError"`},
		{proxied("http://proxy.example:3128/", ".cluster.local."), `Code="HTTPProxyConfigInputError"`},
		{proxied("http://proxy.example:3128/", "*.corp.example"), `Code="HTTPProxyConfigInputError"`},
		{props{"nodeResourceGroup": strings.Repeat("x", 81)}, `The maximum length is 80 and the length of the value provided is 81.`},
	} {
		w.denied(containerservice.ClusterType, without(w.clusterArgs(tc.change)), tc.want)
	}
	w.Make(arm.GroupType, "other", props{"resourceGroupName": "demo-nodes", "location": arm.Location})
	w.denied(containerservice.ClusterType, w.clusterArgs(nil), `Code="NodeResourceGroupAlreadyExists"`)
}

// letters are a tag for each letter.
func letters(text string) map[string]any {
	tags := map[string]any{}
	for _, key := range strings.Split(text, "") {
		tags[key] = key
	}
	return tags
}

// proxied is a cluster with a proxy, and names that it reaches directly.
func proxied(url string, direct ...any) props {
	return props{"httpProxyConfig": map[string]any{"httpProxy": url, "noProxy": list(direct...)}}
}

// without drops properties that are nil.
func without(in props) props {
	for key, value := range in {
		if value == nil {
			delete(in, key)
		}
	}
	return in
}

func TestAccessIsRefused(t *testing.T) {
	w := newIdentities(t)
	zone := "/subscriptions/" + arm.Subscription + "/resourceGroups/demo/providers/Microsoft.Network/privateDnsZones/privatelink.germanywestcentral.azmk8s.io"
	for _, tc := range []refusal{
		{props{"enablePrivateCluster": true, "authorizedIPRanges": list("203.0.113.0/24")}, "Authorized IP ranges are not supported on a private cluster."},
		{props{"privateDNSZone": "system"}, "apiServerAccessProfile.privateDNSZone can only be set on a private cluster."},
		{props{"enablePrivateCluster": true, "privateDNSZone": "none", "enablePrivateClusterPublicFQDN": false}, "The public FQDN of a private cluster cannot be disabled with privateDNSZone none"},
		{props{"authorizedIPRanges": list("203.0.113.0")}, "203.0.113.0 is not a valid CIDR block."},
		{props{"enablePrivateCluster": true, "privateDNSZone": zone + ".example"}, "neither privatelink.germanywestcentral.azmk8s.io nor ends with "},
		{props{"enablePrivateCluster": true, "privateDNSZone": zone}, `Code="CustomPrivateDNSZoneMissingPermissionError"`},
	} {
		w.denied(containerservice.ClusterType, w.clusterArgs(props{"apiServerAccessProfile": map[string]any(tc.change)}), tc.want)
	}
	elsewhere := strings.Replace(zone, arm.Subscription, arm.NetworkSubscription, 1)
	assert.NilError(t, arm.Unregister(w.Cloud, arm.NetworkSubscription, "Microsoft.ContainerService"))
	w.denied(containerservice.ClusterType, w.clusterArgs(props{"apiServerAccessProfile": map[string]any{"enablePrivateCluster": true, "privateDNSZone": elsewhere}}),
		`Code="MissingSubscriptionRegistration" Message="The subscription '`+arm.NetworkSubscription+`' of the private DNS zone is not registered`)
	principal := w.control.Out.Str("principalId")
	assert.NilError(t, authorization.Assign(w.Cloud, principal, "b12aa53e-6015-4669-85d0-8515ebb3ae7f", zone))
	own := w.clusterArgs(props{"apiServerAccessProfile": map[string]any{"enablePrivateCluster": true, "privateDNSZone": zone}})
	w.denied(containerservice.ClusterType, own, `it does not have permission to perform action(s) 'Microsoft.Network/virtualNetworks/join/action' on the linked scope(s) '`+w.vnet.ID)
	assert.NilError(t, authorization.Assign(w.Cloud, principal, rbac.NetworkContributor, w.vnet.ID))
	assert.NilError(t, w.Delete(w.Make(containerservice.ClusterType, "cluster", own)))
	private := w.Make(containerservice.ClusterType, "cluster", w.clusterArgs(props{"apiServerAccessProfile": map[string]any{
		"enablePrivateCluster": true, "privateDNSZone": "system", "enablePrivateClusterPublicFQDN": false,
	}}))
	assert.Check(t, strings.HasSuffix(private.Out.Str("privateFQDN"), ".privatelink.germanywestcentral.azmk8s.io") && !private.Out.Has("fqdn"), "%v", private.Out)
	assert.Check(t, w.Clusters.Running[demo].Private)
}

func TestClusterNetworksAreRefused(t *testing.T) {
	w := newIdentities(t)
	for _, tc := range []refusal{
		{props{"serviceCidr": "10.1.0.0/16", "dnsServiceIP": "10.1.0.10"}, `Code="ServiceCidrOverlapExistingSubnetsCidr" Message="The specified service CIDR 10.1.0.0/16 is conflicted with an existing subnet CIDR 10.1.0.0/20"`},
		{props{"podCidr": "10.1.0.0/16"}, `Code="PodCidrOverlapExistingSubnetsCidr" Message="The specified pod CIDR 10.1.0.0/16 is conflicted with an existing subnet CIDR 10.1.0.0/20"`},
		{props{"podCidr": "10.0.0.0/14"}, `Code="PodCidrOverlapServiceCidr"`},
		{props{"serviceCidr": "172.30.0.0/16", "dnsServiceIP": "172.30.0.10"}, `Code="InvalidCIDR"`},
		{props{"serviceCidr": "10.0.0.0"}, `Code="CidrStringParseError"`},
		{props{"serviceCidr": "11.0.0.0/8", "dnsServiceIP": "11.0.0.10"}, `Code="ServiceCidrTooLarge"`},
		{props{"dnsServiceIP": "10.9.0.10"}, `Code="DnsServiceIpOutOfServiceCidr" Message="The specified DNS Service IP 10.9.0.10 is not in the range of service CIDR 10.0.0.0/16"`},
		{props{"dnsServiceIP": "10.0.0.1"}, `Code="DnsServiceIpConflicting"`},
		{props{"dnsServiceIP": "dns"}, `'networkProfile.dnsServiceIP' does not match expression`},
		{props{"outboundType": "proxy"}, `Code="UnsupportedOutboundType"`},
		{props{"outboundType": "managedNATGateway"}, `Code="ManagedNATGatewayWithCustomVNetNotAllowed"`},
		{props{"outboundType": "userDefinedRouting"}, `Code="ExistingRouteTableNotAssociatedWithSubnet" Message="An existing route table has not been associated with subnet ` + w.subnet.ID + `. Please update the route table association"`},
		{props{"outboundType": "userDefinedRouting", "loadBalancerProfile": map[string]any{}}, `Code="InvalidUserDefinedRoutingWithLoadBalancerProfile"`},
		{props{"networkPlugin": "calico"}, `Code="UnknownNetworkPlugin"`},
		{props{"networkPlugin": "kubenet", "networkPluginMode": nil}, "Cilium dataplane requires network plugin azure."},
		{props{"networkPolicy": "calico"}, "Cilium dataplane requires network policy cilium."},
		{props{"networkDataplane": "azure", "networkPolicy": "cilium"}, "Network policy cilium requires cilium dataplane."},
	} {
		w.denied(containerservice.ClusterType, w.clusterArgs(props{"networkProfile": w.clusterNetwork(tc.change)}), tc.want)
	}
	withoutSubnet := list(map[string]any(w.systemPool(props{"vnetSubnetID": ""})))
	for outbound, want := range map[string]string{"userAssignedNATGateway": `Code="UserAssignedNATGatewayWithManagedVNetNotAllowed"`, "userDefinedRouting": `Code="ExistingRouteTableNotAssociatedWithSubnet"`} {
		w.denied(containerservice.ClusterType, w.clusterArgs(props{"agentPoolProfiles": withoutSubnet, "networkProfile": w.clusterNetwork(props{"outboundType": outbound})}), want)
	}
}

// TestWaysOutAreRefused: a NAT gateway has to be at the subnet, and to have an address.
func TestWaysOutAreRefused(t *testing.T) {
	w := newIdentities(t)
	assert.NilError(t, w.Update(w.gateway, props{"publicIpAddresses": nil}))
	w.denied(containerservice.ClusterType, w.clusterArgs(nil), `Code="NATGatewayNotAssociatedWithPublicIPOrIPPrefix" Message="NAT gateway '`+w.gateway.ID+`' must have at least one public IP or IP prefix associated"`)
	assert.NilError(t, w.Update(w.subnet, props{"natGateway": nil}))
	w.denied(containerservice.ClusterType, w.clusterArgs(nil), `Code="SubnetNotAssociatedWithNATGateway" Message="Subnet '`+w.subnet.ID+`' must have a NAT gateway associated for outbound connection"`)

	routed := w.clusterArgs(props{"networkProfile": w.clusterNetwork(props{"outboundType": "userDefinedRouting"})})
	table := w.Make(network.RouteTableType, "table", w.inGroup(props{"routeTableName": "x"}))
	assert.NilError(t, w.Update(w.subnet, props{"routeTable": map[string]any{"id": table.ID}}))
	w.denied(containerservice.ClusterType, routed, `Code="RouteTableMissingDefaultRouteError"`)
	route := map[string]any{"name": "a", "addressPrefix": "0.0.0.0/0", "nextHopType": "Internet"}
	assert.NilError(t, w.Update(table, props{"routes": list(route)}))
	w.denied(containerservice.ClusterType, routed, `Code="RouteTableInvalidNextHop"`)
	route["nextHopType"], route["nextHopIpAddress"] = "VirtualAppliance", "10.1.255.4"
	assert.NilError(t, w.Update(table, props{"routes": list(route)}))
	w.denied(containerservice.ClusterType, routed, `Code="CustomRouteTableMissingPermission"`)
	w.assign("routes", w.control, rbac.NetworkContributor, table.ID)
	w.Make(containerservice.ClusterType, "cluster", routed)
}

func TestSubnetsOfClustersAreRefused(t *testing.T) {
	w := newIdentities(t)
	pools := func(subnet string) props {
		return props{"agentPoolProfiles": list(map[string]any(w.systemPool(props{"vnetSubnetID": subnet})))}
	}
	w.denied(containerservice.ClusterType, w.clusterArgs(pools(w.subnet.ID+"2")), `Code="GetVnetError"`)
	w.denied(containerservice.ClusterType, w.clusterArgs(pools(network.TeamNetworkID+"/subnets/other")), `Code="GetVnetError"`)
	delegated := list(map[string]any{"name": "d", "serviceName": "Microsoft.ContainerInstance/containerGroups"})
	assert.NilError(t, w.Update(w.subnet, props{"delegations": delegated}))
	w.denied(containerservice.ClusterType, w.clusterArgs(nil), `Code="SubnetIsDelegated" Message="AgentPoolProfile subnet with id `+w.subnet.ID+` cannot be used as it's a delegated subnet.`)
}

// TestTeamSubnet: a cluster in the network team's subnet, whose route table leads to a
// firewall, once the identity has its rights there.
func TestTeamSubnet(t *testing.T) {
	w := newIdentities(t)
	principal := w.control.Out.Str("principalId")
	in := w.clusterArgs(props{
		"networkProfile":    w.clusterNetwork(props{"outboundType": "userDefinedRouting"}),
		"agentPoolProfiles": list(map[string]any(w.systemPool(props{"vnetSubnetID": network.TeamSubnetID}))),
	})
	w.denied(containerservice.ClusterType, in, `Status=403 Code="LinkedAuthorizationFailed" Message="Reconcile VMSS agent pool failed. The client '`+w.control.Out.Str("clientId")+`' with object id '`+principal+
		`' has permission to perform action 'Microsoft.Compute/virtualMachineScaleSets/write'`)
	assert.NilError(t, authorization.Assign(w.Cloud, principal, rbac.NetworkContributor, network.TeamSubnetID))
	w.denied(containerservice.ClusterType, in, `Code="CustomRouteTableMissingPermission"`)
	assert.NilError(t, authorization.Assign(w.Cloud, principal, rbac.NetworkContributor, network.TeamRouteTableID))
	w.Make(containerservice.ClusterType, "cluster", in)
}

// TestJoinIsRefused: who makes a cluster needs the right to use its subnet, too.
func TestJoinIsRefused(t *testing.T) {
	w := newIdentities(t)
	const other = "00000000-0000-4000-8000-0000000000c9"
	w.Reopen(standin.Options{Caller: other})
	w.configure(nil)
	assert.NilError(t, authorization.Assign(w.Cloud, other, rbac.Contributor, w.group.ID))
	in := w.clusterArgs(props{"agentPoolProfiles": list(map[string]any(w.systemPool(props{"vnetSubnetID": network.TeamSubnetID})))})
	w.denied(containerservice.ClusterType, in, `Status=403 Code="LinkedAuthorizationFailed" Message="The client '`+arm.ClientID+`' with object id '`+other+
		`' has permission to perform action 'Microsoft.ContainerService/managedClusters/write' on scope '/subscriptions/`)
}

func TestPoolsAreRefused(t *testing.T) {
	w := newWorld(t)
	for _, tc := range []refusal{
		{props{"agentPoolName": "Apps"}, `'agentPoolName' does not match expression '^[a-z][a-z0-9]{0,11}$'`},
		{props{"resourceName": "gone"}, `Code="ParentResourceNotFound"`},
		{props{"vmSize": "Standard_Q2"}, `Code="BadRequest" Message="The VM size of Standard_Q2 is not allowed in your subscription in location 'germanywestcentral'.`},
		{props{"vmSize": "Standard_B1ms", "mode": "System", "nodeTaints": list()}, `Code="SystemPoolSkuTooLow" Message="System node pool must use VM sku with more than 2 cores and 4GB memory. Nodepool name: more."`},
		{props{"vmSize": "Standard_B2ats_v2", "mode": "System", "nodeTaints": list()}, `Code="SystemPoolSkuTooLow"`},
		{props{"mode": "System"}, `Code="SystemPoolHasRestrictedTaint" Message="Placing custom taints on system pool is not supported`},
		{props{"mode": "Gateway"}, `Error converting value "Gateway" to one of System, User.`},
		{props{"mode": "System", "nodeTaints": list(), "minCount": 0}, `a System agent pool must have at least one node`},
		{props{"enableAutoScaling": false, "count": 1}, `Code="AutoScalingNotEnabled"`},
		{props{"maxCount": nil}, `minCount and maxCount are required when enableAutoScaling is true`},
		{props{"minCount": 4}, `minCount 4 must not be greater than maxCount 3`},
		{props{"count": 9}, `count 9 must be between minCount 1 and maxCount 3`},
		{props{"maxCount": 1001}, `Code="AgentPoolMaxCountExceeded"`},
		{props{"count": 998, "maxCount": 1000}, `Message="The count of the nodes of all agent pools must be at most 1000, it is 1001."`}, // the tier is Free
		{props{"minCount": 80, "maxCount": 100, "vmSize": "Standard_D8s_v5"}, `Code="ErrCode_InsufficientVCPUQuota" Message="Insufficient vcpu quota requested 640, remaining 342 for family StandardDSv5Family for region germanywestcentral.`},
		{props{"availabilityZones": list("4")}, `Code="AvailabilityZoneNotSupported"`},
		{props{"nodeLabels": map[string]any{"kubernetes.azure.com/x": "y"}}, `has the prefix kubernetes.azure.com/, which is reserved`},
		{props{"nodeTaints": list("dedicated")}, `taint 'dedicated' is not of the form key=value:effect`},
		{props{"orchestratorVersion": "1.20"}, `Code="AgentPoolK8sVersionNotSupported" Message="Version 1.20 is not supported in this region.`},
		{props{"orchestratorVersion": "1.35"}, `Code="NodePoolMcVersionIncompatible" Message="Node pool version 1.35.5 and control plane version 1.34.9 are incompatible. Minor version of node pool version 35 is bigger than control plane version 34. For more information, please check https://aka.ms/aks/UpgradeVersionRules"`},
		{props{"vnetSubnetID": network.TeamSubnetID}, `all or none of the agent pools have to be in subnets of one virtual network`},
		{props{"vnetSubnetID": w.vnet.ID + "/subnets/gone"}, `Code="GetVnetError"`},
	} {
		w.denied(containerservice.PoolType, without(w.poolArgs(standin.Merged(props{"agentPoolName": "more"}, tc.change))), tc.want)
	}
}

func TestSubnetIsTooSmall(t *testing.T) {
	w := newWorld(t)
	small := w.Make(network.SubnetType, "small", props{"resourceGroupName": demo, "virtualNetworkName": demo, "subnetName": "small", "addressPrefix": "10.1.16.0/29"})
	w.assign("small", w.control, rbac.NetworkContributor, small.ID)
	pool := w.poolArgs(props{"agentPoolName": "more", "vnetSubnetID": small.ID, "minCount": 3})
	w.denied(containerservice.PoolType, pool, `Code="InsufficientSubnetSize" Message="Pre-allocated IPs 4 exceeds IPs available 3 in Subnet Cidr 10.1.16.0/29, Subnet Name small.`)
}

// TestSystemPoolStays: the last pool for the system is not deleted, and does not become one
// for others.
func TestSystemPoolStays(t *testing.T) {
	w := newWorld(t)
	const want = `Code="MustDefineAtLeastOneSystemPool" Message="Must define at least one system pool."`
	w.denied(containerservice.ClusterType, w.clusterArgs(props{"resourceName": "other", "agentPoolProfiles": list(map[string]any(w.systemPool(props{"mode": "User"})))}), want)
	inline := &thing{Token: containerservice.PoolType, ID: w.cluster.ID + "/agentPools/system"}
	standintest.Refuses(t, w.Delete(inline), want)
	w.denied(containerservice.PoolType, w.poolArgs(props{"agentPoolName": "system"}), "cannot create already existing resource '")
}

func TestPropertiesThatCannotChange(t *testing.T) {
	w := newWorld(t)
	for property, value := range map[string]any{"dnsPrefix": "other", "nodeResourceGroup": "other", "enableRBAC": false} {
		standintest.Refuses(t, w.Update(w.cluster, props{property: value}), `Status=400 Code="PropertyChangeNotAllowed" Message="Changing property '`+property+`' is not allowed."`)
	}
	for property, value := range map[string]string{"serviceCidr": "10.3.0.0/16", "podCidr": "10.245.0.0/16", "dnsServiceIP": "10.0.0.11", "networkPlugin": "none"} {
		standintest.Refuses(t, w.Update(w.cluster, props{"networkProfile": w.clusterNetwork(props{property: value})}), `Changing property 'networkProfile.`+property+`' is not allowed.`)
	}
	standintest.Refuses(t, w.Update(w.cluster, props{"apiServerAccessProfile": map[string]any{"enablePrivateCluster": true}}), `Changing property 'apiServerAccessProfile.enablePrivateCluster' is not allowed.`)
	standintest.Refuses(t, w.Update(w.cluster, props{"oidcIssuerProfile": map[string]any{"enabled": false}}), `Code="OIDCIssuerFeatureCannotBeDisabled"`)
	for property, value := range map[string]any{"maxPods": 30, "osDiskSizeGB": 64, "availabilityZones": list("3"), "vnetSubnetID": network.TeamSubnetID} {
		standintest.Refuses(t, w.Update(w.nodePool, props{property: value}), `Code="PropertyChangeNotAllowed" Message="Changing property 'properties.`+property+`' is not allowed."`)
	}
}

// appsPool is the pool beside the cluster as one of the cluster's inputs.
func (w *world) appsPool(version string) map[string]any {
	in := w.poolArgs(props{"name": "apps", "orchestratorVersion": version})
	for _, key := range []string{"resourceGroupName", "resourceName", "agentPoolName"} {
		delete(in, key)
	}
	return in
}

// TestUpgradeByItself: while AKS upgrades by itself, no control plane goes alone.
func TestUpgradeByItself(t *testing.T) {
	w := newWorld(t)
	by := func(channel string, change props) props {
		return standin.Merged(props{"kubernetesVersion": "1.35", "autoUpgradeProfile": map[string]any{"upgradeChannel": channel}}, change)
	}
	pools := func(version string) props {
		return props{"agentPoolProfiles": list(map[string]any(w.systemPool(props{"orchestratorVersion": version})), w.appsPool(version))}
	}
	const want = `Code="NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged"`
	standintest.Refuses(t, w.Update(w.cluster, by("patch", nil)), want)
	standintest.Refuses(t, w.Update(w.cluster, by("stable", pools("1.34"))), want)
	before := w.Clusters.Nodes["demo/apps"][0].Name
	assert.NilError(t, w.Update(w.cluster, by("patch", pools("1.35"))))
	after := w.Clusters.Nodes["demo/apps"][0]
	assert.Check(t, after.Version == "1.35.5" && after.Name != before, "%+v", after)
	assert.NilError(t, w.Update(w.cluster, by("none", props{"kubernetesVersion": "1.36"})))
	assert.Equal(t, w.Clusters.Nodes["demo/apps"][0].Version, "1.35.5")
}

// TestProxyStays: an update without it takes no proxy away.
func TestProxyStays(t *testing.T) {
	w := newWorld(t)
	proxy := func() string {
		found, err := w.Invoke("azure-native:containerservice/v20240901:getManagedCluster", props{"resourceGroupName": demo, "resourceName": demo})
		assert.NilError(t, err)
		return found.Sub("httpProxyConfig").Str("httpProxy")
	}
	assert.NilError(t, w.Update(w.cluster, props{"httpProxyConfig": map[string]any{"httpProxy": "http://proxy:3128/"}}))
	assert.NilError(t, w.Update(w.cluster, props{"httpProxyConfig": nil}))
	assert.Equal(t, proxy(), "http://proxy:3128/")
	assert.NilError(t, w.Update(w.cluster, props{"httpProxyConfig": map[string]any{"httpProxy": "http://other:3128/"}}))
	assert.Equal(t, proxy(), "http://other:3128/")
}

// secretsKey is a key for Secrets as one of the cluster's inputs.
func secretsKey(change props) props {
	key := standin.Merged(props{"enabled": true, "keyId": keyvault.TeamKeyID, "keyVaultNetworkAccess": "Public"}, change)
	return props{"securityProfile": map[string]any{"workloadIdentity": map[string]any{"enabled": true}, "azureKeyVaultKms": map[string]any(without(key))}}
}

// TestSecretsKey: the control plane's identity needs a role on the vault, and an update that does not
// speak of the key leaves it.
func TestSecretsKey(t *testing.T) {
	w := newIdentities(t)
	const denied = `Code="AzureKeyVaultKmsValidateIdentityPermissionCustomerError" Message="The identity does not have keys encrypt/decrypt permission on key vault "https://lab-team-keys.vault.azure.net""`
	for _, tc := range []refusal{
		{props{}, denied},
		{props{"enabled": false}, `the key ID and the KeyVault resource ID have to be empty`},
		{props{"keyVaultNetworkAccess": nil}, `KeyVault network access is unspecified for Azure Key Vault KMS.`},
		{props{"keyVaultNetworkAccess": "Private"}, `KeyVault resource ID is empty when KeyVault network access is Private.`},
		{props{"keyVaultNetworkAccess": "Private", "keyVaultResourceId": keyvault.TeamVaultID}, `requires API Server VNet Integration`},
		{props{"keyVaultResourceId": keyvault.TeamVaultID}, `KeyVault resource ID has to be empty when KeyVault network access is Public.`},
		{props{"keyId": strings.Replace(keyvault.TeamKeyID, "0001", "0003", 1)}, `was not found`},
	} {
		w.denied(containerservice.ClusterType, w.clusterArgs(secretsKey(tc.change)), tc.want)
	}
	w.assign("keys", w.control, rbac.CryptoUser, keyvault.TeamVaultID)
	made := w.Add(containerservice.ClusterType, "cluster", w.clusterArgs(secretsKey(nil)))
	kms := func() standin.Props {
		found, err := w.Invoke("azure-native:containerservice/v20240901:getManagedCluster", props{"resourceGroupName": demo, "resourceName": demo})
		assert.NilError(t, err)
		return found.Sub("securityProfile").Sub("azureKeyVaultKms")
	}
	assert.NilError(t, w.Update(made, secretsKey(props{"keyId": keyvault.TeamKeyNext})))
	assert.Equal(t, kms().Str("keyId"), keyvault.TeamKeyNext)
	assert.NilError(t, w.Update(made, props{"securityProfile": map[string]any{"workloadIdentity": map[string]any{"enabled": true}}}))
	assert.Equal(t, kms().Str("keyId"), keyvault.TeamKeyNext)
	assert.NilError(t, w.Update(made, secretsKey(props{"enabled": false, "keyId": nil, "keyVaultNetworkAccess": nil})))
	assert.Check(t, !kms().Boolean("enabled"))
}

// TestDirectOfAKS: AKS gives back what it adds to the list of what is reached directly.
func TestDirectOfAKS(t *testing.T) {
	w := newIdentities(t)
	made := w.Make(containerservice.ClusterType, "cluster", w.clusterArgs(proxied("http://proxy:3128/", "localhost", ".corp.example")))
	got := made.Out.Sub("httpProxyConfig").List("noProxy")
	for _, want := range []string{"konnectivity", made.Out.Str("fqdn"), "localhost", ".corp.example", "10.244.0.0/16", "10.0.0.0/16", "10.1.0.0/16", "168.63.129.16"} {
		assert.Check(t, slices.Contains(got, want), "%s is not in %v", want, got)
	}
	assert.Check(t, len(got) == len(slices.Compact(got)), "%v", got)
}

func TestUpgrade(t *testing.T) {
	w := newWorld(t)
	standintest.Refuses(t, w.Update(w.cluster, props{"kubernetesVersion": "1.36"}),
		`Code="OperationNotAllowed" Message="Upgrading Kubernetes version 1.34.9 to 1.36.2 is not allowed. Available upgrades: [1.35.5 1.35.4]. Please see https://aka.ms/aks-supported-k8s-ver for version details."`)
	standintest.Refuses(t, w.Update(w.cluster, props{"kubernetesVersion": "1.40"}), `Code="K8sVersionNotSupported"`)
	before := w.Clusters.Nodes["demo/apps"][0]
	assert.NilError(t, w.Update(w.cluster, props{"kubernetesVersion": "1.35"}))
	assert.Equal(t, w.Clusters.Running[demo].Version, "1.35.5")
	assert.Equal(t, w.Clusters.Nodes["demo/apps"][0].ProviderID, before.ProviderID)
	standintest.Refuses(t, w.Update(w.cluster, props{"kubernetesVersion": "1.34"}), `Code="OperationNotAllowed" Message="Upgrading Kubernetes version 1.35.5 to 1.34.9 is not allowed.`)

	assert.NilError(t, w.Update(w.nodePool, props{"orchestratorVersion": "1.35"}))
	after := w.Clusters.Nodes["demo/apps"][0]
	assert.Check(t, after.Version == "1.35.5" && after.Name != before.Name && after.ProviderID != before.ProviderID, "%+v", after)
	standintest.Refuses(t, w.Update(w.nodePool, props{"orchestratorVersion": "1.34"}), `Code="AgentPoolUpgradeVersionNotAllowed" Message="Upgrading agent pool from version 1.35.5 to 1.34.9 is not allowed.`)

	system := w.systemPool(props{"orchestratorVersion": "1.34.7"})
	standintest.Refuses(t, w.Update(w.cluster, props{"agentPoolProfiles": list(map[string]any(system))}),
		`Code="NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged" Message="Using managed cluster api, all Agent pools' OrchestratorVersion must be all specified or all unspecified.`)
	system["orchestratorVersion"] = "1.35"
	standintest.Refuses(t, w.Update(w.cluster, props{"agentPoolProfiles": list(map[string]any(system))}), `Code="NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged"`)
	assert.NilError(t, w.Update(w.cluster, props{"agentPoolProfiles": list(map[string]any(system), w.appsPool("1.35"))}))
	assert.Equal(t, w.Clusters.Nodes["demo/system"][0].Version, "1.35.5")
}

// TestOldNodesKeepAControlPlane: it leads its pools by at most three minor versions.
func TestOldNodesKeepAControlPlane(t *testing.T) {
	w := newIdentities(t)
	lts := props{"sku": map[string]any{"name": "Base", "tier": "Premium"}, "supportPlan": "AKSLongTermSupport", "kubernetesVersion": "1.32"}
	cluster := w.Make(containerservice.ClusterType, "cluster", w.clusterArgs(lts))
	for _, version := range []string{"1.33", "1.35"} { // with long-term support it skips 1.34
		assert.NilError(t, w.Update(cluster, props{"kubernetesVersion": version}))
	}
	standintest.Refuses(t, w.Update(cluster, props{"kubernetesVersion": "1.36"}), `Code="NodePoolMcVersionIncompatible" Message="Node pool version 1.32.12 and control plane version 1.36.2 are incompatible. `+
		`Minor version of node pool cannot be more than 3 versions less than control plane's version. Minor version of node pool is 32 and control plane is 36.`)
}

func TestDeprecatedUsage(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	w.Reopen(standin.Options{Now: func() time.Time { return now }})
	w.configure(nil)
	assert.NilError(t, containerservice.Use(w.Cloud, w.cluster.ID, "flowcontrol.apiserver.k8s.io.flowschemas.v1beta3.list", "1.35"))
	standintest.Refuses(t, w.Update(w.cluster, props{"kubernetesVersion": "1.35"}), `Code="ValidationError" Message="Control Plane upgrade is blocked due to recent usage of a Kubernetes API deprecated in the specified version.`)
	now = now.Add(13 * time.Hour)
	assert.NilError(t, w.Update(w.cluster, props{"kubernetesVersion": "1.35"}))
	assert.NilError(t, containerservice.Use(w.Cloud, w.cluster.ID, "storage.k8s.io.volumes.v1beta1.list", "1.36"))
	forced := map[string]any{"overrideSettings": map[string]any{"forceUpgrade": true}}
	assert.NilError(t, w.Update(w.cluster, props{"kubernetesVersion": "1.36", "upgradeSettings": forced}))
}
