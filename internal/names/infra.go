package names

import "os"

// Key is a key of the general ConfigMap that every cluster has.
type Key struct {
	// Name of the key, also of the variable ${name} in manifests.
	Name string
	// Description for the reference.
	Description string
	// Example of a value. ${key} in it is the example of another key.
	Example string
}

// infraKeys are the catalogue. stacks/bootstrap gives each its value.
var infraKeys = []Key{
	{"cluster_name", "Name of the cluster, as in its file.", "demo"},
	{OwnerKey, "Identity of the cluster, which no other of the same name has: the tag `tombolo:owner`.", "q5zk3v7wd2m6xk4htrj8cbn3ya"},
	{"environment", "Environment that the cluster belongs to.", "dev"},
	{"cloud", "Provider of the cloud.", "aws"},
	{"region", "Region of the cluster.", "eu-central-1"},
	{"account_id", "Account of the cluster.", "111122223333"},
	{"partition", "AWS partition, the second part of an ARN.", "aws"},
	{"cluster_arn", "ARN of the cluster.", "arn:aws:eks:${region}:${account_id}:cluster/${cluster_name}"},
	{"cluster_endpoint", "URL of the Kubernetes API.", "https://0123456789ABCDEF.gr7.${region}.eks.amazonaws.com"},
	{"cluster_version", "Version of Kubernetes, major.minor.", "1.35"},
	{"oidc_issuer", "URL of the issuer of service account tokens.", "https://oidc.eks.${region}.amazonaws.com/id/0123456789ABCDEF"},
	{"oidc_provider_arn", "ARN of the IAM OIDC provider for that issuer.", "arn:aws:iam::${account_id}:oidc-provider/oidc.eks.${region}.amazonaws.com/id/0123456789ABCDEF"},
	{"vpc_id", "Id of the VPC.", "vpc-0123456789abcdef0"},
	{"vpc_cidr", "IPv4 block of the VPC.", "10.0.0.0/16"},
	{"private_subnet_ids", "Ids of the private subnets, separated by commas.", "subnet-0aaa,subnet-0bbb"},
	{"public_subnet_ids", "Ids of the public subnets, separated by commas; empty when there are none.", "subnet-0ccc,subnet-0ddd"},
	{"cluster_security_group_id", "Id of the security group that EKS made for control plane and nodes.", "sg-0123456789abcdef0"},
	{"node_role_arn", "ARN of the IAM role of the nodes.", "arn:aws:iam::${account_id}:role/${cluster_name}-node"},
	{"gitops_path", "Path in the repository that the engine follows, without a leading ./.", "clusters/${cluster_name}"},
}

// InfraKeys are the keys of the general ConfigMap that every cluster has, in the
// order of the reference. What a value of each is like, values tells by key
// where the caller knows more than the catalogue; nil for an example cluster.
func InfraKeys(values map[string]string) []Key {
	known := map[string]string{}
	keys := make([]Key, len(infraKeys))
	for i, k := range infraKeys {
		if value, ok := values[k.Name]; ok {
			k.Example = value
		} else {
			k.Example = os.Expand(k.Example, func(key string) string { return known[key] })
		}
		known[k.Name], keys[i] = k.Example, k
	}
	return keys
}

// InfraKeyNames are the names of InfraKeys.
func InfraKeyNames() []string {
	names := make([]string, len(infraKeys))
	for i, k := range infraKeys {
		names[i] = k.Name
	}
	return names
}
