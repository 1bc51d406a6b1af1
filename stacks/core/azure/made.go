package azure

import (
	"fmt"

	containerservice "github.com/pulumi/pulumi-azure-native-sdk/containerservice/v2/v20240901"

	"tombolo/components/aks"
	"tombolo/config"
	"tombolo/stacks/core/live"
)

// made is what the state of the own stack says that earlier runs made.
type made struct{ live.Resources }

// listsPools says that the cluster lists pools that have resources of their own.
func (m made) listsPools() bool {
	cluster, _ := m.First(clusterToken)
	return len(cluster.Outputs.Items("agentPoolProfiles")) > 1
}

// keepNumbers says of each pool how many nodes its autoscaler has given it, when this up may
// change something of the cluster or its pools: AKS takes the number of each update for the
// one to have. Else the number in the state stays, and an autoscaler's work is no change.
func (p *program) keepNumbers(pools []aks.NodePool) error {
	cluster, lives := p.had.First(clusterToken)
	if !lives || len(config.Compare(Live(p.c, p.had.Resources), p.c)) == 0 {
		return nil
	}
	name, group := cluster.Outputs.Text("name"), p.c.Cloud.ResourceGroup
	found, err := containerservice.LookupManagedCluster(p.ctx, &containerservice.LookupManagedClusterArgs{ResourceName: name, ResourceGroupName: group}, p.provider)
	if missing(err) { // the next refresh tells
		return nil
	}
	if err != nil {
		return fmt.Errorf("find out the numbers of nodes of cluster %s in resource group %s: %w; allow Microsoft.ContainerService/managedClusters/read to the credentials", name, group, err)
	}
	for _, has := range found.AgentPoolProfiles {
		for i := range pools {
			if pools[i].Name == has.Name {
				pools[i].Live = has.Count
			}
		}
	}
	return nil
}
