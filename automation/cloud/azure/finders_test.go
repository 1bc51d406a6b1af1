package azure

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/recovery"
	"tombolo/internal/names"
)

func TestDerivedIDs(t *testing.T) {
	const group = "/subscriptions/" + subscription + "/resourceGroups/demo"
	in := func(more ...string) recovery.Inputs {
		out := recovery.Inputs{"resourceGroupName": "demo"}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	for _, test := range []struct {
		token string
		in    recovery.Inputs
		want  string
	}{
		{"azure-native:resources:ResourceGroup", in(), group},
		{clusterType, in("resourceName", "demo"), group + "/providers/Microsoft.ContainerService/managedClusters/demo"},
		{"azure-native:containerservice/v20240901:AgentPool", in("resourceName", "demo", "agentPoolName", "apps"), group + "/providers/Microsoft.ContainerService/managedClusters/demo/agentPools/apps"},
		{vnetType, in("virtualNetworkName", "demo"), group + "/providers/Microsoft.Network/virtualNetworks/demo"},
		{"azure-native:network/v20190601:Subnet", in("virtualNetworkName", "demo", "subnetName", "demo-nodes"), group + "/providers/Microsoft.Network/virtualNetworks/demo/subnets/demo-nodes"},
		{"azure-native:network/v20190601:NatGateway", in("natGatewayName", "demo"), group + "/providers/Microsoft.Network/natGateways/demo"},
		{addressType, in("publicIpAddressName", "demo-outbound"), group + "/providers/Microsoft.Network/publicIPAddresses/demo-outbound"},
		{"azure-native:managedidentity/v20230131:UserAssignedIdentity", in("resourceName", "demo-kubelet"), group + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/demo-kubelet"},
		{
			"azure-native:managedidentity/v20230131:FederatedIdentityCredential",
			in("resourceName", "demo-shop", "federatedIdentityCredentialResourceName", "shop"),
			group + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/demo-shop/federatedIdentityCredentials/shop",
		},
		{
			"azure-native:authorization/v20220401:RoleAssignment",
			recovery.Inputs{"scope": "/subscriptions/other/resourceGroups/network-team/providers/Microsoft.Network/virtualNetworks/shared/subnets/aks/", "roleAssignmentName": "r-1"},
			"/subscriptions/other/resourceGroups/network-team/providers/Microsoft.Network/virtualNetworks/shared/subnets/aks/providers/Microsoft.Authorization/roleAssignments/r-1",
		},
		{"azure-native:keyvault/v20230701:Vault", in("vaultName", "demo"), group + "/providers/Microsoft.KeyVault/vaults/demo"},
		{"azure-native:storage/v20230501:StorageAccount", in("accountName", "demologs"), group + "/providers/Microsoft.Storage/storageAccounts/demologs"},
		{
			"azure-native:storage/v20230501:BlobContainer", in("accountName", "demologs", "containerName", "chunks"),
			group + "/providers/Microsoft.Storage/storageAccounts/demologs/blobServices/default/containers/chunks",
		},
		{
			"azure-native:storage/v20230501:ManagementPolicy", in("accountName", "demologs", "managementPolicyName", "default"),
			group + "/providers/Microsoft.Storage/storageAccounts/demologs/managementPolicies/default",
		},
		{clusterType, in(), ""},
		{clusterType, recovery.Inputs{"resourceName": "demo"}, ""},
		{"azure-native:authorization/v20220401:RoleAssignment", recovery.Inputs{"scope": "/subscriptions/s"}, ""},
		{vnetType, recovery.Inputs{"resourceGroupName": map[string]any{"ciphertext": "x"}, "virtualNetworkName": "demo"}, ""},
	} {
		f, ok := Cloud{}.Finder(test.token)
		assert.Assert(t, ok && f.ID != nil && f.Match == nil && !f.Again, test.token)
		assert.Check(t, is.Equal(f.ID(test.in, demo()), test.want), test.token)
	}
	_, ok := Cloud{}.Finder("azure-native:web:WebApp")
	assert.Check(t, !ok)
}

func TestOwner(t *testing.T) {
	tags := map[string]any{names.OwnerTag: "ours"}
	for _, test := range []struct {
		name    string
		outputs map[string]any
		id      string
		tagged  bool
	}{
		{"ours", map[string]any{"type": "Microsoft.Network/virtualNetworks", "tags": tags}, "ours", true},
		{"without any tags", map[string]any{"type": "microsoft.network/VirtualNetworks"}, "", true},
		{"a part of another", map[string]any{"name": "demo-nodes"}, "", false},
		{"a pool, which has tags of its own", map[string]any{"type": "Microsoft.ContainerService/managedClusters/agentPools", "tags": tags}, "ours", true},
		{"a pool without", map[string]any{"type": "Microsoft.ContainerService/managedClusters/agentPools"}, "", false},
	} {
		id, tagged := Cloud{}.Owner(test.outputs)
		assert.Check(t, is.Equal(id, test.id), test.name)
		assert.Check(t, is.Equal(tagged, test.tagged), test.name)
	}
}
