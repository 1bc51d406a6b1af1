package azure

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/internal/armid"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/azure/network"
	"tombolo/lab/standin"
)

func TestLifecycle(t *testing.T) {
	w := newWorld(t)
	spec := w.Clusters.Running[demo]
	assert.Check(t, spec.ServiceCIDR == "10.0.0.0/16" && spec.Version == "1.34.9" && spec.ID == w.cluster.ID && !spec.Private && spec.Region == arm.Location, "%+v", spec)
	issuer := w.cluster.Out.Sub("oidcIssuerProfile").Str("issuerURL")
	assert.Check(t, spec.Issuer == issuer && strings.HasPrefix(issuer, "https://germanywestcentral.oic.prod-aks.azure.com/"+arm.Tenant+"/"), "issuer %s", issuer)
	assert.Check(t, spec.Tenant == arm.Tenant && slices.Equal(spec.AdminGroups, []string{arm.AdminGroup}), "%+v", spec)
	assert.Equal(t, w.cluster.ID, "/subscriptions/"+arm.Subscription+"/resourcegroups/demo/providers/Microsoft.ContainerService/managedClusters/demo")
	assert.Equal(t, w.nodePool.ID, w.cluster.ID+"/agentPools/apps")
	assert.Equal(t, w.cluster.Out.Str("provisioningState"), "Succeeded")
	assert.Equal(t, w.cluster.Out.Str("currentKubernetesVersion"), "1.34.9")
	kubelet := w.cluster.Out.Sub("identityProfile").Sub("kubeletidentity")
	assert.Check(t, kubelet.Str("objectId") == w.kubelet.Out.Str("principalId"), "%v", kubelet)

	system, apps := w.Clusters.Nodes["demo/system"], w.Clusters.Nodes["demo/apps"]
	assert.Check(t, len(system) == 2 && system[0].Zone == "germanywestcentral-1" && system[1].Zone == "germanywestcentral-2", "%+v", system)
	assert.Equal(t, len(apps), 1)
	n := apps[0]
	assert.Check(t, n.Labels["kubernetes.azure.com/agentpool"] == "apps" && n.Labels["workload"] == "apps" && n.Taints[0].Effect == "NoSchedule", "%+v", n)
	assert.Check(t, n.Version == "1.34.9" && standin.KubeletVersion(n.Version) == "v1.34.9" && strings.HasPrefix(n.ProviderID, "azure:///subscriptions/"), "%+v", n)
	w.TakeDown()
	assert.Check(t, len(w.Clusters.Running) == 0 && len(w.Clusters.Nodes["demo/apps"]) == 0, "still running: %v %v", w.Clusters.Running, w.Clusters.Nodes)
}

// TestNodeGroup: the group of the nodes comes and goes with the cluster.
func TestNodeGroup(t *testing.T) {
	w := newWorld(t)
	id := armid.Group(arm.Subscription, "demo-nodes")
	assert.Equal(t, w.read(arm.GroupType, id, nil).Id, id)
	assert.NilError(t, w.Delete(w.nodePool))
	assert.NilError(t, w.Delete(w.cluster))
	assert.Equal(t, w.read(arm.GroupType, id, nil).Id, "")
}

func TestGroupTakesEverythingAlong(t *testing.T) {
	w := newWorld(t)
	assert.NilError(t, w.Delete(w.group))
	items := w.Cloud.Inventory()
	assert.Check(t, len(items) == 0 && len(w.Clusters.Running) == 0, "left over: %+v, %v", items, w.Clusters.Running)
}

func TestReadByID(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{w.cluster.ID, strings.ToUpper(w.cluster.ID), strings.Replace(w.cluster.ID, "resourcegroups", "resourceGroups", 1)} {
		assert.Check(t, w.read(containerservice.ClusterType, id, nil).Id != "", "%s is not found", id)
	}
	assert.Equal(t, w.read(containerservice.ClusterType, w.cluster.ID+"2", nil).Id, "")
}

func TestReopen(t *testing.T) {
	w := newWorld(t)
	before := w.Cloud.Inventory()
	w.Clusters.Running, w.Clusters.Nodes = map[string]standin.ClusterSpec{}, map[string][]standin.Node{}
	w.Reopen(standin.Options{})
	w.configure(nil)
	assert.DeepEqual(t, before, w.Cloud.Inventory())
	assert.NilError(t, w.Cloud.Resume(t.Context()))
	assert.Check(t, len(w.Clusters.Running) == 1 && len(w.Clusters.Nodes["demo/system"]) == 2 && len(w.Clusters.Nodes["demo/apps"]) == 1, "%v %v", w.Clusters.Running, w.Clusters.Nodes)
	stored, err := Stored(w.Dir)
	assert.NilError(t, err)
	assert.DeepEqual(t, before, stored)
}

func TestUserCredentials(t *testing.T) {
	w := newWorld(t)
	found, err := w.Invoke("azure-native:containerservice/v20240901:listManagedClusterUserCredentials", props{"resourceGroupName": demo, "resourceName": demo})
	assert.NilError(t, err)
	text, err := base64.StdEncoding.DecodeString(found.Objects("kubeconfigs")[0].Str("value"))
	assert.NilError(t, err)
	for _, want := range []string{
		"server: https://127.0.0.1:6443/demo", "certificate-authority-data: " + base64.StdEncoding.EncodeToString([]byte("PEM")),
		"command: kubelogin", "- devicecode", "name: clusterUser_demo_demo",
	} {
		assert.Check(t, strings.Contains(string(text), want), "no %s in\n%s", want, text)
	}
}

func TestTeamNetwork(t *testing.T) {
	w := newNetwork(t)
	w.configure(props{"subscriptionId": arm.NetworkSubscription})
	found, err := w.Invoke("azure-native:network/v20190601:getSubnet", props{"resourceGroupName": network.TeamGroup, "virtualNetworkName": network.TeamNetwork, "subnetName": network.TeamSubnet})
	assert.NilError(t, err)
	assert.Check(t, found.Str("id") == network.TeamSubnetID && found.Sub("routeTable").Str("id") == network.TeamRouteTableID, "%v", found)
	hops := found.At("routeTable", "routes", "nextHopType")
	assert.Check(t, slices.Equal(hops, []string{"VirtualAppliance"}), "%v", hops)
	w.denied(network.SubnetType, props{"resourceGroupName": network.TeamGroup, "virtualNetworkName": network.TeamNetwork, "subnetName": "x", "addressPrefix": "10.200.16.0/24"},
		`Status=403 Code="AuthorizationFailed" Message="The client '`+arm.ClientID+`' with object id '`+arm.ClientObject+
			`' does not have authorization to perform action 'Microsoft.Network/virtualNetworks/subnets/write' over scope '`)
}
