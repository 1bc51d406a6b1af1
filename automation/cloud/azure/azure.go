// Package azure is Azure for the driver: what credentials, subscription and quotas a cluster
// needs, how a resource is found again, whose it is, who makes resources besides the stacks,
// what is dangerous, and what holds data.
//
// The provider that core uses gives the credentials, in programs that do nothing else, on
// stacks that are thrown away. It has no function for most questions, so they are asked of
// Azure's Resource Manager over HTTPS, with its token.
package azure

import (
	"cmp"
	"regexp"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/plan"
	"tombolo/automation/pulumicli"
	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/internal/armid"
)

// Cloud is Azure.
type Cloud struct {
	// Pulumi runs the programs that ask. Required by Lookup, Facts, Find, Remove, Describe
	// and Insights.
	Pulumi *pulumicli.CLI
}

// Types that more than one table names.
const (
	clusterType = "azure-native:containerservice/v20240901:ManagedCluster"
	vnetType    = "azure-native:network/v20190601:VirtualNetwork"
	addressType = "azure-native:network/v20190601:PublicIPAddress"
)

// ClusterType is the type of the managed cluster.
func (Cloud) ClusterType() string { return clusterType }

// Network is the id of the virtual network that core has made; "" when it uses another's.
func (Cloud) Network(core []apitype.ResourceV3) string {
	for _, r := range core {
		if r.Type == vnetType && !r.Delete && !r.External {
			return string(r.ID)
		}
	}
	return ""
}

// apiVersion is the version of Azure's API in a type token.
var apiVersion = regexp.MustCompile(`/v\d{8}(preview)?:`)

// plain is a type token without the version of the API: what a type is does not depend on it.
func plain(token string) string { return apiVersion.ReplaceAllString(token, ":") }

// data says what types, without their versions, have to do with what people keep. A type that
// is not listed has nothing to do with it. Data is in a resource group, which takes all that
// is in it along.
var data = map[string]teardown.Data{
	"azure-native:compute:Disk":                  teardown.HoldsData,
	"azure-native:compute:Snapshot":              teardown.HoldsData,
	"azure-native:dbforpostgresql:Server":        teardown.HoldsData,
	"azure-native:keyvault:Vault":                teardown.HoldsData,
	"azure-native:operationalinsights:Workspace": teardown.HoldsData,
	"azure-native:resources:ResourceGroup":       teardown.GuardsData,
	"azure-native:storage:BlobContainer":         teardown.GuardsData,
	"azure-native:storage:FileShare":             teardown.GuardsData,
	"azure-native:storage:ManagementPolicy":      teardown.GuardsData,
	"azure-native:storage:StorageAccount":        teardown.HoldsData,
}

// Data says what the type has to do with data that people keep.
func (Cloud) Data(token string) teardown.Data { return data[plain(token)] }

// Danger of deleting or replacing a resource. A resource group goes with all that is in it,
// the cluster and data. So does a container or a share of a storage account.
func (a Cloud) Danger(token, _ string) plan.Danger {
	switch plain(token) {
	case plain(clusterType), "azure-native:resources:ResourceGroup":
		return plan.ClusterDanger
	case plain(vnetType), "azure-native:network:Subnet":
		return plan.NetworkDanger
	case "azure-native:containerservice:AgentPool":
		return plan.NodeGroupDanger
	}
	if a.Data(token) != teardown.NoData {
		return plan.DataDanger
	}
	return ""
}

// groupOf is the resource group that core makes; nodeGroupOf, the one that AKS makes for
// what it makes itself.
func groupOf(c *config.Cluster) string { return cmp.Or(c.Cloud.ResourceGroup, c.Name) }

func nodeGroupOf(c *config.Cluster) string {
	return cmp.Or(c.Kubernetes.NodeResourceGroup, c.Name+"-nodes")
}

// clusterID is the id of the managed cluster: of the one that core makes, or of the one that
// the file calls existing.
func clusterID(c *config.Cluster) string {
	group := groupOf(c)
	if c.Kubernetes.Existing != nil {
		group = c.Kubernetes.Existing.ResourceGroup
	}
	return armid.Resource(c.Cloud.Account, group, armid.ManagedClusters, c.NameInCloud())
}
