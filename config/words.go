package config

// This file declares, for every key of the cluster file, what a change of it does to a
// cluster that lives. Where that is something else in Azure, effects_azure.go declares it.
// TestEffects fails for a key that is missing, and the test of the lab holds what is
// declared to the engine's plan.
//
// What AWS can change, and what it refuses, is said by:
//   - the provider: internal/service/eks/cluster.go and node_group.go of
//     hashicorp/terraform-provider-aws, whose ForceNew are replacements. A control
//     plane is replaced for name, role, service block and when encryption is turned
//     off; a node group for subnets, instance types, capacity, AMI type and role.
//   - UpdateClusterConfig in the EKS API: the subnets stay in the VPC of the creation
//     (https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateClusterConfig.html),
//     and in its zones
//     (https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html).
//   - AssociateEncryptionConfig: encryption can be turned on, never off, and its key
//     stays (https://docs.aws.amazon.com/eks/latest/userguide/enable-kms.html).
//   - the update of a cluster: one minor version at a time
//     (https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html), and back
//     by one within seven days
//     (https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html).
//   - a VPC's block and a subnet's cannot be changed once they are made
//     (https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html).
//   - UpdateNodegroupVersion: a new version of the launch template rolls the nodes
//     (https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html).

const (
	rollsWords    = "the launch template gets a new version, and EKS rolls the nodes of every group"
	egressWords   = rollsWords + "; the engine is installed anew with it, and once Git has its own files, Git decides"
	templateWords = "the launch template gets a new version, and EKS rolls the nodes of the group"
	assumedWords  = "the role is assumed so from now on; nothing in the cluster changes, and the creator's access entry stays"
	gitWords      = "the engine's source in the cluster changes"
	providerWords = "EKS takes the provider from the control plane and gives it anew, each within half an hour: until then its tokens are refused"
	argocdWords   = "Argo CD's settings change, and its server reads them"
	readWords     = "the value is read from there; the ConfigMap changes with it, and the engine follows it"
	valuesWords   = "the ConfigMap of the values changes, and the engine follows it"
)

// externalHubRemedy is the way from a hub that others run to another one.
const externalHubRemedy = "take the old hub back, and move in two steps: `tombolo destroy <cluster> --only bootstrap` with the old file, then `tombolo up` with the new one; core stays"
