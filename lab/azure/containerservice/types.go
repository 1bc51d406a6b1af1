// Package containerservice is Azure Kubernetes Service in the stand-in. Control planes are
// real ones of the lab; node pools are its nodes.
package containerservice

import (
	"context"
	"regexp"
	"strings"
	"time"

	containerservice "github.com/pulumi/pulumi-azure-native-sdk/containerservice/v2/v20240901"

	"tombolo/lab/azure/arm"
	"tombolo/lab/standin"
)

// The types of clusters and of their node pools.
const (
	ClusterType = "azure-native:containerservice/v20240901:ManagedCluster"
	PoolType    = "azure-native:containerservice/v20240901:AgentPool"
)

// errorCodes that are not told elsewhere are in the resource provider's own list:
// https://github.com/Azure/aks-deployer/blob/2ffb487a6ac8426c8b5b156a522859626b67ebac/pkg/apierror/const.go
const (
	namespace = "Microsoft.ContainerService"
	asked     = "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Microsoft.ContainerService/managedClusters/{resourceName}"
	// answered is the path that it answers with. Source:
	// https://github.com/pulumi/pulumi-azure-native/blob/38cdb0c0aabbdef56767f4ef181991aa11bdce73/provider/pkg/provider/testdata/recorded/TestProviderUpgrade/upgrade-aks-api-version/2.90.0/stack.json
	answered = "/subscriptions/{subscriptionId}/resourcegroups/{resourceGroupName}/providers/Microsoft.ContainerService/managedClusters/{resourceName}"
)

// The names of clusters and pools, as the API's specification has them; azure-native holds
// names to them itself.
const (
	clusterNames = `^[a-zA-Z0-9]$|^[a-zA-Z0-9][-_a-zA-Z0-9]{0,61}[a-zA-Z0-9]$`
	poolNames    = `^[a-z][a-z0-9]{0,11}$`
)

var (
	cluster = arm.Kind{Token: ClusterType, ARM: namespace + "/managedClusters", Path: asked, Answered: answered, Provider: namespace}
	pool    = arm.Kind{
		Token: PoolType, ARM: namespace + "/managedClusters/agentPools", Provider: namespace,
		Path: asked + "/agentPools/{agentPoolName}", Answered: answered + "/agentPools/{agentPoolName}",
		Parent: ClusterType, ParentPath: answered,
	}
)

// Types are clusters and node pools.
func Types() map[string]*standin.Type {
	return map[string]*standin.Type{
		ClusterType: cluster.Type(standin.Type{
			Constructor:   containerservice.NewManagedCluster,
			LimitExceeded: standin.Refusal{Code: "QuotaExceeded", Status: 409, Message: "Managed cluster count exceeds the quota limit of the subscription in the region."},
			// forceNewMap in provider/pkg/gen/replacement.go of azure-native before
			// https://github.com/pulumi/pulumi-azure-native/pull/4771
			ForceNew: []string{
				"diskEncryptionSetID", "dnsPrefix", "fqdnSubdomain", "linuxProfile", "location", "networkProfile", "nodeResourceGroup", "windowsProfile",
			},
			Validate: func(in standin.Props) []standin.Problem { return expression(in, "resourceName", clusterNames) },
			Create:   createCluster,
			Update:   updateCluster,
			Settle:   startCluster,
			Remove:   removeCluster,
			Teardown: stopCluster,
			// azure-native's own recordings: made in 3 to 5 minutes, with one pool. Source as of
			// answered. Users report as much for deletion, and more for an upgrade.
			Takes: standin.Timing{Create: 4 * time.Minute, Update: 2 * time.Minute, Remove: 5 * time.Minute},
		}),
		PoolType: pool.Type(standin.Type{
			Constructor:   containerservice.NewAgentPool,
			LimitExceeded: standin.Refusal{Code: "MaxAgentPoolCountReached", Message: "The maximum number of agent pools of the managed cluster, 100, has been reached."},
			// forceNewMap in provider/pkg/gen/replacement.go of azure-native
			ForceNew: []string{"gpuInstanceProfile", "vmSize"},
			Validate: func(in standin.Props) []standin.Problem { return expression(in, "agentPoolName", poolNames) },
			Create:   createPool,
			Update:   updatePool,
			Settle:   setNodes,
			Remove:   removePool,
			Teardown: func(ctx context.Context, c *standin.Cloud, r *standin.Record) error {
				r.Nodes = nil
				return setNodes(ctx, c, r)
			},
			// Users report 2 to 3 minutes for creation, and somewhat more for draining and deletion.
			Takes: standin.Timing{Create: 150 * time.Second, Update: 2 * time.Minute, Remove: 3 * time.Minute},
		}),
	}
}

// Resumed are clusters, and then their pools.
func Resumed() []standin.Resumption {
	return []standin.Resumption{
		{Type: ClusterType},
		{Type: PoolType, Holder: func(r *standin.Record) string { return clusterIDOf(r.ID) }},
	}
}

// expression holds a name to the API's specification, in azure-native's words.
func expression(in standin.Props, property, shape string) []standin.Problem {
	name := in.Str(property)
	if name == "" || regexp.MustCompile(shape).MatchString(name) {
		return nil
	}
	return []standin.Problem{{Path: property, Reason: "'" + property + "' does not match expression '" + shape + "'"}}
}

// clusterIDOf is the id of the cluster that a pool's id is in.
func clusterIDOf(pool string) string {
	before, _, _ := strings.Cut(pool, "/agentPools/")
	return before
}
