package azure

import (
	"cmp"
	"fmt"
	"slices"

	containerservice "github.com/pulumi/pulumi-azure-native-sdk/containerservice/v2/v20240901"

	"tombolo/components/aks"
	"tombolo/config"
	"tombolo/internal/kubeversion"
	"tombolo/stacks/core/live"
)

// made is what the state of the own stack says that earlier runs made.
type made struct{ live.Resources }

// keepLive leaves what AKS decides on a live cluster to AKS: each update has to say again what
// is there. The state tells of versions; Azure is asked when this up may change something of
// the cluster or its pools. Else the numbers of nodes in the state stay, and an autoscaler's
// work is no change.
func (p *program) keepLive(args *aks.ClusterArgs) error {
	cluster, lives := p.had.First(clusterToken)
	if !lives {
		return nil
	}
	args.HadSecretsKey = len(encryption(cluster.Outputs)) > 0
	found := Live(p.c, p.had.Resources)
	p.keepVersions(args, kubeversion.Minor(cluster.Outputs.Text("kubernetesVersion")), found.NodeVersion)
	if len(config.Compare(found, p.c)) == 0 {
		return nil
	}
	name, group := cluster.Outputs.Text("name"), p.c.Cloud.ResourceGroup
	asked, err := containerservice.LookupManagedCluster(p.ctx, &containerservice.LookupManagedClusterArgs{ResourceName: name, ResourceGroupName: group}, p.provider)
	if missing(err) { // the next refresh tells
		return nil
	}
	if err != nil {
		return fmt.Errorf("find out the versions and the numbers of nodes of cluster %s in resource group %s: %w; allow Microsoft.ContainerService/managedClusters/read to the credentials", name, group, err)
	}
	p.keepPools(args, asked, found.Cluster.Kubernetes.NodeGroups)
	return nil
}

// keepPools says of each pool how many nodes its autoscaler has given it, which versions AKS has
// upgraded to by itself, and whether nodes are to have another one. The state had groups.
func (p *program) keepPools(args *aks.ClusterArgs, cluster *containerservice.LookupManagedClusterResult, groups []config.NodeGroup) {
	var oldest string
	for _, has := range cluster.AgentPoolProfiles {
		if i := slices.IndexFunc(args.Pools, func(pool aks.NodePool) bool { return pool.Name == has.Name }); i >= 0 {
			args.Pools[i].Live = has.Count
		} else if i := slices.IndexFunc(groups, func(g config.NodeGroup) bool { return g.Name == has.Name }); i >= 0 {
			args.Leaving = append(args.Leaving, leaving(groups[i], has.Count))
		}
		if version := kubeversion.Minor(has.CurrentOrchestratorVersion); version != "" && (oldest == "" || config.CompareMinors(version, oldest) < 0) {
			oldest = version
		}
	}
	p.keepVersions(args, kubeversion.Minor(cluster.CurrentKubernetesVersion), oldest)
	args.MovesNodes = oldest != "" && config.CompareMinors(oldest, cmp.Or(args.NodeVersion, args.Version)) < 0
}

// leaving is a pool that lives and that the file no longer has.
func leaving(g config.NodeGroup, count *int) aks.NodePool {
	g.Size.Desired = g.Size.Min
	pool := nodePool(g)
	pool.Live = count
	return pool
}

// keepVersions takes newer versions than the file's, where AKS upgrades to them by itself: it
// goes back to none.
func (p *program) keepVersions(args *aks.ClusterArgs, cluster, nodes string) {
	if !followsAKS(p.c) {
		return
	}
	args.Version, args.NodeVersion = newer(args.Version, cluster), newer(cmp.Or(args.NodeVersion, args.Version), nodes)
}

// followsAKS says that AKS changes minor versions by itself.
func followsAKS(c *config.Cluster) bool {
	return slices.Contains([]config.UpgradeChannel{config.StableUpgrades, config.RapidUpgrades}, c.Kubernetes.Upgrades.Kubernetes)
}

// newer is the newer of two minor versions, of which the second may be "".
func newer(a, b string) string {
	if config.CompareMinors(b, a) > 0 {
		return b
	}
	return a
}
