package azure

import (
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/recovery"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/stacks"
	"tombolo/stacks/owner"
	"tombolo/stacks/programs"
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

// TestCoreMakesNothingThatIsLost runs the program of core for the examples of cluster files.
func TestCoreMakesNothingThatIsLost(t *testing.T) {
	made := &made{types: map[string]bool{}}
	for _, name := range []string{"azure-full", "azure-network", "azure-minimal"} {
		c, err := config.Load(filepath.Join("..", "..", "..", "config", "testdata", "good", name+".yaml"))
		assert.NilError(t, err)
		program, err := programs.Of(c, stacks.Core, programs.Options{})
		assert.NilError(t, err)
		preview := func(info *pulumi.RunInfo) { info.DryRun = true }
		assert.NilError(t, pulumi.RunErr(program, pulumi.WithMocks(stacks.Project, c.Name+"-core", made), preview))
	}
	for token := range made.types {
		_, ok := Cloud{}.Finder(token)
		assert.Check(t, ok, "an interrupted creation of %s is not found again: add a line to finders", token)
	}
	for _, token := range []string{clusterType, vnetType, "azure-native:authorization/v20220401:RoleAssignment", "azure-native:managedidentity/v20230131:FederatedIdentityCredential"} {
		assert.Check(t, made.types[token], "the clusters have no %s, so that this test shows nothing about it", token)
	}
}

// made notes the types of Azure's resources that a program makes.
type made struct {
	mu    sync.Mutex
	types map[string]bool
}

func (m *made) NewResource(r pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if strings.HasPrefix(r.TypeToken, "azure-native:") && r.Custom {
		m.types[r.TypeToken] = true
	}
	if r.TypeToken == owner.Type { // as the engine answers
		return r.Name, resource.PropertyMap{"input": r.Inputs["input"], "output": r.Inputs["input"]}, nil
	}
	return r.Name, r.Inputs, nil
}

func (m *made) Call(call pulumi.MockCallArgs) (resource.PropertyMap, error) {
	switch call.Token {
	case "azure-native:authorization:getClientConfig":
		return resource.NewPropertyMapFromMap(map[string]any{"subscriptionId": subscription, "tenantId": tenant, "clientId": "c", "objectId": "o"}), nil
	case "azure-native:resources:getResourceGroup":
		return nil, errors.New(`Status=404 Code="ResourceGroupNotFound"`)
	case "azure-native:network/v20190601:getSubnet":
		return resource.NewPropertyMapFromMap(map[string]any{"name": "aks", "purpose": "", "routeTable": map[string]any{
			"id": "/subscriptions/other/resourceGroups/network-team/providers/Microsoft.Network/routeTables/egress", "name": "egress", "type": "x",
		}}), nil
	case "azure-native:network/v20190601:getVirtualNetwork":
		return resource.NewPropertyMapFromMap(map[string]any{"name": "shared", "type": "x", "addressSpace": map[string]any{"addressPrefixes": []any{"10.8.0.0/14"}}}), nil
	case "azure-native:network/v20240601:getPrivateZone":
		return resource.NewPropertyMapFromMap(map[string]any{"name": "corp.example"}), nil
	case "azure-native:keyvault/v20230701:getVault":
		return resource.NewPropertyMapFromMap(map[string]any{
			"name": "shop", "properties": map[string]any{"vaultUri": "https://shop.vault.azure.net/", "enableRbacAuthorization": true, "tenantId": tenant, "sku": map[string]any{"family": "A", "name": "standard"}},
		}), nil
	case "azure-native:storage/v20230501:getBlobContainer":
		return resource.NewPropertyMapFromMap(map[string]any{"name": "loki"}), nil
	case "azure-native:containerservice/v20240901:listManagedClusterUserCredentials":
		kubeconfig := base64.StdEncoding.EncodeToString([]byte(`clusters: [{cluster: {server: "https://demo.example:443", certificate-authority-data: Q0E=}}]`))
		return resource.NewPropertyMapFromMap(map[string]any{"kubeconfigs": []any{map[string]any{"name": "clusterUser", "value": kubeconfig}}}), nil
	case "pulumi:pulumi:readStackResourceOutputs":
		return resource.PropertyMap{}, nil
	}
	return nil, fmt.Errorf("nobody answers %s", call.Token)
}
