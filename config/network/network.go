// Package network has the network of a cluster: one that core makes, or one of others. A VPC's block
// and a subnet's cannot be changed once they are made
// (https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html), and a cluster's subnets stay
// in the VPC and in the zones of its creation
// (https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html).
package network

import (
	"cmp"
	"regexp"
	"slices"

	"tombolo/config/awsfacts"
	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
)

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
		Own: true, Rule: form.IPv4Block("10.0.0.0/16"),
		Change: []field.Case{
			{Effect: field.NeedsRebuild, Words: "AWS changes the block of neither a VPC nor a subnet, and EKS keeps its VPC", Remedy: field.RebuildRemedy},
		},
		AzureChange: field.Keeps("Azure changes the block of no subnet that nodes are in"),
	},
	"Zones": {
		Rule: strict.Rule{What: "an availability zone", Noun: "zone", Example: "eu-central-1a", Pattern: form.RegionZone, MinItems: 2},
		Change: []field.Case{
			{
				When: "without one of the control plane's", Effect: field.NeedsRebuild, Applies: leavesZones, Words: "the control plane keeps the zones of its creation",
				Remedy: "keep its zones, and add others beside them; or make the cluster anew: `tombolo destroy`, then `tombolo up`",
			},
			{
				When: "one too many for the block", Effect: field.NeedsRebuild, Applies: lacksRoom, Words: "the block has no room for its subnets beside those that are there, and AWS moves none",
				Remedy: "take the zone out, or make the cluster anew with a larger block: `tombolo destroy`, then `tombolo up`",
			},
			{When: "added, or one of the nodes' alone removed", Effect: field.ReplacesNodeGroup, Words: "subnets for nodes come or go, and every node group is replaced; the control plane stays in its zones"},
		},
		Remedy: "remove it: on Azure a network spans all zones, and nodeGroups[].zones says where nodes are", Unordered: true,
	},
	"NAT": {
		Rule: strict.Rule{What: "a kind of NAT", Allowed: form.Texts(NATNone, NATSingle, NATPerZone), Default: NATSingle},
		Change: []field.Case{
			{When: "to none", Effect: field.InPlace, Words: "the gateways are deleted, and nodes lose the internet", Applies: func(c field.Change) bool { return c.After == string(NATNone) }},
			{Effect: field.InPlace, Words: "gateways are made or deleted, and routes follow; connections through a gateway that goes are cut"},
		},
		Instead: "outbound", Remedy: "use outbound: nat-gateway or load-balancer",
	},
	"Endpoints": {
		Rule: strict.Rule{What: "the short name of an AWS service", Example: "s3 or ecr.api", Pattern: regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)*$`), Default: defaultEndpoints()},
		Change: []field.Case{
			{When: "with a proxy", Effect: field.RollsNodes, Applies: field.Change.GoesByProxy, Words: "endpoints are made or deleted, and what is reached without the proxy changes with them: " + field.RollsAll},
			{Effect: field.InPlace, Words: "endpoints are made or deleted; connections through one that goes are cut"},
		},
		Remedy: "remove it: core makes no endpoints on Azure", Unordered: true,
	},
	"FlowLogs": {
		Change: field.Changes("a flow log is made, or deleted with its log group and what is in it; a bucket keeps what it has"),
		Remedy: "remove it: turn on the flow logs of virtual networks in Network Watcher",
	},
	"Outbound": {
		Rule:   strict.Rule{What: "a way out", Allowed: form.Texts(OutboundNATGateway, OutboundLoadBalancer, OutboundRoutes)},
		Change: field.Keeps("the provider replaces a cluster whose way out changes"), Instead: "nat", Remedy: "use nat: none, single or per-zone",
	},
	"Existing": {
		Change: []field.Case{
			{Effect: field.NeedsRebuild, Words: "EKS keeps the VPC of the cluster's creation", Remedy: field.RebuildRemedy},
		},
		AzureChange: field.Keeps("AKS keeps the network of the cluster's creation"),
	},
})

// SetDefaults fills in what the file leaves out of a network that core makes.
func (n *Network) SetDefaults(p field.Provider) {
	switch {
	case n.Existing != nil:
		return
	case p == field.Azure:
		n.Outbound = cmp.Or(n.Outbound, OutboundNATGateway)
	}
	Fields.SetDefaults(p, n)
	if f := n.FlowLogs; f != nil {
		f.Traffic = cmp.Or(f.Traffic, AllTraffic)
		if f.To == FlowLogsToCloudWatch {
			f.RetentionDays = cmp.Or(f.RetentionDays, form.LogRetentionDays)
		}
	}
}

func defaultEndpoints() []string { return []string{"s3"} }

// Group is the subscription and the resource group of an existing network in Azure.
func (n Network) Group() (subscription, group string) {
	if n.Existing == nil {
		return "", ""
	}
	m := form.NodeSubnet.FindStringSubmatch(n.Existing.NodeSubnet)
	if m == nil {
		return "", ""
	}
	return m[1], m[2]
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

var flowLogsFields = field.Of[FlowLogs](map[string]field.Descriptor{
	"To": {
		Rule:   strict.Rule{What: "a target of flow logs", Allowed: form.Texts(FlowLogsToCloudWatch, FlowLogsToS3)},
		Change: field.Changes("another flow log is made; from cloudwatch, the log group is deleted with what is in it"),
	},
	"BucketARN": {
		Rule:   strict.Rule{What: "the ARN of a bucket", Example: "arn:aws:s3:::acme-logs/vpc", Pattern: flowLogBucket},
		Change: field.Changes("another flow log is made for the bucket; the old one keeps what it has"),
	},
	"Traffic": {
		Rule:   strict.Rule{What: "a kind of traffic", Allowed: form.Texts(AllTraffic, AcceptedTraffic, RejectedTraffic), Default: AllTraffic},
		Change: field.Changes("another flow log is made, and the old one is deleted"),
	},
	"RetentionDays": {
		Rule:   strict.Rule{What: "a retention that CloudWatch offers", Numbers: awsfacts.RetentionDays, Default: form.LogRetentionDays},
		Change: field.Changes("the retention of the log group changes; a shorter one deletes older logs"),
	},
	"KMSKeyARN": {
		KeyRemedy: "use a key of the cluster's region, or leave it out for a key of CloudWatch's", Rule: form.KMSKeyARN(),
		Change: field.Changes("CloudWatch encrypts what comes from now on by the key; older logs stay under the key that they have"),
	},
})

// flowLogBucket is the ARN of a bucket, with a folder or without.
var flowLogBucket = regexp.MustCompile(`^arn:(aws|aws-cn|aws-us-gov):s3:::[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9!_.*'()/-]*)?$`)

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
		Change: field.Keeps("AKS keeps the subnet of the cluster's creation"), Instead: "privateSubnets", Remedy: "use vpc and privateSubnets",
	},
	"GrantAccess": {
		Rule: strict.Rule{Default: false}, Change: field.Changes("core gives the control plane's identity its rights in the subnet, or takes away those that it gave"),
		Remedy: "remove it: EKS needs no right in the subnets",
	},
	"VPC": {
		Rule:   strict.Rule{What: "a VPC id", Example: "vpc-0123456789abcdef0", Pattern: regexp.MustCompile(`^vpc-[0-9a-f]{8}([0-9a-f]{9})?$`)},
		Change: field.Keeps("EKS keeps the VPC of the cluster's creation"), Instead: "nodeSubnet", Remedy: "use nodeSubnet, which names the network with the subnet",
	},
	"Account": {Rule: form.AWSAccount(), Change: field.Changes("the policies of Karpenter and of the load balancer controller change"), Remedy: "remove it: the id in nodeSubnet has the subscription"},
	"PrivateSubnets": {
		Rule: SubnetIDs(2), Change: field.Always(field.ReplacesNodeGroup, "every node group is replaced; the control plane's own subnets have to stay in the zones of its creation"),
		Instead: "nodeSubnet", Remedy: "use nodeSubnet, one subnet by its id", Unordered: true,
	},
	"ControlPlaneSubnets": {
		// An empty list would leave the control plane without a network.
		Rule: SubnetIDs(2), Change: field.Changes("EKS moves the control plane's interfaces into the subnets; it refuses another VPC, " + "and other zones than those of the creation"),
		Remedy: "remove it: AKS keeps its control plane outside of your network", Unordered: true,
	},
	"PublicSubnets": {
		Rule: SubnetIDs(0), Change: field.Changes("the infra ConfigMap changes; nothing in the network does"), Remedy: "remove it: public load balancers need no subnet of their own",
		Unordered: true,
	},
})

// SubnetIDs is the rule of a list of subnets.
func SubnetIDs(minItems int) strict.Rule {
	return strict.Rule{
		What: "a subnet id", Noun: "subnet", Example: "subnet-0123456789abcdef0",
		Pattern: regexp.MustCompile(`^subnet-[0-9a-f]{8}([0-9a-f]{9})?$`), MinItems: minItems,
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

// Fields are the descriptors of the package.
var Fields = field.Join(networkFields, flowLogsFields, existingNetworkFields)
