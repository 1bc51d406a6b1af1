package infraconfig

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// Facts are the values that the infrastructure hands to the GitOps tree.
type Facts struct {
	ClusterName, Environment, Cloud, Region, AccountID, Partition pulumi.StringInput
	ClusterARN, ClusterEndpoint, ClusterVersion                   pulumi.StringInput
	OIDCIssuer, OIDCProviderARN                                   pulumi.StringInput
	VPCID, VPCCIDR                                                pulumi.StringInput
	PrivateSubnetIDs, PublicSubnetIDs                             pulumi.StringArrayInput
	ClusterSecurityGroupID, NodeRoleARN                           pulumi.StringInput
	GitOpsPath                                                    pulumi.StringInput
}

// Key is one key of the general ConfigMap.
type Key struct {
	// Name of the key, also the name of the variable ${name} in manifests.
	Name string
	// Description for the reference.
	Description string
	// Example of a value.
	Example string

	value func(Facts) pulumi.StringInput
}

// Keys lists the keys of the general ConfigMap in the order of the reference.
func Keys() []Key {
	return []Key{
		{"cluster_name", "Name of the cluster, as in its file.", "demo", func(f Facts) pulumi.StringInput { return f.ClusterName }},
		{"environment", "Environment that the cluster belongs to.", "dev", func(f Facts) pulumi.StringInput { return f.Environment }},
		{"cloud", "Provider of the cloud.", "aws", func(f Facts) pulumi.StringInput { return f.Cloud }},
		{"region", "Region of the cluster.", "eu-central-1", func(f Facts) pulumi.StringInput { return f.Region }},
		{"account_id", "Account of the cluster.", "111122223333", func(f Facts) pulumi.StringInput { return f.AccountID }},
		{"partition", "AWS partition, the second part of an ARN.", "aws", func(f Facts) pulumi.StringInput { return f.Partition }},
		{"cluster_arn", "ARN of the cluster.", "arn:aws:eks:eu-central-1:111122223333:cluster/demo", func(f Facts) pulumi.StringInput { return f.ClusterARN }},
		{"cluster_endpoint", "URL of the Kubernetes API.", "https://0123456789ABCDEF.gr7.eu-central-1.eks.amazonaws.com", func(f Facts) pulumi.StringInput { return f.ClusterEndpoint }},
		{"cluster_version", "Version of Kubernetes, major.minor.", "1.35", func(f Facts) pulumi.StringInput { return f.ClusterVersion }},
		{"oidc_issuer", "URL of the issuer of service account tokens.", "https://oidc.eks.eu-central-1.amazonaws.com/id/0123456789ABCDEF", func(f Facts) pulumi.StringInput { return f.OIDCIssuer }},
		{"oidc_provider_arn", "ARN of the IAM OIDC provider for that issuer.", "arn:aws:iam::111122223333:oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/0123456789ABCDEF", func(f Facts) pulumi.StringInput { return f.OIDCProviderARN }},
		{"vpc_id", "Id of the VPC.", "vpc-0123456789abcdef0", func(f Facts) pulumi.StringInput { return f.VPCID }},
		{"vpc_cidr", "IPv4 block of the VPC.", "10.0.0.0/16", func(f Facts) pulumi.StringInput { return f.VPCCIDR }},
		{"private_subnet_ids", "Ids of the private subnets, separated by commas.", "subnet-0aaa,subnet-0bbb", func(f Facts) pulumi.StringInput { return joined(f.PrivateSubnetIDs) }},
		{"public_subnet_ids", "Ids of the public subnets, separated by commas; empty when there are none.", "subnet-0ccc,subnet-0ddd", func(f Facts) pulumi.StringInput { return joined(f.PublicSubnetIDs) }},
		{"cluster_security_group_id", "Id of the security group that EKS made for control plane and nodes.", "sg-0123456789abcdef0", func(f Facts) pulumi.StringInput { return f.ClusterSecurityGroupID }},
		{"node_role_arn", "ARN of the IAM role of the nodes.", "arn:aws:iam::111122223333:role/demo-node", func(f Facts) pulumi.StringInput { return f.NodeRoleARN }},
		{"gitops_path", "Path in the repository that the engine follows, without a leading ./.", "clusters/demo", func(f Facts) pulumi.StringInput { return f.GitOpsPath }},
	}
}

func joined(ids pulumi.StringArrayInput) pulumi.StringInput {
	return ids.ToStringArrayOutput().ApplyT(func(ids []string) string { return strings.Join(ids, ",") }).(pulumi.StringOutput)
}
