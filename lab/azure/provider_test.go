package azure

import (
	"slices"
	"strings"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gotest.tools/v3/assert"

	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/authorization"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/azure/managedidentity"
	"tombolo/lab/azure/network"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
	"tombolo/lab/standin/standintest"
)

func TestUnknownType(t *testing.T) {
	a := newTenant(t)
	_, failures := a.Check("azure-native:sql:Server", "x", nil, props{})
	assert.Check(t, strings.Contains(failures, "the Azure stand-in does not know the resource type azure-native:sql:Server"), failures)
	_, err := a.Invoke("azure-native:sql:getServer", nil)
	standintest.Refuses(t, err, "the Azure stand-in does not know the function azure-native:sql:getServer")
}

func TestConfigurationIsRefused(t *testing.T) {
	a := newTenant(t)
	for want, config := range map[string]props{
		"AADSTS90002: Tenant '" + arm.Subscription + "' not found.": {"tenantId": arm.Subscription},
		`Invalid or unknown key; did you mean "subscriptionId"?`:    {"subscription": arm.Subscription},
	} {
		res, err := a.Server.CheckConfig(t.Context(), &pulumirpc.CheckRequest{News: a.Wire(config)})
		assert.NilError(t, err)
		assert.Check(t, len(res.Failures) == 1 && strings.Contains(res.Failures[0].Reason, want), "%v", res)
		_, err = a.Server.Configure(t.Context(), &pulumirpc.ConfigureRequest{Args: a.Wire(config)})
		standintest.Refuses(t, err, want)
	}
}

func TestClientConfig(t *testing.T) {
	a := newTenant(t)
	found, err := a.Invoke("azure-native:authorization:getClientConfig", nil)
	assert.NilError(t, err)
	assert.DeepEqual(t, found, props{"clientId": arm.ClientID, "objectId": arm.ClientObject, "subscriptionId": arm.Subscription, "tenantId": arm.Tenant})
	found, err = a.Invoke("azure-native:authorization:getClientToken", nil)
	assert.NilError(t, err)
	claims, err := authorization.Verify(a.Cloud, found.Str("token"), "https://management.azure.com/")
	assert.NilError(t, err)
	assert.Check(t, claims.Object == arm.ClientObject && claims.Tenant == arm.Tenant, "%+v", claims)
	_, err = authorization.Verify(a.Cloud, found.Str("token"), "https://vault.azure.net")
	standintest.Refuses(t, err, "verify a token for https://vault.azure.net: ")
}

func TestNamesAreMade(t *testing.T) {
	a := newTenant(t)
	group := a.Make(arm.GroupType, "group", props{"location": "Germany West Central"})
	assert.Check(t, strings.HasPrefix(group.Out.Str("name"), "group") && len(group.Out.Str("name")) == len("group")+8, group.Out.Str("name"))
	assert.Equal(t, group.Out.Str("location"), "germanywestcentral")
	in := props{"resourceGroupName": group.Out.Str("name"), "addressSpace": map[string]any{"addressPrefixes": list("10.1.0.0/16")}}
	vnet := a.Make(network.NetworkType, "vnet", in)
	assert.Equal(t, vnet.Out.Str("location"), "germanywestcentral")
	subnet := a.Make(network.SubnetType, "subnet", props{"resourceGroupName": group.Out.Str("name"), "virtualNetworkName": vnet.Out.Str("name"), "addressPrefix": "10.1.0.0/24"})
	assert.Equal(t, subnet.Out.Str("name"), "subnet")
	given := a.Make(rbac.AssignmentType, "given", props{
		"scope": group.ID, "principalId": arm.AdminGroup, "principalType": "Group", "roleDefinitionId": rbac.Definition(arm.Subscription, rbac.Reader),
	})
	assert.Equal(t, len(given.Out.Str("name")), 36)
	again := a.Diff(vnet, props{"location": "westeurope"})
	assert.Check(t, len(again.Replaces) == 1 && !again.DeleteBeforeReplace, "a resource with a name of the provider's: %v", again)
}

// TestDiff: what azure-native 2.90 replaces a resource for, and what it tries to update.
func TestDiff(t *testing.T) {
	w := newWorld(t)
	for name, tc := range map[string]struct {
		of       *thing
		change   props
		paths    []string
		replaces []string
	}{
		"a tag":                       {w.cluster, props{"tags": map[string]any{"a": "b"}}, []string{"tags"}, nil},
		"the spelling of a location":  {w.cluster, props{"location": "Germany West Central"}, nil, nil},
		"another location":            {w.cluster, props{"location": "westeurope"}, []string{"location"}, []string{"location"}},
		"a version":                   {w.cluster, props{"kubernetesVersion": "1.35"}, []string{"kubernetesVersion"}, nil},
		"something of the network":    {w.cluster, props{"networkProfile": w.clusterNetwork(props{"podCidr": "10.245.0.0/16"})}, []string{"networkProfile.podCidr"}, []string{"networkProfile"}},
		"the inline pool":             {w.cluster, props{"agentPoolProfiles": list(map[string]any(w.systemPool(props{"count": 3})))}, []string{"agentPoolProfiles[0].count"}, nil},
		"the DNS prefix":              {w.cluster, props{"dnsPrefix": "other"}, []string{"dnsPrefix"}, []string{"dnsPrefix"}},
		"the size of a pool's nodes":  {w.nodePool, props{"vmSize": "Standard_D8s_v5"}, []string{"vmSize"}, []string{"vmSize"}},
		"a pool's zones":              {w.nodePool, props{"availabilityZones": list("1")}, []string{"availabilityZones"}, nil},
		"a subnet's range":            {w.subnet, props{"addressPrefix": "10.1.0.0/21"}, []string{"addressPrefix"}, nil},
		"a network's name":            {w.vnet, props{"virtualNetworkName": "other"}, []string{"virtualNetworkName"}, []string{"virtualNetworkName"}},
		"the order of address blocks": {w.vnet, props{"addressSpace": map[string]any{"addressPrefixes": list("10.1.0.0/16", "10.2.0.0/16")}}, []string{"addressSpace.addressPrefixes[1]"}, nil},
		"an address's SKU":            {w.ip, props{"sku": map[string]any{"name": "Basic"}}, []string{"sku.name"}, []string{"sku"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := w.Diff(tc.of, tc.change)
			paths := standin.SortedKeys(got.DetailedDiff)
			assert.Check(t, slices.Equal(paths, tc.paths), "paths %v", paths)
			assert.Check(t, slices.Equal(got.Replaces, tc.replaces), "replaces %v", got.Replaces)
			assert.Equal(t, got.DeleteBeforeReplace, len(tc.replaces) > 0)
		})
	}
}

// TestPreview: only inputs are known of outputs, of an update as well, but for name and location.
func TestPreview(t *testing.T) {
	w := newIdentities(t)
	in := w.inGroup(props{"resourceName": "other"})
	res, err := w.Server.Create(t.Context(), &pulumirpc.CreateRequest{Urn: standintest.URN(managedidentity.IdentityType, "x"), Properties: w.Wire(in), Preview: true})
	assert.NilError(t, err)
	out := w.Plain(res.Properties)
	assert.Check(t, out.Str("location") == arm.Location && standin.HasUnknown(out["principalId"]) && standin.HasUnknown(out["name"]) && !out.Has("resourceName"), "%v", out)

	change := standin.Merged(w.control.In, props{"tags": map[string]any{"a": "b"}})
	updated, err := w.Server.Update(t.Context(), &pulumirpc.UpdateRequest{
		Urn: standintest.URN(managedidentity.IdentityType, "x"), Id: w.control.ID, Olds: w.Wire(w.control.Out), OldInputs: w.Wire(w.control.In), News: w.Wire(change), Preview: true,
	})
	assert.NilError(t, err)
	out = w.Plain(updated.Properties)
	assert.Check(t, out.Str("name") == "demo-control-plane" && standin.HasUnknown(out["principalId"]), "%v", out)

	res, err = w.Server.Create(t.Context(), &pulumirpc.CreateRequest{Urn: standintest.URN(containerservice.ClusterType, "x"), Properties: w.Wire(w.clusterArgs(nil)), Preview: true})
	assert.NilError(t, err)
	out = w.Plain(res.Properties)
	issuer, pools := out.Sub("oidcIssuerProfile"), out.Objects("agentPoolProfiles")
	assert.Check(t, issuer.Boolean("enabled") && standin.HasUnknown(issuer["issuerURL"]), "%v", issuer)
	assert.Check(t, pools[0].Str("vmSize") == "Standard_D2s_v5" && standin.HasUnknown(pools[0]["nodeImageVersion"]), "%v", pools)
	assert.Check(t, standin.HasUnknown(out.Sub("identity")["userAssignedIdentities"]))
}

// TestUpdateIsAPut: what an update leaves out is gone, tags of others too.
func TestUpdateIsAPut(t *testing.T) {
	w := newNetwork(t)
	_, err := w.Cloud.Change(t.Context(), "VirtualNetwork", demo, map[string]any{"tags.cost": "7"})
	assert.NilError(t, err)
	known := w.Plain(w.read(network.NetworkType, w.vnet.ID, w.vnet.In).Inputs)
	assert.Equal(t, known.Sub("tags").Str("cost"), "7")
	assert.NilError(t, w.Update(w.vnet, props{"tags": map[string]any{"team": "a"}}))
	assert.DeepEqual(t, w.vnet.Out.Sub("tags"), props{"team": "a"})
}

// TestImport: azure-native takes the inputs of what it has none of from the outputs.
func TestImport(t *testing.T) {
	w := newWorld(t)
	refreshed := w.Plain(w.read(containerservice.ClusterType, w.cluster.ID, w.cluster.In).Inputs)
	assert.DeepEqual(t, refreshed, w.cluster.In)
	imported := w.Plain(w.read(containerservice.ClusterType, w.cluster.ID, nil).Inputs)
	assert.Check(t, imported.Str("resourceGroupName") == demo && imported.Str("supportPlan") == "KubernetesOfficial", "%v", imported)
	assert.Check(t, !imported.Sub("oidcIssuerProfile").Has("issuerURL") && !imported.Has("fqdn"), "%v", imported)
	ids := imported.Sub("identity").List("userAssignedIdentities")
	assert.Check(t, slices.Equal(ids, []string{w.control.ID}), "%v", ids)
}

// TestDrift: what a person changes with Azure's own tools is refused as Azure does.
func TestDrift(t *testing.T) {
	w := newWorld(t)
	_, err := w.Cloud.Change(t.Context(), "AgentPool", "apps", map[string]any{"maxCount": 5.0})
	assert.NilError(t, err)
	_, err = w.Cloud.Change(t.Context(), "AgentPool", "apps", map[string]any{"vmSize": "Standard_D8s_v5"})
	standintest.Refuses(t, err, "Azure cannot change vmSize of an existing Microsoft.ContainerService/managedClusters/agentPools; delete it instead")
	_, err = w.Cloud.Remove(t.Context(), "NatGateway", demo)
	standintest.Refuses(t, err, `Code="CannotDeleteNatGatewayAssociatedToSubnet"`)
	_, err = w.Cloud.Remove(t.Context(), "AgentPool", "apps")
	assert.NilError(t, err)
	assert.Equal(t, w.read(containerservice.PoolType, w.nodePool.ID, nil).Id, "")
}

func TestInventory(t *testing.T) {
	w := newNetwork(t)
	var found []string
	for _, item := range w.Cloud.Inventory() {
		found = append(found, item.Type[strings.LastIndex(item.Type, ":")+1:]+" "+item.Name+" "+item.Region)
	}
	slices.Sort(found)
	assert.DeepEqual(t, found, []string{
		"NatGateway demo germanywestcentral", "PublicIPAddress demo-outbound germanywestcentral", "ResourceGroup demo germanywestcentral",
		"Subnet demo-nodes global", "VirtualNetwork demo germanywestcentral",
	})
}
