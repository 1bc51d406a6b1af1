package teardown

import (
	"fmt"
	"slices"
	"strings"
)

// Leftover is a cloud resource that carries a cluster's tags, or its name.
type Leftover struct {
	// Kind for people, such as "load balancer".
	Kind string `json:"kind"`
	// ID in the cloud.
	ID string `json:"id"`
	// Name in the cloud, where it has one beside its id.
	Name string `json:"name,omitempty"`
	// ARN of the resource.
	ARN string `json:"arn,omitempty"`

	// Type is the provider's type token; empty when it is not known, and the
	// resource can neither be looked at nor deleted by it.
	Type string `json:"-"`
	// Tags of the resource.
	Tags map[string]string `json:"-"`

	rank   int
	passes bool
}

// String names the resource for people.
func (l Leftover) String() string {
	if l.Name != "" && l.Name != l.ID {
		return fmt.Sprintf("%s %s (%s)", l.Kind, l.ID, l.Name)
	}
	return l.Kind + " " + l.ID
}

// Passes says that a controller makes such a resource and deletes it, which
// takes the cloud some time. What core makes does not pass: no controller deletes
// it. A claim's volume does not pass either: it was deleted before the claim was
// gone, or is to stay.
func (l Leftover) Passes() bool { return l.passes && !l.ofClaim() }

// Data says that people keep something in the resource: a bucket, a file system,
// a snapshot, or a volume that has outlived its claim.
func (l Leftover) Data() bool {
	return slices.Contains([]string{"bucket", "file system", "snapshot"}, l.Kind) || l.ofClaim()
}

// ofClaim says that the resource is a volume that was made for a claim.
func (l Leftover) ofClaim() bool {
	return l.Kind == "volume" && l.tagged("ebs.csi.aws.com/cluster", "CSIVolumeName", "kubernetes.io/created-for/pvc/name")
}

func (l Leftover) tagged(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { _, ok := l.Tags[key]; return ok })
}

// kind of cloud resources.
type kind struct {
	// service and resource begin an ARN: "ec2" and "volume/".
	service, resource string
	name, token       string
	// id is the provider's import form. Default: what follows the resource.
	id func(a arn) string
	// rank says when a resource of the kind is deleted; lower goes first.
	rank int
	// passes: see Leftover.
	passes bool
	// part of another resource, with which it goes.
	part bool
}

// kinds that can be left over, the first that fits an ARN. Source of the ARNs:
// https://docs.aws.amazon.com/service-authorization/latest/reference/
func kinds() []kind {
	whole := func(a arn) string { return a.text }
	return []kind{
		{service: "elasticloadbalancing", resource: "loadbalancer/app/", name: "load balancer", token: "aws:lb/loadBalancer:LoadBalancer", id: whole, passes: true},
		{service: "elasticloadbalancing", resource: "loadbalancer/net/", name: "load balancer", token: "aws:lb/loadBalancer:LoadBalancer", id: whole, passes: true},
		{service: "elasticloadbalancing", resource: "loadbalancer/", name: "classic load balancer", token: "aws:elb/loadBalancer:LoadBalancer", passes: true},
		{service: "elasticloadbalancing", resource: "targetgroup/", name: "target group", token: "aws:lb/targetGroup:TargetGroup", id: whole, rank: 1},
		{service: "elasticloadbalancing", resource: "listener", part: true},
		{service: "ec2", resource: "instance/", name: "instance", token: "aws:ec2/instance:Instance", passes: true},
		{service: "ec2", resource: "volume/", name: "volume", token: "aws:ebs/volume:Volume", rank: 2, passes: true},
		{service: "ec2", resource: "network-interface/", name: "network interface", token: "aws:ec2/networkInterface:NetworkInterface", rank: 2, passes: true},
		{service: "ec2", resource: "security-group-rule/", part: true},
		{service: "ec2", resource: "security-group/", name: "security group", token: "aws:ec2/securityGroup:SecurityGroup", rank: 3},
		{service: "ec2", resource: "snapshot/", name: "snapshot", token: "aws:ebs/snapshot:Snapshot", rank: 3},
		{service: "ec2", resource: "launch-template/", name: "launch template", token: "aws:ec2/launchTemplate:LaunchTemplate", rank: 1},
		{service: "ec2", resource: "elastic-ip/", name: "elastic IP", token: "aws:ec2/eip:Eip", rank: 3},
		{service: "ec2", resource: "natgateway/", name: "NAT gateway", token: "aws:ec2/natGateway:NatGateway", rank: 2},
		{service: "ec2", resource: "vpc-endpoint/", name: "VPC endpoint", token: "aws:ec2/vpcEndpoint:VpcEndpoint", rank: 2},
		{service: "ec2", resource: "internet-gateway/", name: "internet gateway", token: "aws:ec2/internetGateway:InternetGateway", rank: 4},
		{service: "ec2", resource: "route-table/", name: "route table", token: "aws:ec2/routeTable:RouteTable", rank: 4},
		{service: "ec2", resource: "subnet/", name: "subnet", token: "aws:ec2/subnet:Subnet", rank: 5},
		{service: "ec2", resource: "vpc/", name: "VPC", token: "aws:ec2/vpc:Vpc", rank: 6},
		{service: "elasticfilesystem", resource: "access-point/", name: "access point", token: "aws:efs/accessPoint:AccessPoint", rank: 1},
		{service: "elasticfilesystem", resource: "file-system/", name: "file system", token: "aws:efs/fileSystem:FileSystem", rank: 3},
		{service: "s3", name: "bucket", token: "aws:s3/bucketV2:BucketV2", rank: 3},
		{service: "logs", resource: "log-group:", name: "log group", token: "aws:cloudwatch/logGroup:LogGroup", rank: 3},
		{service: "sqs", name: "queue", token: "aws:sqs/queue:Queue", id: queueURL, rank: 3},
		{service: "kms", resource: "key/", name: "key", token: "aws:kms/key:Key", rank: 6},
		{service: "acm", resource: "certificate/", name: "certificate", token: "aws:acm/certificate:Certificate", id: whole, rank: 3},
		{service: "eks", resource: "cluster/", name: "EKS cluster", token: "aws:eks/cluster:Cluster", rank: 2},
		{service: "eks", resource: "nodegroup/", part: true},
		{service: "eks", resource: "addon/", part: true},
		{service: "eks", resource: "access-entry/", part: true},
		{service: "eks", resource: "podidentityassociation/", part: true},
		{service: "autoscaling", resource: "autoScalingGroup:", part: true},
	}
}

// arn is an Amazon resource name and its fields.
type arn struct {
	text, partition, service, region, account, resource string
}

func parseARN(text string) (arn, bool) {
	f := strings.SplitN(text, ":", 6)
	if len(f) != 6 || f[0] != "arn" {
		return arn{}, false
	}
	return arn{text: text, partition: f[1], service: f[2], region: f[3], account: f[4], resource: f[5]}, true
}

// queueURL is a queue's id.
func queueURL(a arn) string {
	suffix := "amazonaws.com"
	if a.partition == "aws-cn" {
		suffix = "amazonaws.com.cn"
	}
	return "https://sqs." + a.region + "." + suffix + "/" + a.account + "/" + a.resource
}

// Identify tells by its ARN what a resource is. It is none of its own when it
// goes with another, as a listener goes with its load balancer.
func Identify(text string, tags map[string]string) (l Leftover, ok bool) {
	a, ok := parseARN(text)
	if !ok {
		return Leftover{Kind: "resource", ID: text, ARN: text, Tags: tags}, true
	}
	for _, k := range kinds() {
		rest, fits := strings.CutPrefix(a.resource, k.resource)
		if k.service != a.service || !fits {
			continue
		}
		l := Leftover{Kind: k.name, ID: rest, Name: tags["Name"], ARN: text, Type: k.token, Tags: tags, rank: k.rank, passes: k.passes}
		if k.id != nil {
			l.ID = k.id(a)
		}
		return l, !k.part
	}
	return Leftover{Kind: a.service + " resource", ID: text, ARN: text, Tags: tags}, true
}

// Sort puts resources into the order in which they can be deleted.
func Sort(all []Leftover) {
	slices.SortStableFunc(all, func(a, b Leftover) int {
		if a.rank != b.rank {
			return a.rank - b.rank
		}
		return strings.Compare(a.String(), b.String())
	})
}

// Rank says when a resource is deleted: those of a lower rank go before.
func (l Leftover) Rank() int { return l.rank }

// GoesWithCore says that AWS has made the resource for the managed cluster or
// one of its nodes, and takes it away with them.
func (l Leftover) GoesWithCore() bool {
	byKarpenter := l.tagged("karpenter.sh/nodepool", "karpenter.sh/nodeclaim")
	switch l.Kind {
	case "instance":
		return !byKarpenter
	case "volume":
		return !byKarpenter && !l.ofClaim()
	case "launch template":
		return l.tagged("eks:nodegroup-name")
	case "security group":
		return l.tagged("aws:eks:cluster-name")
	case "network interface":
		return l.tagged("node.k8s.amazonaws.com/instance_id", "eks:eni:owner")
	}
	return false
}
