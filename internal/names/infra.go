package names

import "os"

// Key is a key of the general ConfigMap that every cluster of a cloud has.
type Key struct {
	// Name of the key, also of the variable ${name} in manifests.
	Name string
	// Description for the reference.
	Description string
	// Example of a value on the cloud.
	Example string
}

// The clouds that have keys, by the names of their providers.
const (
	AWSCloud   = "aws"
	AzureCloud = "azure"
)

// entry is a key of the catalogue, with an example for each cloud whose clusters have it. An
// example with ${key} has the example of another key in its place.
type entry struct {
	name, description string
	aws, azure        string
}

// subscription begins the example of an id in Azure's Resource Manager.
const subscription = "/subscriptions/${account_id}/resourceGroups/"

// catalogue are the keys of all clouds. stacks/bootstrap gives each its value.
var catalogue = []entry{
	{"cluster_name", "Name of the cluster, as in its file.", "demo", "demo"},
	{OwnerKey, "Identity of the cluster, which no other of the same name has: the tag `tombolo:owner`.", "q5zk3v7wd2m6xk4htrj8cbn3ya", "q5zk3v7wd2m6xk4htrj8cbn3ya"},
	{"environment", "Environment that the cluster belongs to.", "dev", "dev"},
	{"cloud", "Provider of the cloud.", AWSCloud, AzureCloud},
	{"region", "Region of the cluster.", "eu-central-1", "germanywestcentral"},
	{"account_id", "Account of the cluster; on Azure its subscription.", "111122223333", "00000000-0000-4000-8000-000000000001"},
	{"tenant_id", "Tenant of Entra of the subscription.", "", "00000000-0000-4000-8000-00000000000a"},
	{"partition", "AWS partition, the second part of an ARN.", "aws", ""},
	{"resource_group", "Resource group of what core makes.", "", "${cluster_name}"},
	{"node_resource_group", "Resource group that AKS has made for nodes, disks and load balancers. It goes with the cluster.", "", "${cluster_name}-nodes"},
	{
		"cluster_id", "Id of the cluster in its cloud: the ARN, or the id in Azure's Resource Manager.",
		"arn:aws:eks:${region}:${account_id}:cluster/${cluster_name}", subscription + "${resource_group}/providers/Microsoft.ContainerService/managedClusters/${cluster_name}",
	},
	{"cluster_arn", "ARN of the cluster.", "arn:aws:eks:${region}:${account_id}:cluster/${cluster_name}", ""},
	{"cluster_endpoint", "URL of the Kubernetes API.", "https://0123456789ABCDEF.gr7.${region}.eks.amazonaws.com", "https://${cluster_name}-0a1b2c3d.hcp.${region}.azmk8s.io:443"},
	{"cluster_version", "Version of Kubernetes, major.minor.", "1.35", "1.35"},
	{
		"oidc_issuer", "URL of the issuer of service account tokens.",
		"https://oidc.eks.${region}.amazonaws.com/id/0123456789ABCDEF", "https://${region}.oic.prod-aks.azure.com/${tenant_id}/00000000-0000-4000-8000-0000000000c1/",
	},
	{"oidc_provider_arn", "ARN of the IAM OIDC provider for that issuer.", "arn:aws:iam::${account_id}:oidc-provider/oidc.eks.${region}.amazonaws.com/id/0123456789ABCDEF", ""},
	{
		"network_id", "Id of the network in its cloud: of the VPC, or of the VNet in Azure's Resource Manager.",
		"vpc-0123456789abcdef0", subscription + "${resource_group}/providers/Microsoft.Network/virtualNetworks/${cluster_name}",
	},
	{"vpc_id", "Id of the VPC.", "vpc-0123456789abcdef0", ""},
	{"vpc_cidr", "IPv4 block of the VPC.", "10.0.0.0/16", ""},
	{"vnet_id", "Id of the VNet.", "", "${network_id}"},
	{"vnet_cidr", "IPv4 blocks of the VNet, separated by commas.", "", "10.0.0.0/16"},
	{"private_subnet_ids", "Ids of the private subnets, separated by commas.", "subnet-0aaa,subnet-0bbb", ""},
	{"public_subnet_ids", "Ids of the public subnets, separated by commas; empty when there are none.", "subnet-0ccc,subnet-0ddd", ""},
	{"node_subnet_id", "Id of the subnet of the nodes.", "", "${network_id}/subnets/${cluster_name}-nodes"},
	{"cluster_security_group_id", "Id of the security group that EKS made for control plane and nodes.", "sg-0123456789abcdef0", ""},
	{"node_role_arn", "ARN of the IAM role of the nodes.", "arn:aws:iam::${account_id}:role/${cluster_name}-node", ""},
	{"kubelet_client_id", "Client id of the identity by which nodes pull images.", "", "00000000-0000-4000-8000-0000000000b1"},
	{"gitops_path", "Path in the repository that the engine follows, without a leading ./.", "clusters/${cluster_name}", "clusters/${cluster_name}"},
}

// example on a cloud; "" when its clusters do not have the key.
func (e entry) example(cloud string) string {
	return map[string]string{AWSCloud: e.aws, AzureCloud: e.azure}[cloud]
}

// InfraKeys are the keys of the general ConfigMap that every cluster of a cloud has, in the
// order of the reference. What a value of each is like, values tells by key
// where the caller knows more than the catalogue; nil for an example cluster.
func InfraKeys(cloud string, values map[string]string) []Key {
	known := map[string]string{}
	var keys []Key
	for _, e := range catalogue {
		if e.example(cloud) == "" {
			continue
		}
		value, ok := values[e.name]
		if !ok {
			value = os.Expand(e.example(cloud), func(key string) string { return known[key] })
		}
		known[e.name] = value
		keys = append(keys, Key{e.name, e.description, value})
	}
	return keys
}

// InfraKeyNames are the names of InfraKeys.
func InfraKeyNames(cloud string) []string {
	var names []string
	for _, k := range InfraKeys(cloud, nil) {
		names = append(names, k.Name)
	}
	return names
}

// InfraKeyClouds are the clouds whose clusters have a key; none for one that Tombolo does not
// publish.
func InfraKeyClouds(name string) []string {
	var clouds []string
	for _, e := range catalogue {
		for _, cloud := range []string{AWSCloud, AzureCloud} {
			if e.name == name && e.example(cloud) != "" {
				clouds = append(clouds, cloud)
			}
		}
	}
	return clouds
}
