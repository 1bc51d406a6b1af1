// Package config reads cluster files: one YAML file describes one cluster, and
// both of its stacks, core and bootstrap, read the same file.
//
// Load decodes strictly, fills in defaults and validates; it reports all
// problems of a file together, each with its line and column. The package
// imports nothing else of Tombolo.
package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tombolo/config/addon"
	"tombolo/config/awsfacts"
	"tombolo/config/azurefacts"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
	"tombolo/internal/wording"
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

var clusterFields = field.Of[Cluster](map[string]field.Descriptor{
	"Version": {
		Rule:   strict.Rule{What: "a supported version of the format", Example: "1", Numbers: []int{Version}},
		Change: field.Changes("it is the format of the file; nothing in the cluster changes"),
	},
	"Name": {
		Rule:   form.Label("demo"),
		Change: []field.Case{{Effect: field.Impossible, Words: "another name is another cluster, beside this one", Remedy: "take the name back, or destroy the cluster of the old name with its old file"}},
	},
	"Environment": {
		Rule:        form.Label("dev"),
		Change:      field.Always(field.RollsNodes, "it is a tag of every resource: "+rollsWords),
		AzureChange: field.Changes("it is a tag of every resource: " + aksTagWords),
	},
	"Wave":          {Rule: strict.Rule{Least: new(0), Most: new(99), Default: 0}, Change: field.Changes(field.Outside)},
	"Protect":       {Rule: strict.Rule{Default: false}, Change: field.Changes("the state protects network and control plane, or no longer; nothing in the cloud changes")},
	"ChangeWindows": {Rule: strict.Rule{Noun: "window"}, Change: field.Changes(field.Outside)},
	"Drift":         {},
	"Cloud":         {},
	"Tags":          {Change: field.Always(field.RollsNodes, "every resource gets the tags: "+rollsWords), AzureChange: field.Changes(aksTagWords)},
	"Network":       {},
	"Kubernetes":    {},
	"Egress":        {},
	"Namespaces": {
		Change: []field.Case{
			{When: "removed", Effect: field.InPlace, Words: "the namespace is deleted with everything in it", Applies: field.Change.TakesAway},
			{Effect: field.InPlace, Words: "the namespace is made"},
		},
	},
	"Addons": {
		Change: []field.Case{
			{When: "turned off", Effect: field.InPlace, Words: "once Git has removed the addon, what it has in the cloud is deleted; a bucket with objects is not", Applies: field.Change.TakesAway},
			{Effect: field.InPlace, Words: "what the addon needs in the cloud is made, and the engine installs it"},
		},
	},
	"Services": {
		Change: []field.Case{
			{When: "removed", Effect: field.InPlace, Words: "the service's role and ConfigMap are deleted", Applies: field.Change.TakesAway},
			{Effect: field.InPlace, Words: "the service's role and ConfigMap are made"},
		},
		AzureChange: []field.Case{
			{When: "removed", Effect: field.InPlace, Words: "the service's identity and ConfigMap are deleted", Applies: field.Change.TakesAway},
			{Effect: field.InPlace, Words: "the service's identity and ConfigMap are made"},
		},
	},
	"GitOps":      {},
	"Labels":      {Change: field.Changes("the labels of the cluster's registration change, and generators follow them")},
	"Annotations": {Change: field.Changes("the annotations of the cluster's registration change, and generators follow them")},
	"Values":      {Change: field.Changes("the infra ConfigMap changes, and the engine follows it")},
})

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

var cloudFields = field.Of[Cloud](map[string]field.Descriptor{
	"Provider": {Rule: strict.Rule{What: "a supported cloud", Allowed: form.Texts(field.Providers()...)}, Change: field.Keeps("a cluster stays in its cloud")},
	"Region": {
		Rule: strict.Rule{What: "a supported AWS region", Example: "eu-central-1", Allowed: awsfacts.Regions()},
		AzureRule: &strict.Rule{
			What: "a region of Azure", Example: "germanywestcentral", Allowed: azurefacts.Regions(), Advice: azureRegionAdvice,
		},
		Change: field.Keeps("a cluster stays in its region"),
	},
	"Account": {Rule: form.AWSAccount(), AzureRule: new(form.UUIDRule("the id of a subscription")), Change: field.Keeps("a cluster stays in its account")},
	"Tenant":  {Rule: form.UUIDRule("the id of a tenant"), Change: field.Keeps("a cluster stays in its tenant"), Remedy: "remove it: an AWS account has no tenant"},
	"ResourceGroup": {
		Rule:   form.ResourceGroupRule("demo"),
		Change: field.Keeps("Azure moves none of the cluster's resources to another group"),
		Remedy: "remove it: AWS has no resource groups that resources are in",
	},
	"Profile": {
		Rule: strict.Rule{
			What: "an AWS profile", Example: "platform-dev",
			Pattern: regexp.MustCompile(`^\S(.*\S)?$`),
		},
		Change: field.Changes("it is where tombolo takes credentials from; nothing in the cluster changes"),
		Remedy: "remove it: credentials are those of the environment, or of az login",
	},
	"AssumeRole": {
		Change: field.Changes("as it says, the role is assumed, or no longer, for what is done in the account; the creator's access entry stays"),
		Remedy: "remove it: sign in as who has the rights in the subscription",
	},
	"Roles": {Remedy: "remove it: core makes no IAM roles on Azure"},
})

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

var networkFields = field.Of[Network](map[string]field.Descriptor{
	"CIDR": {
		Rule: form.IPv4Block("10.0.0.0/16"),
		Change: []field.Case{{
			Effect: field.NeedsRebuild, Words: "AWS changes the block of neither a VPC nor a subnet, and EKS keeps its VPC", Remedy: field.RebuildRemedy,
		}},
		AzureChange: field.Keeps("Azure changes the block of no subnet that nodes are in"),
	},
	"Zones": {
		Rule: strict.Rule{
			What: "an availability zone", Noun: "zone", Example: "eu-central-1a",
			Pattern: form.RegionZone, MinItems: 2,
		},
		Change: []field.Case{
			{
				When: "without one of the control plane's", Effect: field.NeedsRebuild, Applies: leavesZones,
				Words:  "the control plane keeps the zones of its creation",
				Remedy: "keep its zones, and add others beside them; or make the cluster anew: `tombolo destroy`, then `tombolo up`",
			},
			{
				When: "one too many for the block", Effect: field.NeedsRebuild, Applies: lacksRoom,
				Words:  "the block has no room for its subnets beside those that are there, and AWS moves none",
				Remedy: "take the zone out, or make the cluster anew with a larger block: `tombolo destroy`, then `tombolo up`",
			},
			{
				When: "added, or one of the nodes' alone removed", Effect: field.ReplacesNodeGroup,
				Words: "subnets for nodes come or go, and every node group is replaced; the control plane stays in its zones",
			},
		},
		Remedy:    "remove it: on Azure a network spans all zones, and nodeGroups[].zones says where nodes are",
		Unordered: true,
	},
	"NAT": {
		Rule: strict.Rule{What: "a kind of NAT", Allowed: form.Texts(NATNone, NATSingle, NATPerZone), Default: NATSingle},
		Change: []field.Case{
			{When: "to none", Effect: field.InPlace, Words: "the gateways are deleted, and nodes lose the internet", Applies: func(c field.Change) bool { return c.After == string(NATNone) }},
			{Effect: field.InPlace, Words: "gateways are made or deleted, and routes follow; connections through a gateway that goes are cut"},
		},
		Instead: "outbound",
		Remedy:  "use outbound: nat-gateway or load-balancer",
	},
	"Endpoints": {
		Rule: strict.Rule{
			What: "the short name of an AWS service", Example: "s3 or ecr.api",
			Pattern: regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)*$`), Default: defaultEndpoints(),
		},
		Change: []field.Case{
			{
				When: "with a proxy", Effect: field.RollsNodes, Applies: field.Change.GoesByProxy,
				Words: "endpoints are made or deleted, and what is reached without the proxy changes with them: " + rollsWords,
			},
			{Effect: field.InPlace, Words: "endpoints are made or deleted; connections through one that goes are cut"},
		},
		Remedy:    "remove it: core makes no endpoints on Azure",
		Unordered: true,
	},
	"FlowLogs": {
		Change: field.Changes("a flow log is made, or deleted with its log group and what is in it; a bucket keeps what it has"),
		Remedy: "remove it: turn on the flow logs of virtual networks in Network Watcher",
	},
	"Outbound": {
		Rule:    strict.Rule{What: "a way out", Allowed: form.Texts(OutboundNATGateway, OutboundLoadBalancer, OutboundRoutes)},
		Change:  field.Keeps("the provider replaces a cluster whose way out changes"),
		Instead: "nat",
		Remedy:  "use nat: none, single or per-zone",
	},
	"Existing": {
		Change: []field.Case{{
			Effect: field.NeedsRebuild, Words: "EKS keeps the VPC of the cluster's creation", Remedy: field.RebuildRemedy,
		}},
		AzureChange: field.Keeps("AKS keeps the network of the cluster's creation"),
	},
})

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

var flowLogsFields = field.Of[FlowLogs](map[string]field.Descriptor{
	"To": {
		Rule:   strict.Rule{What: "a target of flow logs", Allowed: form.Texts(FlowLogsToCloudWatch, FlowLogsToS3)},
		Change: field.Changes("another flow log is made; from cloudwatch, the log group is deleted with what is in it"),
	},
	"BucketARN": {
		Rule: strict.Rule{
			What: "the ARN of a bucket", Example: "arn:aws:s3:::acme-logs/vpc", Pattern: flowLogBucket,
		},
		Change: field.Changes("another flow log is made for the bucket; the old one keeps what it has"),
	},
	"Traffic": {
		Rule:   strict.Rule{What: "a kind of traffic", Allowed: form.Texts(AllTraffic, AcceptedTraffic, RejectedTraffic), Default: AllTraffic},
		Change: field.Changes("another flow log is made, and the old one is deleted"),
	},
	"RetentionDays": {
		Rule:   strict.Rule{What: "a retention that CloudWatch offers", Numbers: awsfacts.RetentionDays, Default: defaultLogRetentionDays},
		Change: field.Changes("the retention of the log group changes; a shorter one deletes older logs"),
	},
	"KMSKeyARN": {Rule: form.KMSKeyARN(), Change: field.Changes("CloudWatch encrypts what comes from now on by the key; older logs stay under the key that they have")},
})

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

var existingNetworkFields = field.Of[ExistingNetwork](map[string]field.Descriptor{
	"NodeSubnet": {
		Rule: strict.Rule{
			What: "the id of a subnet", Pattern: form.NodeSubnet, Advice: form.IDAdvice(form.NodeSubnet),
			Example: form.ExampleGroup + "/providers/Microsoft.Network/virtualNetworks/shared/subnets/aks",
		},
		Change:  field.Keeps("AKS keeps the subnet of the cluster's creation"),
		Instead: "privateSubnets",
		Remedy:  "use vpc and privateSubnets",
	},
	"GrantAccess": {
		Rule:   strict.Rule{Default: false},
		Change: field.Changes("core gives the control plane's identity its rights in the subnet, or takes away those that it gave"),
		Remedy: "remove it: EKS needs no right in the subnets",
	},
	"VPC": {
		Rule: strict.Rule{
			What: "a VPC id", Example: "vpc-0123456789abcdef0",
			Pattern: regexp.MustCompile(`^vpc-[0-9a-f]{8}([0-9a-f]{9})?$`),
		},
		Change:  field.Keeps("EKS keeps the VPC of the cluster's creation"),
		Instead: "nodeSubnet",
		Remedy:  "use nodeSubnet, which names the network with the subnet",
	},
	"Account": {
		Rule:   form.AWSAccount(),
		Change: field.Changes("the policies of Karpenter and of the load balancer controller change"),
		Remedy: "remove it: the id in nodeSubnet has the subscription",
	},
	"PrivateSubnets": {
		Rule: subnetIDs(2),
		Change: field.Always(field.ReplacesNodeGroup,
			"every node group is replaced; the control plane's own subnets have to stay in the zones of its creation"),
		Instead:   "nodeSubnet",
		Remedy:    "use nodeSubnet, one subnet by its id",
		Unordered: true,
	},
	"ControlPlaneSubnets": {
		// An empty list would leave the control plane without a network.
		Rule: subnetIDs(2),
		Change: field.Changes("EKS moves the control plane's interfaces into the subnets; it refuses another VPC, " +
			"and other zones than those of the creation"),
		Remedy:    "remove it: AKS keeps its control plane outside of your network",
		Unordered: true,
	},
	"PublicSubnets": {
		Rule:      subnetIDs(0),
		Change:    field.Changes("the infra ConfigMap changes; nothing in the network does"),
		Remedy:    "remove it: public load balancers need no subnet of their own",
		Unordered: true,
	},
})

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

var kubernetesFields = field.Of[Kubernetes](map[string]field.Descriptor{
	"Existing": {
		Change: []field.Case{
			{
				When: "of a cluster that core made", Effect: field.Impossible, Applies: func(c field.Change) bool { return !c.Live.Existing },
				Words:  "core has made this cluster, and would delete its control plane, nodes and network",
				Remedy: "take the change back: the cluster is Tombolo's until it is destroyed",
			},
			{
				When: "taken out", Effect: field.Impossible, Words: "core would make a cluster of its own, and others own this one",
				Remedy: "take the change back, and describe a new cluster in a file of its own",
			},
		},
	},
	"Version": {
		Rule: strict.Rule{
			What:    "a supported version of Kubernetes on EKS",
			Example: `"1.35"`, Allowed: awsfacts.Calendar.Minors(), Advice: versionsAdvice("EKS", awsfacts.Calendar.Minors()),
		},
		AzureRule: new(aksVersionRule(`"1.35"`)),
		Change: []field.Case{
			{
				When: "to the one before, by a rollback", Effect: field.InPlace, Applies: func(c field.Change) bool { return c.Minors() == -1 && c.File.RollBack },
				Words: "EKS takes the control plane back, within seven days of its upgrade",
			},
			{
				When: "to an older one", Effect: field.Impossible, Applies: func(c field.Change) bool { return c.Minors() < 0 },
				Words:  "an up never takes Kubernetes back",
				Remedy: "take the version back; within seven days of an upgrade, `tombolo upgrade <cluster> --rollback` takes Kubernetes back by one minor",
			},
			{
				When: "by more than one minor", Effect: field.Impossible, Applies: func(c field.Change) bool { return c.Minors() > 1 },
				Words: "EKS upgrades by one minor version at a time", Remedy: "take the version back, and run `tombolo upgrade <cluster> --to <version>`, which goes one minor after another",
			},
			{
				When: "to the next minor, with the nodes held back", Effect: field.InPlace, Applies: func(c field.Change) bool { return c.Minors() == 1 && c.HoldsNodes() },
				Words: "EKS upgrades the control plane; the node groups stay, and addons without a version",
			},
			{When: "to the next minor", Effect: field.RollsNodes, Words: "EKS upgrades the control plane, and then rolls the nodes of every group; addons without a version follow"},
		},
		AzureChange: []field.Case{
			{
				When: "to an older one", Effect: field.Impossible, Applies: func(c field.Change) bool { return c.Minors() < 0 },
				Words: "AKS never takes Kubernetes back", Remedy: "take the version back",
			},
			{
				When: "by more than one minor", Effect: field.Impossible, Applies: func(c field.Change) bool { return c.Minors() > 1 },
				Words: "AKS upgrades by one minor version at a time", Remedy: "take the version back, and run `tombolo upgrade <cluster> --to <version>`, which goes one minor after another",
			},
			{
				When: "to the next minor, with the nodes held back", Effect: field.InPlace, Applies: func(c field.Change) bool { return c.Minors() == 1 && c.HoldsNodes() },
				Words: "AKS upgrades the control plane; the node groups stay",
			},
			{When: "to the next minor", Effect: field.RollsNodes, Words: "AKS upgrades the control plane, and then rolls the nodes of every group"},
		},
	},
	"NodeVersion": {
		Rule: strict.Rule{
			What:    "a supported version of Kubernetes on EKS",
			Example: `"1.34"`, Allowed: awsfacts.Calendar.Minors(), Advice: versionsAdvice("EKS", awsfacts.Calendar.Minors()),
		},
		AzureRule: new(aksVersionRule(`"1.34"`)),
		Change: []field.Case{
			{
				When: "to an older one", Effect: field.Impossible, Applies: func(c field.Change) bool { return c.NodeMinors() < 0 && !c.File.RollBack },
				Words:  "an up never takes nodes back",
				Remedy: "take the version back; within seven days of an upgrade, `tombolo upgrade <cluster> --rollback` takes Kubernetes back by one minor",
			},
			{Effect: field.RollsNodes, Words: "addons without a version follow, and EKS rolls the nodes of every group"},
		},
		AzureChange: []field.Case{
			{
				When: "to an older one", Effect: field.Impossible, Applies: func(c field.Change) bool { return c.NodeMinors() < 0 },
				Words: "AKS never takes nodes back", Remedy: "take the version back",
			},
			{Effect: field.RollsNodes, Words: "AKS rolls the nodes of every group"},
		},
	},
	"ServiceCIDR": {
		Rule:        form.IPv4Block("172.20.0.0/16"),
		Change:      field.Keeps("EKS keeps the block of Services of the cluster's creation"),
		AzureChange: field.Keeps("AKS keeps the block of Services of the cluster's creation"),
	},
	"PodCIDR": {
		Rule: strict.Rule{
			What: "an IPv4 block", Example: defaultPodCIDR, Default: defaultPodCIDR,
			Pattern: regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+/[0-9]+$`), Advice: form.BlockAdvice,
		},
		Change: field.Keeps("AKS keeps the block of pods of the cluster's creation"),
		Remedy: "remove it: pods have addresses of the VPC",
	},
	"Endpoint": {},
	"Tier": {
		Rule:   strict.Rule{What: "a tier of AKS", Allowed: form.Texts(FreeTier, StandardTier, PremiumTier), Default: StandardTier},
		Change: field.Changes("AKS changes the tier, and what it costs"),
		Remedy: "remove it: EKS has one tier; support says what happens to old versions",
	},
	"Upgrades": {Remedy: "remove it: EKS upgrades nothing by itself while the version is supported"},
	"NodeResourceGroup": {
		Rule:   form.ResourceGroupRule("demo-nodes"),
		Change: field.Keeps("AKS keeps the group that it made for nodes"),
		Remedy: "remove it: AWS has no resource groups that resources are in",
	},
	"Logs": {
		Rule: strict.Rule{
			What: "a log type of the EKS control plane", Noun: "log type",
			Allowed: awsfacts.LogTypes, Default: defaultLogs(),
		},
		Change:    field.Changes("EKS starts or stops to send log types; the log group stays"),
		Remedy:    "remove it: send the control plane's logs by a diagnostic setting of Azure Monitor",
		Unordered: true,
	},
	"LogRetentionDays": {
		Rule: strict.Rule{
			What:    "a retention that CloudWatch offers",
			Numbers: awsfacts.RetentionDays, Default: defaultLogRetentionDays,
		},
		Change: field.Changes("the retention of the log group changes; a shorter one deletes older logs"),
		Remedy: "remove it: a Log Analytics workspace says how long it keeps logs",
	},
	"LogKeyARN": {
		Rule: form.KMSKeyARN(),
		// internal/service/logs/group.go: AssociateKmsKey, DisassociateKmsKey.
		Change: field.Changes("CloudWatch encrypts what comes from now on by the key; older logs stay under the key that they have"),
		Remedy: "remove it: a Log Analytics workspace says how it encrypts logs",
	},
	"SecretsEncryption": {Remedy: "remove it: AKS encrypts what it stores by keys of Microsoft's"},
	"Support": {
		Rule:      strict.Rule{What: "a kind of support", Allowed: form.Texts(StandardSupport, ExtendedSupport)},
		AzureRule: &strict.Rule{What: "a kind of support", Allowed: form.Texts(StandardSupport, ExtendedSupport), Default: StandardSupport},
		// UpdateClusterConfig has both: upgradePolicy and zonalShiftConfig, each by itself.
		// https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateClusterConfig.html
		Change:      field.Changes("EKS changes the cluster's upgrade policy; standard is refused once the version is in extended support"),
		AzureChange: field.Changes("AKS changes the support plan; standard is refused once the version is out of the community's support"),
	},
	"ZonalShift": {Change: field.Changes("EKS turns zonal shift on or off"), Remedy: "remove it: AKS has no such switch"},
	"Admins": {
		Change: []field.Case{
			{When: "removed", Effect: field.InPlace, Words: "the access entry is deleted, and with it the rights", Applies: field.Change.TakesAway},
			{Effect: field.InPlace, Words: "the access entry is made"},
		},
		AzureChange: []field.Case{
			{When: "removed", Effect: field.InPlace, Words: "the group loses its rights", Applies: field.Change.TakesAway},
			{Effect: field.InPlace, Words: "the group gets the rights of cluster-admin"},
		},
	},
	"Previewers": {
		Change: []field.Case{
			{When: "removed", Effect: field.InPlace, Words: "the access entry is deleted, and with it the rights", Applies: field.Change.TakesAway},
			{Effect: field.InPlace, Words: "the access entry is made"},
		},
		AzureChange: []field.Case{
			{When: "removed", Effect: field.InPlace, Words: "the group loses its rights", Applies: field.Change.TakesAway},
			{Effect: field.InPlace, Words: "the group gets the rights of a previewer"},
		},
	},
	"Access": {
		Change: []field.Case{
			{When: "removed", Effect: field.InPlace, Words: "the access entry is deleted, and with it the rights", Applies: field.Change.TakesAway},
			{Effect: field.InPlace, Words: "the access entry is made; EKS refuses it while the principal has another one, so take that out with an up before"},
		},
		Remedy: "remove it: bind groups of Entra, by their object ids, to roles in the platform tree",
	},
	"IdentityProvider": {
		// internal/service/eks/identity_provider_config.go: all but the tags is ForceNew, and EKS
		// has one provider for a cluster. How long it takes:
		// https://github.com/aws/containers-roadmap/issues/1438
		Change: []field.Case{
			{When: "removed", Effect: field.InPlace, Words: "EKS takes the provider from the control plane, and refuses its tokens; IAM's principals keep their rights", Applies: field.Change.TakesAway},
			{Effect: field.InPlace, Words: "EKS gives the provider to the control plane, which can take half an hour; IAM's principals keep their rights"},
		},
		Remedy: "remove it: Entra signs people in, and admins and bindings name its groups",
	},
	"Compute": {
		Rule: strict.Rule{What: "a way to nodes", Allowed: form.Texts(NodeGroupCompute, AutoCompute), Default: NodeGroupCompute},
		// "AWS does not support the following migrations" in
		// https://docs.aws.amazon.com/eks/latest/userguide/migrate-auto.html
		Change: field.Keeps("EKS moves neither volumes nor load balancers between node groups and EKS Auto Mode, and all nodes would go at once"),
		Remedy: "remove it: nodes are in nodeGroups",
	},
	"NodeGroups": {
		Rule: strict.Rule{Noun: "node group", MinItems: 1},
		Change: []field.Case{
			{When: "removed", Effect: field.InPlace, Words: "the group's nodes are drained and deleted", Applies: field.Change.TakesAway},
			{Effect: field.InPlace, Words: "the group is made; the others stay"},
		},
		AzureChange: []field.Case{
			firstPool(),
			{When: "removed", Effect: field.InPlace, Words: "the group's nodes are drained and deleted", Applies: field.Change.TakesAway},
			{Effect: field.InPlace, Words: "the group is made; the others stay"},
		},
	},
	"Addons": {
		Rule: strict.Rule{Default: defaultAddonObjects()},
		Change: []field.Case{
			{When: "removed", Effect: field.InPlace, Words: "EKS deletes the addon from the cluster", Applies: field.Change.TakesAway},
			{Effect: field.InPlace, Words: "EKS installs the addon"},
		},
		Remedy: "remove it: AKS brings network, DNS and disks with the cluster",
	},
})

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

var upgradesFields = field.Of[Upgrades](map[string]field.Descriptor{
	"Kubernetes": {
		AzureRule: &strict.Rule{
			What: "a channel of upgrades", Allowed: form.Texts(NoUpgrades, PatchUpgrades, StableUpgrades, RapidUpgrades), Default: PatchUpgrades,
		},
		AzureChange: field.Changes("AKS upgrades by the other channel from now on"),
	},
	"NodeImages": {
		AzureRule: &strict.Rule{
			What: "a channel of node images", Allowed: form.Texts(NoImages, UnmanagedImages, SecurityPatches, NodeImageChannel), Default: NodeImageChannel,
		},
		AzureChange: field.Changes("AKS gives nodes images by the other channel from now on"),
	},
})

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

var endpointFields = field.Of[Endpoint](map[string]field.Descriptor{
	"Private": {
		Rule:      strict.Rule{Default: true},
		AzureRule: &strict.Rule{},
		Change: []field.Case{
			{
				When: "with a proxy", Effect: field.RollsNodes, Applies: field.Change.GoesByProxy,
				Words: "EKS changes the endpoint within minutes, and nodes reach it by the proxy or without it: " + rollsWords,
			},
			{Effect: field.InPlace, Words: "EKS changes the endpoint within minutes; the API stays reachable by the other one"},
		},
		AzureChange: field.Keeps("AKS keeps the kind of endpoint of the cluster's creation"),
	},
	"PrivateDNSZone": {
		Rule: strict.Rule{
			What: "system, none or the id of a private DNS zone", Pattern: form.DNSZone, Advice: form.IDAdvice(form.DNSZone),
			Example: form.ExampleGroup + "/providers/Microsoft.Network/privateDnsZones/privatelink.germanywestcentral.azmk8s.io",
		},
		Change: field.Keeps("AKS keeps the zone of the cluster's creation, or gives it up for a public name and then makes every node anew"),
		Remedy: "remove it: AWS's own names lead to the private endpoint",
	},
	"PrivateCIDRs": {
		Rule:      form.IPv4Block("10.8.0.0/16"),
		Change:    field.Changes("a rule is made for each new block; those of blocks that are gone are deleted"),
		Remedy:    "remove it: every network that is connected reaches the private endpoint; its network security groups say who not",
		Unordered: true,
	},
	"PublicAddressesInside": {
		Rule:   strict.Rule{Default: false},
		Change: field.Changes("it confirms blocks of privateCidrs; nothing in the cluster changes"),
		Remedy: "remove it: it confirms privateCidrs, which is for AWS",
	},
	"SecurityGroups": {
		Rule:      form.SecurityGroups(""),
		Change:    field.Changes("a rule is made for each new group; those of groups that are gone are deleted"),
		Remedy:    "remove it: every network that is connected reaches the private endpoint; its network security groups say who not",
		Unordered: true,
	},
	"Public": {
		Rule:        strict.Rule{Default: false},
		Change:      field.Changes("EKS changes the endpoint within minutes; the API stays reachable by the other one"),
		AzureChange: field.Keeps("AKS keeps the kind of endpoint of the cluster's creation"),
	},
	"AllowedCIDRs": {
		Rule: strict.Rule{
			What: "an IP block", Example: "203.0.113.0/24",
			Pattern: regexp.MustCompile(`^[0-9a-fA-F.:]+/[0-9]+$`), Advice: form.BlockAdvice,
		},
		Change:      field.Changes("EKS changes who reaches the public endpoint"),
		AzureChange: field.Changes("AKS changes who reaches the public endpoint, within minutes"),
		Unordered:   true,
	},
	"OpenToTheWorld": {Rule: strict.Rule{Default: false}, Change: field.Changes("it confirms a block of allowedCidrs; nothing in the cluster changes")},
})

// SecretsEncryption is the encryption of Kubernetes Secrets by a KMS key.
type SecretsEncryption struct {
	// Enabled turns encryption on. Default true. AWS cannot turn it off again.
	Enabled *bool `yaml:"enabled,omitempty"`
	// KeyARN is an existing key. Default: core makes one.
	KeyARN string `yaml:"keyArn,omitempty"`
}

var secretsEncryptionFields = field.Of[SecretsEncryption](map[string]field.Descriptor{
	"Enabled": {
		Rule: strict.Rule{Default: true},
		Change: []field.Case{
			{
				When: "turned off", Effect: field.NeedsRebuild, Applies: func(c field.Change) bool { return !c.File.Encrypts },
				Words: "EKS never turns encryption off again", Remedy: field.RebuildRemedy,
			},
			{When: "turned on", Effect: field.InPlace, Words: "EKS encrypts the Secrets of the cluster; that cannot be undone"},
		},
	},
	"KeyARN": {
		Rule: form.KMSKeyARN(),
		Change: []field.Case{
			{When: "together with enabled", Effect: field.InPlace, Words: "EKS takes the key when encryption is turned on", Applies: func(c field.Change) bool { return !c.Live.Encrypts && c.File.Encrypts }},
			{When: "on a cluster that is encrypted", Effect: field.NeedsRebuild, Words: "EKS keeps the key that encryption was turned on with", Remedy: field.RebuildRemedy},
		},
	},
})

// Principal is an IAM role or user, or a group of Entra, with rights on the cluster.
type Principal struct {
	// Name of the entry, unique in the file, a DNS label.
	Name string `yaml:"name"`
	// PrincipalARN of an IAM role or user.
	PrincipalARN string `yaml:"principalArn" cloud:"aws"`
	// Group of Entra, by its object id.
	Group string `yaml:"group" cloud:"azure"`
}

var principalFields = field.Of[Principal](map[string]field.Descriptor{
	"Name": {
		Rule:        form.Label("platform-team"),
		Change:      field.Changes("the access entry is made under its new name and deleted under the old one: give another principal, too, or EKS refuses the second entry"),
		AzureChange: field.Changes("it names the group in the file; nothing in the cluster changes"),
	},
	"PrincipalARN": {
		Rule: strict.Rule{
			What: "the ARN of an IAM role or user", Pattern: form.PrincipalARN, Advice: form.PrincipalAdvice,
			Example: "arn:aws:iam::111122223333:role/platform-admin",
		},
		Change:  field.Changes("the access entry is replaced: the new principal gets the rights, the old one loses them"),
		Instead: "group",
		Remedy:  "use group, the object id of a group of Entra",
	},
	"Group": {
		Rule:    form.UUIDRule("the object id of a group of Entra"),
		Change:  field.Changes("the new group gets the rights, and the old one loses them"),
		Instead: "principalArn",
		Remedy:  "use principalArn, the ARN of an IAM role or user",
	},
})

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

var nodeGroupFields = field.Of[NodeGroup](map[string]field.Descriptor{
	"Name": {
		Rule: form.Label("system"),
		AzureRule: &strict.Rule{
			What: "the name of a node pool", Example: "system", Pattern: poolName, MaxLength: azurefacts.MaxPoolName, Advice: poolAdvice,
		},
		Change: field.Always(field.ReplacesNodeGroup, "the group of the new name is made, and the one of the old name drained and deleted"),
		AzureChange: []field.Case{
			firstPool(),
			{Effect: field.ReplacesNodeGroup, Words: "the group of the new name is made, and the one of the old name drained and deleted"},
		},
	},
	"Mode": {
		Rule: strict.Rule{What: "a mode of node pools", Allowed: form.Texts(SystemPool, UserPool), Default: UserPool},
		Change: []field.Case{
			firstPool(),
			{Effect: field.InPlace, Words: "AKS changes the mode; nodes and their pods stay"},
		},
		Remedy: "remove it: on EKS every group takes the pods of kube-system",
	},
	"VMSize": {
		Rule:    strict.Rule{What: "a size of virtual machines", Example: "Standard_D4s_v5", Pattern: vmSize, Advice: sizeAdvice},
		Change:  poolKeeps("size of the virtual machines"),
		Instead: "instanceTypes",
		Remedy:  "use instanceTypes, such as [m7i.large]",
	},
	"OS": {
		Rule:    strict.Rule{What: "a system for nodes", Allowed: form.Texts(AzureLinux, Ubuntu), Default: AzureLinux},
		Change:  field.Always(field.RollsNodes, "AKS gives the nodes of the group the other image, one after another"),
		Instead: "ami",
		Remedy:  "use ami: al2023 or bottlerocket",
	},
	"InstanceTypes": {
		Rule: strict.Rule{
			What: "an EC2 instance type", Noun: "instance type", Example: "m7i.large",
			Pattern: instance, MinItems: 1,
		},
		Change:  field.Always(field.ReplacesNodeGroup, "EKS changes the instance types of no group"),
		Instead: "vmSize",
		Remedy:  "use vmSize, one size such as Standard_D4s_v5",
	},
	"Size": {},
	"Capacity": {
		Rule:        strict.Rule{What: "a capacity type", Allowed: form.Texts(OnDemand, Spot), Default: OnDemand},
		Change:      field.Always(field.ReplacesNodeGroup, "EKS changes the capacity type of no group"),
		AzureChange: poolKeeps("priority"),
	},
	"AMI": {
		Rule:    strict.Rule{What: "a kind of image", Allowed: form.Texts(AL2023, Bottlerocket, AL2023NVIDIA, BottlerocketNVIDIA), Default: AL2023},
		Change:  field.Always(field.ReplacesNodeGroup, "EKS changes the kind of image of no group"),
		Instead: "os",
		Remedy:  "use os: azure-linux or ubuntu",
	},
	"Release": {
		Rule: strict.Rule{
			What: "the release of an image of EKS", Example: "1.35.3-20260715", Pattern: regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+-[0-9a-f]{8}$`),
		},
		Change: field.Always(field.RollsNodes, "EKS rolls the nodes of the group to that release; without one, to the newest when it next rolls them"),
		Remedy: "remove it: kubernetes.upgrades.nodeImages says which images nodes get",
	},
	"ImageID": {
		Rule: strict.Rule{
			What: "the id of an image", Example: "ami-0123456789abcdef0", Pattern: regexp.MustCompile(`^ami-[0-9a-f]{8}([0-9a-f]{9})?$`),
		},
		Change: []field.Case{
			{When: "given or removed", Effect: field.ReplacesNodeGroup, Words: "EKS changes no group from an image of its own to another", Applies: field.Change.GivesOrTakes},
			{When: "to another", Effect: field.RollsNodes, Words: templateWords},
		},
		Remedy: "remove it: AKS takes no image of your own",
	},
	"MaxPods": {
		Rule:        strict.Rule{Least: new(1), Most: new(maxPods)},
		AzureRule:   &strict.Rule{Least: new(azurefacts.MinPods), Most: new(azurefacts.MaxPods), Default: defaultMaxPods},
		Change:      field.Always(field.RollsNodes, templateWords),
		AzureChange: poolKeeps("largest number of pods"),
	},
	"DiskGiB": {
		Rule:        strict.Rule{Least: new(20), Most: new(16384), Default: defaultDiskGiB},
		AzureRule:   &strict.Rule{Least: new(azurefacts.MinDiskGiB), Most: new(azurefacts.MaxDiskGiB), Default: defaultAzureDiskGiB},
		Change:      field.Always(field.RollsNodes, templateWords),
		AzureChange: poolKeeps("size of the disks"),
	},
	"Volume": {Remedy: "remove it: diskGiB is the size of the disk, and vmSize decides its kind"},
	"SecurityGroups": {
		Rule:      form.SecurityGroups("security group"),
		Change:    field.Always(field.RollsNodes, templateWords),
		Remedy:    "remove it: the network security group of the subnet counts for all nodes",
		Unordered: true,
	},
	"Zones": {
		Rule:        strict.Rule{What: "an availability zone", Noun: "zone", Example: "eu-central-1a", Pattern: form.RegionZone},
		AzureRule:   &strict.Rule{What: "an availability zone", Noun: "zone", Allowed: azurefacts.Zones()},
		Change:      field.Always(field.ReplacesNodeGroup, "EKS changes the subnets of no group"),
		AzureChange: poolKeeps("zones"),
		Unordered:   true,
	},
	"Subnets": {
		Rule:      subnetIDs(0),
		Change:    field.Always(field.ReplacesNodeGroup, "EKS changes the subnets of no group"),
		Remedy:    "remove it: all nodes are in network.existing.nodeSubnet",
		Unordered: true,
	},
	"Update":   {},
	"UserData": {Change: field.Always(field.RollsNodes, templateWords), Remedy: "remove it: AKS takes no user data; a DaemonSet of the platform tree does such work"},
	"Labels": {
		Change:      field.Changes("EKS changes the labels of the nodes that run, too"),
		AzureChange: field.Changes("AKS changes the labels of the nodes that run, too"),
	},
	"Taints": {
		Change:      field.Changes("EKS changes the taints of the nodes that run, too; NoExecute evicts pods"),
		AzureChange: field.Changes("AKS changes the taints of the nodes that run, too; NoExecute evicts pods"),
		Unordered:   true,
	},
})

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

var sizeFields = field.Of[Size](map[string]field.Descriptor{
	"Min": {
		Rule:        strict.Rule{Least: new(0), Default: defaultMinSize},
		Change:      field.Changes("EKS starts nodes when there are too few"),
		AzureChange: field.Changes("AKS starts nodes when there are too few"),
	},
	"Max": {
		Rule:        strict.Rule{Least: new(1)},
		Change:      field.Changes("EKS drains and stops nodes when there are too many"),
		AzureChange: field.Changes("AKS's autoscaler makes no more nodes; it drains and stops those that there are too many"),
	},
	"Desired": {Rule: strict.Rule{Least: new(0)}, Change: field.Changes("it is the size at the start; an autoscaler owns it afterwards")},
})

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

var taintFields = field.Of[Taint](map[string]field.Descriptor{
	"Key": {
		Rule:        strict.Rule{Example: "dedicated"},
		Change:      field.Changes("EKS changes the taints of the nodes that run, too"),
		AzureChange: field.Changes("AKS changes the taints of the nodes that run, too"),
	},
	"Value": {
		Change:      field.Changes("EKS changes the taints of the nodes that run, too"),
		AzureChange: field.Changes("AKS changes the taints of the nodes that run, too"),
	},
	"Effect": {
		Rule:        strict.Rule{What: "a taint effect", Allowed: form.Texts(NoSchedule, PreferNoSchedule, NoExecute)},
		Change:      field.Changes("EKS changes the taints of the nodes that run, too; NoExecute evicts pods"),
		AzureChange: field.Changes("AKS changes the taints of the nodes that run, too; NoExecute evicts pods"),
	},
})

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

var managedAddonFields = field.Of[ManagedAddon](map[string]field.Descriptor{
	"Name": {
		Rule: strict.Rule{
			What: "the name of an EKS addon", Example: "vpc-cni",
			Pattern: regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]*$`), MaxLength: 100,
		},
		Change: field.Changes("EKS installs the addon of the new name, and deletes that of the old one"),
	},
	"Version": {
		Rule: strict.Rule{
			What: "the version of an EKS addon", Example: "v1.20.1-eksbuild.1",
			Pattern: regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+-eksbuild\.[0-9]+$`),
		},
		Change: field.Changes("EKS updates the addon in the cluster; one without a version follows AWS's default for the Kubernetes version"),
	},
	"Configuration": {Change: field.Changes("EKS updates the addon in the cluster")},
	"Identity":      {Change: field.Changes("the role is made, changed or deleted, and EKS updates the addon, whose pods start anew")},
})

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

var addonIdentityFields = field.Of[AddonIdentity](map[string]field.Descriptor{
	"RoleARN": {
		Rule: strict.Rule{
			What: "the ARN of an IAM role", Pattern: form.RoleARN,
			Example: "arn:aws:iam::111122223333:role/ebs-csi",
		},
		Change: field.Changes("EKS updates the addon, whose pods start anew with the other role"),
	},
	"Namespace": {Rule: form.Label("kube-system"), Change: field.Changes("the role trusts the service account there")},
	"ServiceAccount": {
		Rule:   strict.Rule{What: "the name of a service account", Example: "ebs-csi-controller-sa", Pattern: form.Subdomain, MaxLength: 253},
		Change: field.Changes("the role trusts the other service account"),
	},
	"PolicyARNs": {
		Rule: strict.Rule{
			What: "the ARN of an IAM policy", Noun: "policy", Pattern: form.PolicyARN,
			Example: "arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy",
		},
		Change: field.Changes("the role gets and loses policies"),
	},
	"Statements": {Change: field.Changes("the policy of the role changes")},
})

// Namespace that bootstrap creates. GitOps may add to its metadata.
type Namespace struct {
	// Name, a DNS label, unique in the file.
	Name string `yaml:"name"`
	// Labels of the namespace.
	Labels map[string]string `yaml:"labels,omitempty"`
	// Annotations of the namespace.
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

var namespaceFields = field.Of[Namespace](map[string]field.Descriptor{
	"Name":        {Rule: form.Label("monitoring"), Change: field.Changes("the namespace of the new name is made, and that of the old one is deleted with everything in it")},
	"Labels":      {Change: field.Changes("the labels of the namespace change")},
	"Annotations": {Change: field.Changes("the annotations of the namespace change")},
})

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

var serviceFields = field.Of[Service](map[string]field.Descriptor{
	"Name": {
		Rule:        form.Label("external-dns"),
		Change:      field.Changes("the role and the ConfigMap of the new name are made, and those of the old one deleted"),
		AzureChange: field.Changes("the identity and the ConfigMap of the new name are made, and those of the old one deleted"),
	},
	"Namespace": {
		Rule:        form.Label("external-dns"),
		Change:      field.Changes("the ConfigMap is made in the new namespace, and the role trusts the service account there"),
		AzureChange: field.Changes("the ConfigMap is made in the new namespace, and the identity trusts the service account there"),
	},
	"Identity": {
		Change: []field.Case{
			{When: "removed", Effect: field.InPlace, Words: "the role is deleted, and pods lose its rights", Applies: field.Change.TakesAway},
			{Effect: field.InPlace, Words: "the role is made; pods get it when they start anew"},
		},
		AzureChange: []field.Case{
			{When: "removed", Effect: field.InPlace, Words: "the identity is deleted, and pods lose its rights", Applies: field.Change.TakesAway},
			{Effect: field.InPlace, Words: "the identity is made; pods get it when they start anew"},
		},
	},
	"Values": {Change: field.Changes(valuesWords)},
})

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

var identityFields = field.Of[Identity](map[string]field.Descriptor{
	"ServiceAccount": {
		Rule: strict.Rule{
			What: "the name of a service account", Example: "external-dns",
			Pattern: form.Subdomain, MaxLength: 253, Advice: form.AsLabel,
		},
		Change:      field.Changes("the role trusts another service account; pods of the old one lose its rights"),
		AzureChange: field.Changes("the identity trusts another service account; pods of the old one lose its rights"),
	},
	"Mode": {
		Rule:        strict.Rule{What: "an identity mode", Allowed: form.Texts(IRSA, PodIdentity), Default: IRSA},
		AzureRule:   &strict.Rule{What: "an identity mode of Azure", Allowed: form.Texts(WorkloadIdentity), Default: WorkloadIdentity},
		Change:      field.Changes("the role trusts another issuer of credentials; pods get them when they start anew"),
		AzureChange: field.Changes("there is one mode on Azure"),
	},
	"RoleARN": {
		Rule: strict.Rule{
			What: "the ARN of an IAM role", Pattern: form.RoleARN,
			Example: "arn:aws:iam::111122223333:role/orders",
		},
		Change:  field.Changes("the service account gets the other role; core's own, where there was one, is deleted; pods get the rights when they start anew"),
		Instead: "roles",
		Remedy:  "use roles: the identity is core's, and gets the roles that the list names",
	},
	"PolicyARNs": {
		Rule: strict.Rule{
			What: "the ARN of an IAM policy", Pattern: form.PolicyARN,
			Example: "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess",
		},
		Change:  field.Changes("policies are attached to the role or detached"),
		Instead: "roles",
		Remedy:  "use roles, each with a scope",
	},
	"Statements": {Change: field.Changes("the role's own policy changes"), Instead: "roles", Remedy: "use roles, each with a scope"},
	"Roles":      {Change: field.Changes(aksRoleWords), Instead: "statements", Remedy: "use policyArns or statements", Unordered: true},
})

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

var roleGrantFields = field.Of[RoleGrant](map[string]field.Descriptor{
	"Role": {AzureRule: &strict.Rule{What: "a role", Example: azurefacts.KeyVaultSecretsUser, Pattern: form.RoleText}, AzureChange: field.Changes(aksRoleWords)},
	"Scope": {
		AzureRule:   &strict.Rule{What: "the id of a resource or a resource group", Example: form.ExampleGroup, Pattern: form.RoleScope, Advice: form.IDAdvice(form.RoleScope)},
		AzureChange: field.Changes(aksRoleWords),
	},
	"Reason": {AzureChange: field.Changes("it explains the scope; nothing in the cluster changes")},
})

// Statement allows actions on resources.
type Statement struct {
	// Actions, such as s3:GetObject or s3:Get*. A bare * and s3:* are refused.
	Actions []string `yaml:"actions"`
	// Resources as ARNs. A bare * needs Reason.
	Resources []string `yaml:"resources"`
	// Reason explains a * in Resources.
	Reason string `yaml:"reason,omitempty"`
}

var statementFields = field.Of[Statement](map[string]field.Descriptor{
	"Actions": {
		Rule: strict.Rule{
			What: "an IAM action", Noun: "action", Example: "s3:GetObject",
			Pattern: form.Action, MinItems: 1,
		},
		Change: field.Changes("the role's own policy changes"),
	},
	"Resources": {
		Rule: strict.Rule{
			What: "an ARN", Noun: "resource", Example: "arn:aws:s3:::my-bucket/*",
			Pattern: form.Resource, MinItems: 1,
		},
		Change: field.Changes("the role's own policy changes"),
	},
	"Reason": {Change: field.Changes("it explains the statement; nothing in the cluster changes")},
})

func subnetIDs(minItems int) strict.Rule {
	return strict.Rule{
		What: "a subnet id", Noun: "subnet", Example: "subnet-0123456789abcdef0",
		Pattern: regexp.MustCompile(`^subnet-[0-9a-f]{8}([0-9a-f]{9})?$`), MinItems: minItems,
	}
}

func aksVersionRule(example string) strict.Rule {
	return strict.Rule{
		What: "a supported version of Kubernetes on AKS", Example: example, Allowed: azurefacts.Calendar.Minors(),
		Advice: versionsAdvice("AKS", azurefacts.Calendar.Minors()),
	}
}

// azureRegionAdvice knows a region by the name that the portal shows, too.
func azureRegionAdvice(s string) string {
	name := strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "").Replace(s))
	if slices.Contains(azurefacts.Regions(), name) {
		return "write " + name
	}
	if near := wording.Nearest(name, azurefacts.Regions()); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return "use a name that `az account list-locations --query [].name` prints, such as germanywestcentral"
}

// versionsAdvice does not suggest the nearest of a service's versions: 1.27 is not a typing
// error for 1.32.
func versionsAdvice(service string, versions []string) func(string) string {
	return func(s string) string {
		for _, version := range versions {
			if strings.TrimPrefix(s, "v") == version || strings.HasPrefix(strings.TrimPrefix(s, "v"), version+".") {
				return fmt.Sprintf("use %s: %s chooses the patch", wording.Quote(version), service)
			}
		}
		return "use " + wording.Or(versions)
	}
}

// leavesZones says that a zone of the control plane is gone.
func leavesZones(c field.Change) bool {
	zones, _ := c.After.([]string)
	return slices.ContainsFunc(c.ControlPlaneZones, func(zone string) bool { return !slices.Contains(zones, zone) })
}

// lacksRoom says that the block has no room for the subnets of another zone.
func lacksRoom(c field.Change) bool {
	zones, _ := c.After.([]string)
	return !c.HasRoom(zones)
}
