// Package config reads cluster files: one YAML file describes one cluster, and
// both of its stacks, core and bootstrap, read the same file.
//
// Load decodes strictly, fills in defaults and validates; it reports all
// problems of a file together, each with its line and column. The package
// imports nothing else of Tombolo.
package config

import (
	"cmp"

	"tombolo/config/addon"
	"tombolo/config/strict"
)

// Version is the version of the cluster file's format that this package reads.
const Version = 1

// Cluster is a cluster file, which describes one cluster.
type Cluster struct {
	// Version of the format: 1.
	Version int `yaml:"version"`
	// Name of the cluster, a DNS label. It names the stacks (<name>-core,
	// <name>-bootstrap) and starts the name of everything made for the
	// cluster.
	Name string `yaml:"name"`
	// Environment that the cluster belongs to, such as dev or prod, a DNS label.
	Environment string `yaml:"environment"`
	// Wave of the cluster in an operation on several clusters. Lower waves go
	// first; in a wave, a hub goes before its spokes. A spoke without a wave has
	// its hub's. Default 0.
	Wave int `yaml:"wave,omitempty"`
	// Protect prevents a destruction by mistake: tombolo destroy asks for the
	// cluster's name, and plain pulumi destroy refuses to delete the network and
	// the control plane. Default false.
	Protect bool `yaml:"protect,omitempty"`
	// ChangeWindows are the times of the week in which tombolo changes the cluster; in others
	// it refuses to. Default: at any time.
	ChangeWindows []ChangeWindow `yaml:"changeWindows,omitempty"`
	// Drift says what becomes of what others change in the cloud or on the cluster.
	Drift DriftPolicy `yaml:"drift,omitempty"`
	// Cloud, region and account of the cluster.
	Cloud Cloud `yaml:"cloud"`
	// Tags of every cloud resource. Tombolo sets the keys tombolo:cluster and
	// tombolo:environment itself.
	Tags map[string]string `yaml:"tags,omitempty"`
	// Network of the cluster: one that core makes, or an existing one. Required, but with
	// kubernetes.existing: core then reads the network from the cluster.
	Network Network `yaml:"network,omitempty"`
	// Kubernetes holds the managed control plane and its nodes.
	Kubernetes Kubernetes `yaml:"kubernetes"`
	// Egress is how the cluster reaches what is outside of its network. Default: directly.
	Egress Egress `yaml:"egress,omitempty"`
	// Namespaces that bootstrap creates before the engine starts.
	Namespaces []Namespace `yaml:"namespaces,omitempty"`
	// Addons of the catalogue that are turned on, by name, with their options.
	// Each gets its namespace, what it needs from the cloud, and a ConfigMap
	// <name>-values of Helm values.
	Addons addon.Selection `yaml:"addons,omitempty"`
	// Services that get a cloud identity and a ConfigMap of Helm values.
	Services []Service `yaml:"services,omitempty"`
	// GitOps is the engine and the repository it follows.
	GitOps GitOps `yaml:"gitops"`
	// Labels that describe the cluster to people and generators. They are
	// Kubernetes labels.
	Labels map[string]string `yaml:"labels,omitempty"`
	// Annotations that describe the cluster with values that labels cannot hold.
	Annotations map[string]string `yaml:"annotations,omitempty"`
	// Values are extra keys of the infra ConfigMap, for ${key} in manifests. A key may
	// have a value of another stack or of Parameter Store.
	Values map[string]Value `yaml:"values,omitempty"`

	// File is the path the cluster was loaded from.
	File string `yaml:"-"`
	// Warnings are what is right in the file and will not stay so.
	Warnings strict.Problems `yaml:"-"`
	// RollBack lets Kubernetes go back to the minor before, which an up otherwise refuses.
	RollBack bool `yaml:"-"`
	// Rebuild is the record of the rebuild under way, which core keeps among its outputs
	// until the cluster is there again; "" without one.
	Rebuild string `yaml:"-"`
	// Account is the account that this stands for; nil for a cluster.
	Account *Account `yaml:"-"`
}

// Provider is a cloud. A field with the tag cloud has a key in the files for that cloud only.
type Provider string

// The clouds of version 1.
const (
	AWS   Provider = "aws"
	Azure Provider = "azure"
)

// Cloud says where the cluster is.
type Cloud struct {
	// Provider of the cloud: aws, or in a cluster file azure. It decides which keys the file
	// may have.
	Provider Provider `yaml:"provider"`
	// Region, such as eu-central-1 on AWS, or germanywestcentral on Azure.
	Region string `yaml:"region"`
	// Account is the only account that may be changed: 12 digits on AWS, the id of a
	// subscription on Azure. Credentials of another account are refused before anything is
	// made.
	Account string `yaml:"account"`
	// Tenant is the only tenant of Entra that credentials may be of, by its id.
	Tenant string `yaml:"tenant" cloud:"azure"`
	// ResourceGroup that core makes, and in which it makes everything else. Default: the
	// name of the cluster.
	ResourceGroup string `yaml:"resourceGroup,omitempty" cloud:"azure"`
	// Profile is the name of the AWS profile to use. Default: the credentials
	// of the environment.
	Profile string `yaml:"profile,omitempty" cloud:"aws"`
	// AssumeRole is the role in the account that is assumed for all that is done in it, with
	// the credentials of profile or of the environment. The state is read and written
	// without it. Default: none.
	AssumeRole *AssumeRole `yaml:"assumeRole,omitempty" cloud:"aws"`
	// Roles says how the IAM roles are made that Tombolo makes in the account.
	Roles Roles `yaml:"roles,omitempty" cloud:"aws"`
}

// NAT says how private subnets reach the internet.
type NAT string

// The kinds of NAT.
const (
	// NATNone makes no NAT gateway: nodes reach only what endpoints offer.
	NATNone NAT = "none"
	// NATSingle makes one gateway for all zones. It costs least, and fails with
	// its zone.
	NATSingle NAT = "single"
	// NATPerZone makes one gateway in each zone.
	NATPerZone NAT = "per-zone"
)

// Network is either made by core (CIDR, Zones, NAT, Endpoints) or Existing.
type Network struct {
	// CIDR of the network: a private IPv4 block, on AWS from /16 to /24, where more than
	// three zones need /22, and on Azure from /8 to /24.
	CIDR string `yaml:"cidr,omitempty"`
	// Zones to use, at least two, all of the region, such as eu-central-1a.
	// Their order decides which addresses each gets. The subnets of a live cluster stay
	// where they are; one more zone gets new subnets, for nodes, and the control plane
	// keeps the zones that it was made in.
	Zones []string `yaml:"zones,omitempty" cloud:"aws"`
	// NAT is none, single or per-zone. Default single.
	NAT NAT `yaml:"nat,omitempty" cloud:"aws"`
	// Endpoints are the AWS services reached inside the VPC without NAT, such
	// as s3 or ecr.api. s3 and dynamodb become gateway endpoints, others
	// interface endpoints. Default: s3.
	Endpoints []string `yaml:"endpoints,omitempty" cloud:"aws"`
	// FlowLogs record which addresses talk to which. AWS charges for them by the GiB.
	// Default: none.
	FlowLogs *FlowLogs `yaml:"flowLogs,omitempty" cloud:"aws"`
	// Outbound is how nodes reach what is outside of the network: nat-gateway, which core
	// makes in a network of its own and expects at an existing subnet; load-balancer, AKS's
	// own; or user-defined-routing, by the route table of an existing subnet. Default:
	// nat-gateway in a network that core makes; required with existing.
	Outbound Outbound `yaml:"outbound,omitempty" cloud:"azure"`
	// Existing is a network that others own. Tombolo changes nothing in it.
	Existing *ExistingNetwork `yaml:"existing,omitempty"`
}

// Outbound is a way out of a network in Azure.
type Outbound string

// The ways out.
const (
	OutboundNATGateway   Outbound = "nat-gateway"
	OutboundLoadBalancer Outbound = "load-balancer"
	OutboundRoutes       Outbound = "user-defined-routing"
)

// FlowLogTarget is where flow logs go.
type FlowLogTarget string

// The targets of flow logs.
const (
	// FlowLogsToCloudWatch is a log group that core makes.
	FlowLogsToCloudWatch FlowLogTarget = "cloudwatch"
	// FlowLogsToS3 is a bucket that others own.
	FlowLogsToS3 FlowLogTarget = "s3"
)

// FlowTraffic is the traffic that flow logs record.
type FlowTraffic string

// The kinds of traffic: all, or what security groups and network ACLs let through, or what
// they refuse.
const (
	AllTraffic      FlowTraffic = "all"
	AcceptedTraffic FlowTraffic = "accept"
	RejectedTraffic FlowTraffic = "reject"
)

// FlowLogs are the VPC flow logs of a network that core makes.
type FlowLogs struct {
	// To is cloudwatch, a log group that core makes, or s3, a bucket that others own.
	To FlowLogTarget `yaml:"to"`
	// BucketARN of the bucket, with a folder or without. Its policy has to let AWS's log
	// delivery write. Of a bucket of the caller's own account, AWS writes the policy anew.
	// Required for s3.
	BucketARN string `yaml:"bucketArn,omitempty"`
	// Traffic is all, accept or reject. Default all.
	Traffic FlowTraffic `yaml:"traffic,omitempty"`
	// RetentionDays is how long the log group keeps them, in days. Default 90.
	RetentionDays int `yaml:"retentionDays,omitempty"`
	// KMSKeyARN is the KMS key that CloudWatch encrypts the log group by, of the cluster's
	// region. Its policy has to let CloudWatch use it. Default: a key of CloudWatch's own.
	KMSKeyARN string `yaml:"kmsKeyArn,omitempty"`
}

// ExistingNetwork names a network and subnets that others own.
type ExistingNetwork struct {
	// NodeSubnet is the subnet of the nodes, by its id, also of another subscription of
	// the tenant. The identity of the control plane has to have the right to join it, which
	// core looks for first.
	NodeSubnet string `yaml:"nodeSubnet" cloud:"azure"`
	// GrantAccess lets core give that right itself, by role assignments on the subnet, and
	// on its route table where it has one. Default false: the owner of the network gives it.
	GrantAccess bool `yaml:"grantAccess,omitempty" cloud:"azure"`
	// VPC id, vpc-….
	VPC string `yaml:"vpc" cloud:"aws"`
	// Account that owns the VPC, 12 digits, where it shares the subnets with the cluster's
	// account. Default: cloud.account.
	Account string `yaml:"account,omitempty" cloud:"aws"`
	// PrivateSubnets for nodes and the control plane, at least two, in
	// different zones. The control plane of a live cluster uses those in the zones that
	// it was made in.
	PrivateSubnets []string `yaml:"privateSubnets" cloud:"aws"`
	// ControlPlaneSubnets for the control plane alone, at least two, in different zones.
	// On a live cluster they can be others of the same VPC, in exactly the zones that the
	// control plane was made in. Default: privateSubnets.
	ControlPlaneSubnets []string `yaml:"controlPlaneSubnets,omitempty" cloud:"aws"`
	// PublicSubnets for public load balancers. Default: none.
	PublicSubnets []string `yaml:"publicSubnets,omitempty" cloud:"aws"`
}

// Kubernetes is the managed control plane and its nodes.
type Kubernetes struct {
	// Existing is a cluster that others own. Core makes none then, and no network and
	// nodes; it makes the identities and what addons need, and changes nothing that is
	// there. Of the other keys only admins, previewers and access go with it.
	Existing *ExistingCluster `yaml:"existing,omitempty"`
	// Version of Kubernetes, major.minor, such as "1.35". Required, but with existing.
	Version string `yaml:"version,omitempty"`
	// NodeVersion is the version of the node groups while they are behind the control
	// plane, major.minor; addons without a version are held with them. Default: version.
	// Karpenter's nodes follow the control plane.
	NodeVersion string `yaml:"nodeVersion,omitempty"`
	// ServiceCIDR is the block of the addresses of Services, a private IPv4 block from /12
	// to /24 that overlaps neither the VPC nor a network that pods reach. Default:
	// 172.20.0.0/16, or 10.100.0.0/16 in a VPC of 172.16.0.0/12; in an existing network
	// AWS chooses one of the two; on Azure 172.20.0.0/16, or 10.100.0.0/16 in a network of
	// 172.16.0.0/12.
	ServiceCIDR string `yaml:"serviceCidr,omitempty"`
	// PodCIDR is the block of the addresses of pods, a private IPv4 block that overlaps
	// neither the network nor the Services; each node gets a /24 of it. Default:
	// 10.244.0.0/16.
	PodCIDR string `yaml:"podCidr,omitempty" cloud:"azure"`
	// Endpoint of the Kubernetes API.
	Endpoint Endpoint `yaml:"endpoint,omitempty"`
	// Tier of the control plane: free, without an agreement about its availability, standard,
	// or premium, which support: extended needs. Default standard.
	Tier Tier `yaml:"tier,omitempty" cloud:"azure"`
	// Upgrades are those that AKS does by itself.
	Upgrades Upgrades `yaml:"upgrades,omitempty" cloud:"azure"`
	// NodeResourceGroup that AKS makes for what it makes itself: nodes, disks, load
	// balancers. It goes with the cluster, and what is in it. Default: <name>-nodes.
	NodeResourceGroup string `yaml:"nodeResourceGroup,omitempty" cloud:"azure"`
	// Logs are the control plane's log types sent to CloudWatch: api, audit,
	// authenticator, controllerManager, scheduler. Default: api, audit,
	// authenticator.
	Logs []string `yaml:"logs,omitempty" cloud:"aws"`
	// LogRetentionDays is how long those logs are kept, in days. Default 90.
	LogRetentionDays int `yaml:"logRetentionDays,omitempty" cloud:"aws"`
	// LogKeyARN is the KMS key that CloudWatch encrypts those logs by, of the cluster's
	// region. Its policy has to let CloudWatch Logs use it. Default: a key of CloudWatch's
	// own.
	LogKeyARN string `yaml:"logKeyArn,omitempty" cloud:"aws"`
	// SecretsEncryption of Secrets in etcd by a KMS key.
	SecretsEncryption SecretsEncryption `yaml:"secretsEncryption,omitempty" cloud:"aws"`
	// Support is standard or extended: at the end of the standard support of its version
	// AWS upgrades the cluster, or lets it run on and takes more money. On Azure extended is
	// AKS's long-term support, which needs tier: premium. Default: standard for a cluster
	// that is made, and what it has for a live one; on Azure standard.
	Support Support `yaml:"support,omitempty"`
	// ZonalShift lets AWS, or people, move traffic away from an impaired zone. Default:
	// false for a cluster that is made, and what it has for a live one.
	ZonalShift *bool `yaml:"zonalShift,omitempty" cloud:"aws"`
	// Admins have the rights of cluster-admin: on AWS IAM principals, as access entries,
	// beside the one that makes the cluster; on Azure groups of Entra, at least one, and
	// whoever runs tombolo has to be in one of them.
	Admins []Principal `yaml:"admins,omitempty"`
	// Previewers may preview the cluster's stacks: they read what bootstrap makes, but no
	// Secrets, and write by dry run only. On AWS they are IAM principals, as access entries,
	// on Azure groups of Entra.
	Previewers []Principal `yaml:"previewers,omitempty"`
	// Access is what other IAM principals may do on the cluster, as access entries: by a
	// policy of EKS's, by groups of Kubernetes, or both.
	Access []Access `yaml:"access,omitempty" cloud:"aws"`
	// IdentityProvider signs people in to the Kubernetes API, beside IAM. Default: none.
	IdentityProvider *IdentityProvider `yaml:"identityProvider,omitempty" cloud:"aws"`
	// Compute says who makes the nodes: node-groups, to which the addon karpenter can add,
	// or auto, EKS Auto Mode, which also does the work of the addons for network, DNS, Pod
	// Identity and EBS volumes. Default node-groups.
	Compute Compute `yaml:"compute,omitempty" cloud:"aws"`
	// NodeGroups are managed node groups, on Azure node pools; at least one, but with
	// existing or compute: auto. On Azure one has mode: system at least.
	NodeGroups []NodeGroup `yaml:"nodeGroups,omitempty"`
	// Addons are managed EKS addons. Default: vpc-cni, kube-proxy, coredns and
	// eks-pod-identity-agent, in the cloud's default versions; with compute: auto none.
	Addons []ManagedAddon `yaml:"addons,omitempty" cloud:"aws"`
}

// Tier of AKS's control plane.
type Tier string

// The tiers.
const (
	FreeTier     Tier = "free"
	StandardTier Tier = "standard"
	PremiumTier  Tier = "premium"
)

// UpgradeChannel says to which versions of Kubernetes AKS upgrades by itself.
type UpgradeChannel string

// The channels of upgrades.
const (
	NoUpgrades     UpgradeChannel = "none"
	PatchUpgrades  UpgradeChannel = "patch"
	StableUpgrades UpgradeChannel = "stable"
	RapidUpgrades  UpgradeChannel = "rapid"
)

// ImageChannel says which images AKS gives to nodes by itself.
type ImageChannel string

// The channels of node images.
const (
	NoImages         ImageChannel = "none"
	UnmanagedImages  ImageChannel = "unmanaged"
	SecurityPatches  ImageChannel = "security-patch"
	NodeImageChannel ImageChannel = "node-image"
)

// Upgrades are those that AKS does by itself.
type Upgrades struct {
	// Kubernetes is none, patch, stable or rapid. With stable and rapid AKS changes the
	// minor version, and the file's no longer says what runs. Default patch.
	Kubernetes UpgradeChannel `yaml:"kubernetes,omitempty"`
	// NodeImages is none, unmanaged, security-patch or node-image. Default node-image.
	NodeImages ImageChannel `yaml:"nodeImages,omitempty"`
}

// Compute is a way to nodes.
type Compute string

// The ways to nodes.
const (
	NodeGroupCompute Compute = "node-groups"
	AutoCompute      Compute = "auto"
)

// Auto says that EKS Auto Mode makes the nodes.
func (k Kubernetes) Auto() bool { return k.Compute == AutoCompute }

// Nodes is the version of the node groups, major.minor.
func (k Kubernetes) Nodes() string { return cmp.Or(k.NodeVersion, k.Version) }

// Support is what AWS does with a cluster whose version is old.
type Support string

// The kinds of support.
const (
	StandardSupport Support = "standard"
	ExtendedSupport Support = "extended"
)

// Endpoint says who can reach the Kubernetes API.
type Endpoint struct {
	// Private gives the API an address inside the network. On AWS the nodes reach it, and
	// who PrivateCIDRs and SecurityGroups let in; nobody else does, not even in the VPC. On
	// Azure everything does that reaches the network, and Public does not go with it.
	// Default true; on Azure the opposite of public.
	Private *bool `yaml:"private,omitempty"`
	// PrivateDNSZone has the name of the private API: system, a zone that AKS makes; none,
	// a public name of the private address; or a zone that others own, by its id, in which
	// core lets the identity of the control plane write. Default: system with a private endpoint.
	PrivateDNSZone string `yaml:"privateDnsZone,omitempty" cloud:"azure"`
	// PrivateCIDRs may reach the private endpoint: IPv4 blocks of the VPC, of networks
	// that are peered or connected to it, or of a VPN; at most 40. Core lets them in at
	// port 443 of the security group that EKS makes for the control plane, which the
	// nodes have too. Default: none.
	PrivateCIDRs []string `yaml:"privateCidrs,omitempty" cloud:"aws"`
	// PublicAddressesInside confirms blocks in PrivateCIDRs that are not private, for
	// networks that have public addresses inside. Default false.
	PublicAddressesInside bool `yaml:"publicAddressesInside,omitempty" cloud:"aws"`
	// SecurityGroups whose members may reach the private endpoint, sg-…, at most 5, of
	// the cluster's account: of its VPC, or of one that is peered with it in the same
	// region. Core lets them in as it does PrivateCIDRs. Default: none.
	SecurityGroups []string `yaml:"securityGroups,omitempty" cloud:"aws"`
	// Public makes the API reachable from the internet, for AllowedCIDRs.
	// Default false.
	Public bool `yaml:"public,omitempty"`
	// AllowedCIDRs may reach the public endpoint; required when Public is set.
	AllowedCIDRs []string `yaml:"allowedCidrs,omitempty"`
	// OpenToTheWorld confirms 0.0.0.0/0 in AllowedCIDRs; without it such a
	// block is refused.
	OpenToTheWorld bool `yaml:"openToTheWorld,omitempty"`
}

// SecretsEncryption is the encryption of Kubernetes Secrets by a KMS key.
type SecretsEncryption struct {
	// Enabled turns encryption on. Default true. AWS cannot turn it off again.
	Enabled *bool `yaml:"enabled,omitempty"`
	// KeyARN is an existing key. Default: core makes one.
	KeyARN string `yaml:"keyArn,omitempty"`
}

// Principal is an IAM role or user, or a group of Entra, with rights on the cluster.
type Principal struct {
	// Name of the entry, unique in the file, a DNS label.
	Name string `yaml:"name"`
	// PrincipalARN of an IAM role or user.
	PrincipalARN string `yaml:"principalArn" cloud:"aws"`
	// Group of Entra, by its object id.
	Group string `yaml:"group" cloud:"azure"`
}

// Capacity is how EC2 sells the instances of a node group.
type Capacity string

// The capacity types.
const (
	OnDemand Capacity = "on-demand"
	Spot     Capacity = "spot"
)

// PoolMode says what a node pool of AKS is for.
type PoolMode string

// The modes.
const (
	SystemPool PoolMode = "system"
	UserPool   PoolMode = "user"
)

// OS is the system of a node pool's nodes.
type OS string

// The systems.
const (
	AzureLinux OS = "azure-linux"
	Ubuntu     OS = "ubuntu"
)

// NodeGroup is a managed node group, on Azure a node pool.
type NodeGroup struct {
	// Name, unique in the file, a DNS label; on Azure at most 12 letters and digits that
	// begin with a letter.
	Name string `yaml:"name"`
	// Mode is system, for pods of kube-system, or user. Default user.
	Mode PoolMode `yaml:"mode,omitempty" cloud:"azure"`
	// VMSize of the nodes, such as Standard_D4s_v5.
	VMSize string `yaml:"vmSize" cloud:"azure"`
	// OS is azure-linux or ubuntu. Default azure-linux.
	OS OS `yaml:"os,omitempty" cloud:"azure"`
	// InstanceTypes, such as m7i.large; all of one CPU architecture.
	InstanceTypes []string `yaml:"instanceTypes" cloud:"aws"`
	// Size of the group, in nodes.
	Size Size `yaml:"size"`
	// Capacity is on-demand or spot, which on Azure mode: system does not go with. Default
	// on-demand.
	Capacity Capacity `yaml:"capacity,omitempty"`
	// AMI is the kind of the nodes' image: al2023 (Amazon Linux 2023), bottlerocket, or
	// al2023-nvidia or bottlerocket-nvidia with the driver for GPUs. With ImageID it is
	// the family of that image, without nvidia. Default al2023.
	AMI AMI `yaml:"ami,omitempty" cloud:"aws"`
	// Release of that image, such as 1.35.3-20260715 of al2023 or 1.50.0-1a2b3c4d of
	// bottlerocket. Default: the newest whenever EKS makes or rolls the group.
	Release string `yaml:"release,omitempty" cloud:"aws"`
	// ImageID of an image of one's own, ami-…. Its nodes get what they need to join the
	// cluster. Default: EKS's image.
	ImageID string `yaml:"imageId,omitempty" cloud:"aws"`
	// MaxPods is the largest number of pods on a node, at most 250. Default: what EKS
	// calculates for the instance type; on Azure 110.
	MaxPods int `yaml:"maxPods,omitempty"`
	// DiskGiB is the size of each node's volume, in GiB: of the root volume, and with
	// bottlerocket of the data volume. Default 50; on Azure 128.
	DiskGiB int `yaml:"diskGiB,omitempty"`
	// Volume is what that volume is like. It is always encrypted.
	Volume NodeVolume `yaml:"volume,omitempty" cloud:"aws"`
	// SecurityGroups that nodes have beside the cluster's own, at most 15. Default: none.
	SecurityGroups []string `yaml:"securityGroups,omitempty" cloud:"aws"`
	// Zones of the group's nodes: on AWS of network.zones, on Azure the numbers of zones of the
	// region, such as "1". Default: all of them; on Azure none.
	Zones []string `yaml:"zones,omitempty"`
	// Subnets of the group's nodes, of network.existing.privateSubnets. Default: all of
	// them.
	Subnets []string `yaml:"subnets,omitempty" cloud:"aws"`
	// Update says how nodes are rolled.
	Update NodeUpdate `yaml:"update,omitempty"`
	// UserData that nodes start with. For al2023 a NodeConfig of nodeadm, a script that
	// begins with #!, or a MIME archive of several; for bottlerocket settings in TOML. It
	// has at most 16 KiB with what Tombolo adds. No secrets: whoever reads launch templates
	// reads it. Default: none.
	UserData string `yaml:"userData,omitempty" cloud:"aws"`
	// Labels of the nodes. EKS allows 63 characters for a key with its prefix, and
	// needs a value.
	Labels map[string]string `yaml:"labels,omitempty"`
	// Taints of the nodes. EKS allows 63 characters for a key with its prefix.
	Taints []Taint `yaml:"taints,omitempty"`
}

// Size of a node group, in nodes.
type Size struct {
	// Min is the smallest size. Default 1.
	Min *int `yaml:"min,omitempty"`
	// Max is the largest size, at least 1. Default: the larger of Min and Desired.
	Max *int `yaml:"max,omitempty"`
	// Desired is the size at the start. After that the group keeps the size that
	// it has, whatever an autoscaler has made of it, within Min and Max. Default: Min.
	Desired *int `yaml:"desired,omitempty"`
}

// TaintEffect is what a taint does to pods that do not tolerate it.
type TaintEffect string

// The effects, as Kubernetes spells them.
const (
	NoSchedule       TaintEffect = "NoSchedule"
	PreferNoSchedule TaintEffect = "PreferNoSchedule"
	NoExecute        TaintEffect = "NoExecute"
)

// Taint of the nodes of a node group.
type Taint struct {
	// Key of the taint, such as dedicated or example.com/gpu.
	Key string `yaml:"key"`
	// Value of the taint. Default: none.
	Value string `yaml:"value,omitempty"`
	// Effect is NoSchedule, PreferNoSchedule or NoExecute.
	Effect TaintEffect `yaml:"effect"`
}

// ManagedAddon is an addon that EKS itself installs and upgrades.
type ManagedAddon struct {
	// Name of the addon, such as vpc-cni.
	Name string `yaml:"name"`
	// Version, such as v1.20.1-eksbuild.1. Default: the cloud's default for
	// the Kubernetes version, which the addon follows on each up; a newer live
	// version stays, as long as the cloud offers it for the Kubernetes version.
	Version string `yaml:"version,omitempty"`
	// Configuration of the addon, by the addon's own schema.
	Configuration map[string]any `yaml:"configuration,omitempty"`
	// Identity is the IAM role of the addon's service account. Default: none, but
	// for vpc-cni, which always has one of its own.
	Identity *AddonIdentity `yaml:"identity,omitempty"`
}

// AddonIdentity is the IAM role of a managed addon: an existing one, or one that
// core makes, which only the addon's service account may assume.
type AddonIdentity struct {
	// RoleARN of an existing role; it goes with no other key. Its trust policy is
	// its owner's business. Default: core makes a role.
	RoleARN string `yaml:"roleArn,omitempty"`
	// Namespace of the service account. Default: kube-system, or what AWS says
	// for the addon.
	Namespace string `yaml:"namespace,omitempty"`
	// ServiceAccount that assumes the role. Default: what AWS says for the addon;
	// required for one that Tombolo does not know.
	ServiceAccount string `yaml:"serviceAccount,omitempty"`
	// PolicyARNs of managed policies to attach. Default: those that AWS recommends
	// for the addon, without Statements.
	PolicyARNs []string `yaml:"policyArns,omitempty"`
	// Statements of the role's own policy.
	Statements []Statement `yaml:"statements,omitempty"`
}

// Namespace that bootstrap creates. GitOps may add to its metadata.
type Namespace struct {
	// Name, a DNS label, unique in the file.
	Name string `yaml:"name"`
	// Labels of the namespace.
	Labels map[string]string `yaml:"labels,omitempty"`
	// Annotations of the namespace.
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

// Service is a part of the platform tree that needs values from the
// infrastructure. It gets a ConfigMap <name>-values for a HelmRelease's
// valuesFrom. With Identity, it also gets an IAM role for its service account.
type Service struct {
	// Name, a DNS label, unique in the file.
	Name string `yaml:"name"`
	// Namespace of the ConfigMap and the service account: one of the file's
	// namespaces, or the engine's (flux-system, argocd, or tombolo on a spoke).
	Namespace string `yaml:"namespace"`
	// Identity is an IAM role for the service's service account. Default: none.
	Identity *Identity `yaml:"identity,omitempty"`
	// Values are extra Helm values, merged over those that Tombolo publishes. A mapping
	// with fromStack or fromSsm in them stands for a value of another stack or of
	// Parameter Store: see values.<key>.
	Values map[string]any `yaml:"values,omitempty"`
}

// IdentityMode is how a pod gets the credentials of an IAM role.
type IdentityMode string

// The identity modes.
const (
	// IRSA: IAM roles for service accounts, by the cluster's OIDC provider.
	IRSA IdentityMode = "irsa"
	// PodIdentity: EKS Pod Identity, by an association and the node's agent.
	PodIdentity IdentityMode = "pod-identity"
	// WorkloadIdentity: a user-assigned identity of Azure with a federated credential.
	WorkloadIdentity IdentityMode = "workload-identity"
)

// Identity is an IAM role, or an identity of Azure, for one Kubernetes service account.
type Identity struct {
	// ServiceAccount that may assume the role. Default: the service's name.
	ServiceAccount string `yaml:"serviceAccount,omitempty"`
	// Mode is irsa or pod-identity on AWS, workload-identity on Azure. Default irsa; on
	// Azure workload-identity.
	Mode IdentityMode `yaml:"mode,omitempty"`
	// RoleARN of an existing role of the cluster's account; it goes with serviceAccount and
	// mode only. Its policies and its trust policy are its owner's business. Default: core
	// makes a role.
	RoleARN string `yaml:"roleArn,omitempty" cloud:"aws"`
	// PolicyARNs of managed policies to attach.
	PolicyARNs []string `yaml:"policyArns,omitempty" cloud:"aws"`
	// Statements of the role's own policy.
	Statements []Statement `yaml:"statements,omitempty" cloud:"aws"`
	// Roles that the identity gets. Default: none.
	Roles []RoleGrant `yaml:"roles,omitempty" cloud:"azure"`
}

// RoleGrant is a role of Azure on a scope.
type RoleGrant struct {
	// Role by its name, one of those that Tombolo knows such as Key Vault Secrets User, or by
	// the id of a role definition. Owner, and roles that give roles, are refused.
	Role string `yaml:"role"`
	// Scope that the role is for, by the id of a resource or a resource group. A whole
	// subscription needs Reason.
	Scope string `yaml:"scope"`
	// Reason explains a subscription as Scope.
	Reason string `yaml:"reason,omitempty"`
}

// Statement allows actions on resources.
type Statement struct {
	// Actions, such as s3:GetObject or s3:Get*. A bare * and s3:* are refused.
	Actions []string `yaml:"actions"`
	// Resources as ARNs. A bare * needs Reason.
	Resources []string `yaml:"resources"`
	// Reason explains a * in Resources.
	Reason string `yaml:"reason,omitempty"`
}
