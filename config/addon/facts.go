package addon

import (
	"cmp"
	"strings"

	"tombolo/internal/userdata"
)

// Facts about a cluster, from its file. Names and ARNs are made only from them,
// so that policies are known before anything exists.
type Facts struct {
	// Cluster is its name, Environment the one it belongs to.
	Cluster, Environment string
	// InCloud is the name of the managed cluster in its cloud, by which controllers tag
	// what they make; "" is Cluster.
	InCloud string
	// Provider is the cloud it is in, such as aws or azure; "" is aws.
	Provider string
	// Region, Account and Partition it is in; only AWS has partitions.
	Region, Account, Partition string
	// Tenant of the subscription, and ResourceGroup of what core makes, on Azure.
	Tenant, ResourceGroup string
	// NetworkAccount is the account that owns the VPC; "" is Account.
	NetworkAccount string
	// OwnNetwork says that core makes the network; an existing one is not
	// changed, not even by tags.
	OwnNetwork bool
	// Tags of the cluster's resources: those of the file, and Tombolo's own.
	Tags map[string]string
	// Enabled are the names of the addons that are turned on.
	Enabled []string
	// Egress of nodes that addons make.
	Egress userdata.Egress
	// GivenRoles are ARNs of roles that others made for addons, by name; see
	// config.Cluster.AddonRoles.
	GivenRoles map[string]string
	// Channel is the type of the channel in which the platform team hears of what fails; ""
	// without one. Its address is in the Secret names.ChannelSecret.
	Channel string
	// IssuerURL and ClientID are of the identity provider whose tokens the Kubernetes API
	// takes; "" without one.
	IssuerURL, ClientID string
	// RolePath of the IAM roles and instance profiles that core makes; "" stands for /.
	RolePath string
}

// inPath is the name of a role or an instance profile with its path, as ARNs have it.
func (f Facts) inPath(name string) string { return strings.TrimPrefix(f.RolePath, "/") + name }

// roleARN is the ARN of a role of an addon: the one that others made under the key, or core's
// of a name.
func (f Facts) roleARN(key, name string) string {
	return cmp.Or(f.GivenRoles[key], f.AccountARN("iam", "role/"+f.inPath(name)))
}

// ARN of something in the cluster's region and account.
func (f Facts) ARN(service, resource string) string {
	return strings.Join([]string{"arn", f.Partition, service, f.Region, f.Account, resource}, ":")
}

// AccountARN is the ARN of something without a region, such as an IAM role.
func (f Facts) AccountARN(service, resource string) string {
	return strings.Join([]string{"arn", f.Partition, service, "", f.Account, resource}, ":")
}

// GlobalARN is the ARN of something that names neither region nor account, such
// as a bucket or a hosted zone.
func (f Facts) GlobalARN(service, resource string) string {
	return strings.Join([]string{"arn", f.Partition, service, "", "", resource}, ":")
}

// RegionARN is the ARN of something that belongs to AWS in the region, such as
// a public image.
func (f Facts) RegionARN(service, resource string) string {
	return strings.Join([]string{"arn", f.Partition, service, f.Region, "", resource}, ":")
}

// NameInCloud is the name of the managed cluster in its cloud.
func (f Facts) NameInCloud() string { return cmp.Or(f.InCloud, f.Cluster) }

// ClusterARN is the ARN of the cluster.
func (f Facts) ClusterARN() string { return f.ARN("eks", "cluster/"+f.NameInCloud()) }

// Named is the name of something of the cluster's: <cluster>-<name>.
func (f Facts) Named(name string) string { return f.Cluster + "-" + name }

// ClusterTag is the key of the tag that AWS's own controllers know a cluster's
// resources by; its value is owned.
func (f Facts) ClusterTag() string { return "kubernetes.io/cluster/" + f.NameInCloud() }

// tagsBut are the tags without those that something cannot have, as a chart's values.
func (f Facts) tagsBut(cannot func(key, value string) bool) map[string]any {
	out := map[string]any{}
	for key, value := range f.Tags {
		if !cannot(key, value) {
			out[key] = value
		}
	}
	return out
}

// equalsInKey says that a tag cannot be given to a controller as key=value. Sources: the
// template convertMapToCsv of the chart aws-load-balancer-controller, and extra-volume-tags of
// the chart aws-ebs-csi-driver.
func equalsInKey(key, _ string) bool { return strings.Contains(key, "=") }

// colonOrSpace says that a tag cannot be given to the EFS driver, which takes key:value with
// spaces between them: https://github.com/kubernetes-sigs/aws-efs-csi-driver/issues/1374
func colonOrSpace(key, value string) bool { return strings.ContainsAny(key+value, ": ") || value == "" }

// Outputs is known when core has made an addon's needs.
type Outputs struct {
	// VPCID and the ids of the private subnets that the nodes are in.
	VPCID            string
	PrivateSubnetIDs []string
	// ClusterEndpoint is the URL of the Kubernetes API, ClusterSecurityGroupID
	// the group of control plane and nodes.
	ClusterEndpoint, ClusterSecurityGroupID string
	// Certificate is the ARN of the certificate of the addon certificate; "" without it.
	Certificate string
	// Made are the outputs of the addon's own needs, by the names below.
	Made map[string]string
}

// The outputs of needs. A second identity's is <identity>_role_arn, or on Azure
// <identity>_client_id.
const (
	RoleARN         = "role_arn"
	ClientID        = "client_id"
	InstanceProfile = "instance_profile"
	QueueName       = "queue_name"
	CertificateARN  = "certificate_arn"
	BucketName      = "bucket_name"
	FileSystemID    = "file_system_id"
	VaultURL        = "vault_url"
	AccountName     = "account_name"
	ContainerName   = "container_name"
)

// RoleOutput is the name of the output with an identity's role.
func RoleOutput(identity string) string { return outputOf(identity, RoleARN) }

// ClientOutput is the name of the output with an identity's client id.
func ClientOutput(identity string) string { return outputOf(identity, ClientID) }

func outputOf(identity, output string) string {
	if identity == "" {
		return output
	}
	return strings.ReplaceAll(identity, "-", "_") + "_" + output
}

// serviceAccount is the values of a service account that the chart makes, with
// the role it may assume.
func serviceAccount(name, roleARN string) map[string]any {
	return map[string]any{
		"create": true, "name": name,
		"annotations": map[string]any{"eks.amazonaws.com/role-arn": roleARN},
	}
}
