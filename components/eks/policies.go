package eks

import (
	"tombolo/components/identity"
	"tombolo/components/noderole"
)

// ClusterPolicyARNs are AWS's policies of the control plane's role, in a partition of AWS. For
// Auto Mode: https://docs.aws.amazon.com/eks/latest/userguide/auto-cluster-iam-role.html
func ClusterPolicyARNs(partition string, autoMode bool) []string {
	names := []string{"AmazonEKSClusterPolicy"}
	if autoMode {
		names = append(names, "AmazonEKSComputePolicy", "AmazonEKSBlockStoragePolicy", "AmazonEKSLoadBalancingPolicy", "AmazonEKSNetworkingPolicy")
	}
	return identity.ManagedPolicyARNs(partition, names...)
}

// NodePolicyARNs are those of the nodes' role. Nodes of Auto Mode pull images and no more:
// https://docs.aws.amazon.com/eks/latest/userguide/auto-create-node-role.html
// cniHasRole says that the CNI is a managed addon, which has a role of its own.
func NodePolicyARNs(partition string, autoMode, cniHasRole bool) []string {
	if autoMode {
		return identity.ManagedPolicyARNs(partition, "AmazonEKSWorkerNodeMinimalPolicy", "AmazonEC2ContainerRegistryPullOnly")
	}
	return noderole.PolicyARNs(partition, cniHasRole)
}
