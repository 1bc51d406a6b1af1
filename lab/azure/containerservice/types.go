// Package containerservice is Azure Kubernetes Service in the stand-in. Control planes are
// real ones of the lab; node pools are its nodes.
package containerservice

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	containerservice "github.com/pulumi/pulumi-azure-native-sdk/containerservice/v2/v20240901"

	"tombolo/internal/armid"
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

// clusterIDOf is the id of the cluster that a pool's id is in.
func clusterIDOf(pool string) string {
	before, _, _ := strings.Cut(pool, "/agentPools/")
	return before
}

// Functions look up clusters, and tell how a cluster is reached.
func Functions() map[string]*standin.Function {
	return map[string]*standin.Function{
		"azure-native:containerservice/v20240901:getManagedCluster": {
			SDK: containerservice.LookupManagedCluster, Run: arm.Lookup(cluster, withPools),
		},
		"azure-native:containerservice/v20240901:listManagedClusterUserCredentials": {
			SDK: containerservice.ListManagedClusterUserCredentials, Run: userCredentials,
		},
	}
}

// withPools tells of the pools that a cluster has by now.
func withPools(q *standin.Query, r *standin.Record, out standin.Props) {
	list := []any{}
	for p := range PoolsOf(q.Cloud, r.ID) {
		profile := p.Outputs.Clone()
		profile["type"] = "VirtualMachineScaleSets"
		list = append(list, map[string]any(profile))
	}
	out["agentPoolProfiles"] = list
}

// TellStates has the copy of a cluster's record tell of its pools, and of what is under way on each.
func TellStates(c *standin.Cloud, cluster *standin.Record) {
	defer c.Lock()()
	state := func(r *standin.Record) string {
		switch r.Status {
		case "", standin.StatusActive:
			return "Succeeded"
		case standin.StatusCreating:
			return "Creating"
		case standin.StatusDeleting:
			return "Deleting"
		}
		return "Updating"
	}
	list := []any{}
	for p := range PoolsOf(c, cluster.ID) {
		profile := p.Outputs.Clone()
		profile["provisioningState"] = state(p)
		list = append(list, map[string]any(profile))
	}
	cluster.Outputs["agentPoolProfiles"], cluster.Outputs["provisioningState"] = list, state(cluster)
}

// userCredentials is the kubeconfig as Azure gives it to a user of a cluster with Entra: it
// asks kubelogin for a token by a device code, and has no credential. Source:
// https://learn.microsoft.com/en-us/azure/aks/kubelogin-authentication
func userCredentials(q *standin.Query) (standin.Props, error) {
	r, err := arm.Read(q, cluster, arm.Filled(cluster.Path, arm.SubscriptionFor(q.Call), q.Args))
	if err != nil {
		return nil, err
	}
	if r.Control == nil {
		return nil, &arm.Error{Status: 409, Code: "OperationNotAllowed", Message: "Operation is not allowed: the managed cluster " + r.Outputs.Str("name") + " is not provisioned yet."}
	}
	text := base64.StdEncoding.EncodeToString([]byte(kubeconfig(r)))
	return standin.Props{"kubeconfigs": []any{map[string]any{"name": "clusterUser", "value": text}}}, nil
}

// The applications of AKS in every tenant, which kubelogin asks for. Source:
// https://azure.github.io/kubelogin/concepts/aks.html
const (
	serverApplication = "6dae42f8-4368-4678-94ff-3960e28e3630"
	clientApplication = "80faf920-1908-4b52-b5ef-a8e7bedfc67a"
)

func kubeconfig(r *standin.Record) string {
	name := r.Outputs.Str("name")
	user := fmt.Sprintf("clusterUser_%s_%s", armid.NameOf(armid.GroupOf(r.ID)), name)
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: %s\n    server: %s\n  name: %s\n",
		base64.StdEncoding.EncodeToString(r.Control.CA), r.Control.Endpoint, name)
	fmt.Fprintf(&b, "contexts:\n- context:\n    cluster: %[1]s\n    user: %[2]s\n  name: %[1]s\ncurrent-context: %[1]s\nkind: Config\npreferences: {}\nusers:\n- name: %[2]s\n", name, user)
	if !r.Outputs.Sub("aadProfile").Boolean("managed") {
		b.WriteString("  user: {}\n") // a certificate and a token, which the lab does not give out
		return b.String()
	}
	fmt.Fprintf(&b, "  user:\n    exec:\n      apiVersion: client.authentication.k8s.io/v1beta1\n      args:\n")
	for _, argument := range []string{
		"get-token", "--environment", "AzurePublicCloud", "--server-id", serverApplication, "--client-id", clientApplication, "--tenant-id", arm.Tenant, "--login", "devicecode",
	} {
		fmt.Fprintf(&b, "      - %s\n", argument)
	}
	b.WriteString("      command: kubelogin\n      env: null\n      provideClusterInfo: false\n")
	return b.String()
}
