package azure

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/plan"
	"tombolo/automation/teardown"
)

func TestDanger(t *testing.T) {
	for _, test := range []struct {
		token string
		want  plan.Danger
	}{
		{"azure-native:resources:ResourceGroup", plan.ClusterDanger},
		{"azure-native:containerservice/v20240901:ManagedCluster", plan.ClusterDanger},
		{"azure-native:containerservice:ManagedCluster", plan.ClusterDanger},
		{"azure-native:containerservice/v20250101preview:AgentPool", plan.NodeGroupDanger},
		{"azure-native:network/v20190601:VirtualNetwork", plan.NetworkDanger},
		{"azure-native:network/v20190601:Subnet", plan.NetworkDanger},
		{"azure-native:keyvault/v20230701:Vault", plan.DataDanger},
		{"azure-native:storage/v20230501:StorageAccount", plan.DataDanger},
		{"azure-native:storage/v20230501:BlobContainer", plan.DataDanger},
		{"azure-native:storage/v20230501:ManagementPolicy", plan.DataDanger},
		{"azure-native:compute:Disk", plan.DataDanger},
		{"azure-native:managedidentity/v20230131:UserAssignedIdentity", ""},
		{"azure-native:network/v20190601:PublicIPAddress", ""},
	} {
		assert.Check(t, is.Equal((Cloud{}).Danger(test.token, ""), test.want), test.token)
	}
}

// TestWhatIsKeptIsDangerous: what a destruction keeps as data is no harmless deletion in a plan.
func TestWhatIsKeptIsDangerous(t *testing.T) {
	for token, d := range data {
		assert.Check(t, d == teardown.NoData || (Cloud{}).Danger(token, "") != "", token)
	}
	assert.Check(t, is.Equal((Cloud{}).Data("azure-native:resources:ResourceGroup"), teardown.GuardsData))
	assert.Check(t, is.Equal((Cloud{}).Data("azure-native:storage/v20230501:StorageAccount"), teardown.HoldsData))
	assert.Check(t, is.Equal((Cloud{}).Data("azure-native:storage/v20230501:BlobContainer"), teardown.GuardsData))
	assert.Check(t, is.Equal((Cloud{}).Data("azure-native:network/v20190601:VirtualNetwork"), teardown.NoData))
}

func TestNetwork(t *testing.T) {
	const id = "/subscriptions/s/resourceGroups/demo/providers/Microsoft.Network/virtualNetworks/demo"
	vnet := apitype.ResourceV3{Type: vnetType, ID: id}
	old, read := vnet, vnet
	old.Delete, read.External = true, true
	assert.Equal(t, (Cloud{}).Network([]apitype.ResourceV3{old, read}), "")
	assert.Equal(t, (Cloud{}).Network([]apitype.ResourceV3{old, vnet}), id)
}

func TestControlPlane(t *testing.T) {
	cluster := apitype.ResourceV3{Type: clusterType, ID: "/x", Outputs: map[string]any{"oidcIssuerProfile": map[string]any{"enabled": true, "issuerURL": "https://issuer/"}}}
	old := cluster
	old.Delete = true
	got := Cloud{}.ControlPlane([]apitype.ResourceV3{old})
	assert.Equal(t, got.ID+got.Issuer, "")
	got = Cloud{}.ControlPlane([]apitype.ResourceV3{old, cluster})
	assert.Equal(t, got.ID+" "+got.Issuer, "/x https://issuer/")
}

func TestMaker(t *testing.T) {
	for tag, want := range map[string]string{
		"kubernetes.io-created-for-pvc-name": "the Azure Disk CSI driver", "k8s-azure-service": "the Azure cloud provider",
		"aks-managed-cluster-name": "AKS", "team": "",
	} {
		assert.Check(t, is.Equal(Cloud{}.Maker(map[string]string{tag: "x"}), want), tag)
	}
}

func TestSetByOthers(t *testing.T) {
	for _, test := range []struct {
		typ, property string
		want          bool
	}{
		{"azure-native:containerservice/v20240901:AgentPool", "count", true},
		{"azure-native:containerservice/v20240901:AgentPool", "vmSize", false},
		{clusterType, "agentPoolProfiles[0].count", true},
		{clusterType, "agentPoolProfiles[0].maxPods", false},
		{clusterType, "tags.team", false},
		{vnetType, "count", false},
	} {
		assert.Check(t, is.Equal((Cloud{}).SetByOthers(test.typ, test.property), test.want), test.typ+" "+test.property)
	}
}

func TestName(t *testing.T) {
	got := Cloud{}.Name("/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v")
	assert.Equal(t, got.Type+" "+got.Name, "Microsoft.Network/virtualNetworks v")
	assert.Check(t, !got.Unique)
	assert.Equal(t, Cloud{}.Name("nonsense").Name, "nonsense")
}
