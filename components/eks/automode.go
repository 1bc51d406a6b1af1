package eks

import (
	awseks "github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/identity"
)

// ownAddons says that EKS puts addons into a cluster that it makes. EKS refuses Auto Mode
// with them, and the argument forces a replacement of a live cluster.
const ownAddons = "bootstrapSelfManagedAddons"

// builtInPools are the node pools that EKS Auto Mode has by itself. The nodes of system are
// for what tolerates CriticalAddonsOnly:
// https://docs.aws.amazon.com/eks/latest/userguide/set-builtin-node-pools.html
var builtInPools = []string{"general-purpose", "system"}

// clusterPolicyARNs are AWS's policies of the control plane's role. For Auto Mode:
// https://docs.aws.amazon.com/eks/latest/userguide/auto-cluster-iam-role.html
func (b *builder) clusterPolicyARNs() []string {
	names := []string{"AmazonEKSClusterPolicy"}
	if b.args.AutoMode {
		names = append(names, "AmazonEKSComputePolicy", "AmazonEKSBlockStoragePolicy", "AmazonEKSLoadBalancingPolicy", "AmazonEKSNetworkingPolicy")
	}
	return b.managed(names...)
}

// autoNodePolicyARNs are those of the nodes of Auto Mode, which pull images and no more:
// https://docs.aws.amazon.com/eks/latest/userguide/auto-create-node-role.html
func (b *builder) autoNodePolicyARNs() []string {
	return b.managed("AmazonEKSWorkerNodeMinimalPolicy", "AmazonEC2ContainerRegistryPullOnly")
}

func (b *builder) managed(names ...string) []string {
	var arns []string
	for _, name := range names {
		arns = append(arns, identity.ManagedPolicyARN(b.args.Partition, name))
	}
	return arns
}

// autoMode sets on the control plane what turns EKS Auto Mode on: compute, load balancing and
// block storage, of which EKS takes all or none.
func (b *builder) autoMode(props pulumi.Map) {
	network := awseks.ClusterKubernetesNetworkConfigArgs{
		ElasticLoadBalancing: awseks.ClusterKubernetesNetworkConfigElasticLoadBalancingArgs{Enabled: pulumi.Bool(true)},
	}
	if b.args.ServiceCIDR != "" {
		network.ServiceIpv4Cidr = pulumi.String(b.args.ServiceCIDR)
	}
	props["kubernetesNetworkConfig"] = network
	props["computeConfig"] = awseks.ClusterComputeConfigArgs{
		Enabled: pulumi.Bool(true), NodePools: pulumi.ToStringArray(builtInPools), NodeRoleArn: b.nodeRole.Arn,
	}
	props["storageConfig"] = awseks.ClusterStorageConfigArgs{
		BlockStorage: awseks.ClusterStorageConfigBlockStorageArgs{Enabled: pulumi.Bool(true)},
	}
	props[ownAddons] = pulumi.Bool(false)
}
