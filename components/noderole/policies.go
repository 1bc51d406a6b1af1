package noderole

import "tombolo/components/identity"

// PolicyARNs are the managed policies that the role of a cluster's nodes needs
// in a partition of AWS. cniHasRole says that the CNI has a role of its own:
// where it has none, it changes network interfaces with the rights of its node.
func PolicyARNs(partition string, cniHasRole bool) []string {
	names := []string{"AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly"}
	if !cniHasRole {
		names = append(names, "AmazonEKS_CNI_Policy")
	}
	return identity.ManagedPolicyARNs(partition, names...)
}
