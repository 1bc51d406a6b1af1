package eks

import (
	awseks "github.com/pulumi/pulumi-aws/sdk/v6/go/aws/eks"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// ownAddons says that EKS puts addons into a cluster that it makes. EKS refuses Auto Mode
// with them, and the argument forces a replacement of a live cluster.
const ownAddons = "bootstrapSelfManagedAddons"

// builtInPools are the node pools that EKS Auto Mode has by itself. The nodes of system are
// for what tolerates CriticalAddonsOnly:
// https://docs.aws.amazon.com/eks/latest/userguide/set-builtin-node-pools.html
var builtInPools = []string{"general-purpose", "system"}

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
		Enabled: pulumi.Bool(true), NodePools: pulumi.ToStringArray(builtInPools), NodeRoleArn: b.nodeRoleARN,
	}
	props["storageConfig"] = awseks.ClusterStorageConfigArgs{
		BlockStorage: awseks.ClusterStorageConfigBlockStorageArgs{Enabled: pulumi.Bool(true)},
	}
	props[ownAddons] = pulumi.Bool(false)
}
