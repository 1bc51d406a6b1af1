package azure

import (
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gotest.tools/v3/assert"

	"tombolo/lab/azure/apimodel"
	"tombolo/lab/azure/arm"
	"tombolo/lab/azure/containerservice"
	"tombolo/lab/azure/managedidentity"
	"tombolo/lab/azure/network"
	"tombolo/lab/azure/rbac"
	"tombolo/lab/standin"
	"tombolo/lab/standin/standintest"
)

type props = standin.Props

type thing = standintest.Thing

// bench drives the stand-in as an engine would.
type bench struct{ *standintest.Bench }

func newTenant(t *testing.T) *bench {
	t.Helper()
	a := &bench{standintest.New(t, Open)}
	a.CheckInputs = func(token string, inputs props) {
		unmapped := apimodel.Unmapped(token, inputs)
		assert.Check(t, len(unmapped) == 0, "the API does not have these inputs of %s: %v; see apimodel/types.json", token, unmapped)
	}
	a.configure(nil)
	return a
}

// configure gives the provider the lab's tenant and subscription, and these settings.
func (a *bench) configure(change props) {
	a.T.Helper()
	a.Configure(standin.Merged(props{"subscriptionId": arm.Subscription, "tenantId": arm.Tenant}, change))
}

// read looks a resource up, as a refresh does.
func (a *bench) read(token, id string, known props) *pulumirpc.ReadResponse {
	a.T.Helper()
	req := &pulumirpc.ReadRequest{Urn: standintest.URN(token, "x"), Id: id}
	if known != nil {
		req.Inputs = a.Wire(known)
	}
	res, err := a.Server.Read(a.T.Context(), req)
	assert.NilError(a.T, err)
	return res
}

// denied asserts that Azure refuses to make a resource.
func (a *bench) denied(token string, in props, want string) {
	a.T.Helper()
	_, err := a.Try(token, "x", in)
	standintest.Refuses(a.T, err, want)
}

// world is a group with a network, identities, and a cluster with two pools.
type world struct {
	*bench
	group, vnet, subnet, gateway, ip    *thing
	control, kubelet, cluster, nodePool *thing
}

const demo = "demo"

func newNetwork(t *testing.T) *world {
	t.Helper()
	w := &world{bench: newTenant(t)}
	w.group = w.Add(arm.GroupType, "group", props{"resourceGroupName": demo, "location": arm.Location, "tags": map[string]any{"team": "a"}})
	w.vnet = w.Add(network.NetworkType, "network", w.inGroup(props{
		"virtualNetworkName": demo, "addressSpace": map[string]any{"addressPrefixes": []any{"10.1.0.0/16"}},
	}))
	w.ip = w.Add(network.AddressType, "address", w.inGroup(props{
		"publicIpAddressName": "demo-outbound", "sku": map[string]any{"name": "Standard"}, "publicIPAllocationMethod": "Static",
	}))
	w.gateway = w.Add(network.NatGatewayType, "gateway", w.inGroup(props{
		"natGatewayName": demo, "sku": map[string]any{"name": "Standard"}, "publicIpAddresses": []any{map[string]any{"id": w.ip.ID}},
	}))
	w.subnet = w.Add(network.SubnetType, "subnet", props{
		"resourceGroupName": demo, "virtualNetworkName": demo, "subnetName": "demo-nodes", "addressPrefix": "10.1.0.0/20",
		"natGateway": map[string]any{"id": w.gateway.ID},
	})
	return w
}

// inGroup adds the group and its location to inputs.
func (w *world) inGroup(in props) props {
	return standin.Merged(props{"resourceGroupName": demo, "location": arm.Location}, in)
}

func (w *world) identity(name string) *thing {
	w.T.Helper()
	return w.Add(managedidentity.IdentityType, name, w.inGroup(props{"resourceName": name}))
}

// assign gives an identity a role on a scope.
func (w *world) assign(name string, identity *thing, role, scope string) *thing {
	w.T.Helper()
	return w.Add(rbac.AssignmentType, name, w.assignment(identity.Out.Str("principalId"), role, scope, nil))
}

func (w *world) assignment(principal, role, scope string, change props) props {
	return standin.Merged(props{
		"principalId": principal, "principalType": "ServicePrincipal", "scope": scope, "roleAssignmentName": arm.UUID(),
		"roleDefinitionId": rbac.Definition(arm.Subscription, role),
	}, change)
}

// newIdentities has a network, and what a cluster in it needs.
func newIdentities(t *testing.T) *world {
	t.Helper()
	w := newNetwork(t)
	w.control, w.kubelet = w.identity("demo-control-plane"), w.identity("demo-kubelet")
	w.assign("network", w.control, rbac.NetworkContributor, w.subnet.ID)
	w.assign("operator", w.control, rbac.ManagedIdentityOperator, w.kubelet.ID)
	return w
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := newIdentities(t)
	w.cluster = w.Add(containerservice.ClusterType, "cluster", w.clusterArgs(nil))
	w.nodePool = w.Add(containerservice.PoolType, "pool", w.poolArgs(nil))
	return w
}

func (w *world) systemPool(change props) props {
	return standin.Merged(props{
		"name": "system", "mode": "System", "vmSize": "Standard_D2s_v5", "count": 2, "vnetSubnetID": w.subnet.ID, "availabilityZones": []any{"1", "2"},
	}, change)
}

func (w *world) clusterArgs(change props) props {
	return standin.Merged(w.inGroup(props{
		"resourceName": demo, "dnsPrefix": demo, "kubernetesVersion": "1.34", "nodeResourceGroup": "demo-nodes",
		"identity":             map[string]any{"type": "UserAssigned", "userAssignedIdentities": []any{w.control.ID}},
		"identityProfile":      map[string]any{"kubeletidentity": map[string]any{"resourceId": w.kubelet.ID}},
		"aadProfile":           map[string]any{"managed": true, "enableAzureRBAC": false, "adminGroupObjectIDs": []any{arm.AdminGroup}, "tenantID": arm.Tenant},
		"disableLocalAccounts": true,
		"oidcIssuerProfile":    map[string]any{"enabled": true},
		"securityProfile":      map[string]any{"workloadIdentity": map[string]any{"enabled": true}},
		"networkProfile":       w.clusterNetwork(nil),
		"agentPoolProfiles":    []any{map[string]any(w.systemPool(nil))},
	}), change)
}

func (w *world) clusterNetwork(change props) map[string]any {
	return standin.Merged(props{
		"networkPlugin": "azure", "networkPluginMode": "overlay", "networkDataplane": "cilium", "outboundType": "userAssignedNATGateway",
		"podCidr": "10.244.0.0/16", "serviceCidr": "10.0.0.0/16", "dnsServiceIP": "10.0.0.10",
	}, change)
}

func (w *world) poolArgs(change props) props {
	return standin.Merged(props{
		"resourceGroupName": demo, "resourceName": demo, "agentPoolName": "apps", "mode": "User", "vmSize": "Standard_D4s_v5", "vnetSubnetID": w.subnet.ID,
		"enableAutoScaling": true, "minCount": 1, "maxCount": 3, "nodeLabels": map[string]any{"workload": "apps"}, "nodeTaints": []any{"dedicated=x:NoSchedule"},
	}, change)
}
