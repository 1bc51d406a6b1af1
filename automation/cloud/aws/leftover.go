package aws

import (
	"slices"
	"strings"

	"tombolo/automation/teardown"
)

// kind of cloud resources.
type kind struct {
	// service and resource begin an CloudID: "ec2" and "volume/".
	service, resource string
	name, token       string
	// id is the provider's import form. Default: what follows the resource.
	id func(a arn) string
	// rank says when a resource of the kind is deleted; lower goes first.
	rank int
	// passes: see teardown.Leftover.
	passes bool
	// made says that controllers on a cluster make such resources.
	made bool
	// network says that it is part of a network, which only core makes.
	network bool
	// part of another resource, with which it goes.
	part bool
}

// interfaceKind is the name of a kind.
const interfaceKind = "network interface"

// kinds that can be left over, the first that fits an ARN. Source of the ARNs:
// https://docs.aws.amazon.com/service-authorization/latest/reference/
func kinds() []kind {
	whole := func(a arn) string { return a.text }
	return []kind{
		{service: "elasticloadbalancing", resource: "loadbalancer/app/", name: "load balancer", token: "aws:lb/loadBalancer:LoadBalancer", id: whole, passes: true, made: true},
		{service: "elasticloadbalancing", resource: "loadbalancer/net/", name: "load balancer", token: "aws:lb/loadBalancer:LoadBalancer", id: whole, passes: true, made: true},
		{service: "elasticloadbalancing", resource: "loadbalancer/", name: "classic load balancer", token: "aws:elb/loadBalancer:LoadBalancer", passes: true, made: true},
		{service: "elasticloadbalancing", resource: "targetgroup/", name: "target group", token: "aws:lb/targetGroup:TargetGroup", id: whole, rank: 1, made: true},
		{service: "elasticloadbalancing", resource: "listener", part: true},
		{service: "ec2", resource: "instance/", name: "instance", token: "aws:ec2/instance:Instance", passes: true, made: true},
		{service: "ec2", resource: "volume/", name: "volume", token: "aws:ebs/volume:Volume", rank: 2, passes: true, made: true},
		{service: "ec2", resource: "network-interface/", name: interfaceKind, token: "aws:ec2/networkInterface:NetworkInterface", rank: 2, passes: true, made: true},
		{service: "ec2", resource: "security-group-rule/", part: true},
		{service: "ec2", resource: "security-group/", name: "security group", token: "aws:ec2/securityGroup:SecurityGroup", rank: 3, made: true},
		{service: "ec2", resource: "snapshot/", name: "snapshot", token: "aws:ebs/snapshot:Snapshot", rank: 3, made: true},
		{service: "ec2", resource: "launch-template/", name: "launch template", token: "aws:ec2/launchTemplate:LaunchTemplate", rank: 1, made: true},
		{service: "ec2", resource: "elastic-ip/", name: "elastic IP", token: "aws:ec2/eip:Eip", rank: 3, network: true},
		{service: "ec2", resource: "natgateway/", name: "NAT gateway", token: "aws:ec2/natGateway:NatGateway", rank: 2, network: true},
		{service: "ec2", resource: "vpc-endpoint/", name: "VPC endpoint", token: "aws:ec2/vpcEndpoint:VpcEndpoint", rank: 2, network: true},
		{service: "ec2", resource: "internet-gateway/", name: "internet gateway", token: "aws:ec2/internetGateway:InternetGateway", rank: 4, network: true},
		{service: "ec2", resource: "route-table/", name: "route table", token: "aws:ec2/routeTable:RouteTable", rank: 4, network: true},
		{service: "ec2", resource: "subnet/", name: "subnet", token: "aws:ec2/subnet:Subnet", rank: 5, network: true},
		{service: "ec2", resource: "vpc/", name: "VPC", token: "aws:ec2/vpc:Vpc", rank: 6, network: true},
		{service: "elasticfilesystem", resource: "access-point/", name: "access point", token: "aws:efs/accessPoint:AccessPoint", rank: 1, made: true},
		{service: "elasticfilesystem", resource: "file-system/", name: "file system", token: "aws:efs/fileSystem:FileSystem", rank: 3},
		{service: "s3", name: "bucket", token: "aws:s3/bucketV2:BucketV2", rank: 3},
		{service: "logs", resource: "log-group:", name: "log group", token: "aws:cloudwatch/logGroup:LogGroup", rank: 3},
		{service: "sqs", name: "queue", token: "aws:sqs/queue:Queue", id: func(a arn) string { return queueURL(a.scope, a.resource) }, rank: 3},
		{service: "kms", resource: "key/", name: "key", token: "aws:kms/key:Key", rank: 6},
		{service: "acm", resource: "certificate/", name: "certificate", token: "aws:acm/certificate:Certificate", id: whole, rank: 3},
		{service: "eks", resource: "cluster/", name: "EKS cluster", token: "aws:eks/cluster:Cluster", rank: 2},
		{service: "eks", resource: "nodegroup/", part: true},
		{service: "eks", resource: "addon/", part: true},
		{service: "eks", resource: "access-entry/", part: true},
		{service: "eks", resource: "podidentityassociation/", part: true},
		{service: "eks", resource: "identityproviderconfig/", part: true},
		{service: "autoscaling", resource: "autoScalingGroup:", part: true},
	}
}

// kindOf is the kind of an ARN. Of EC2, what is not known counts as part of a network.
func kindOf(a arn) (kind, bool) {
	for _, k := range kinds() {
		if k.service == a.service && strings.HasPrefix(a.resource, k.resource) {
			return k, true
		}
	}
	return kind{network: a.service == "ec2"}, false
}

// Identify tells by its ARN what a resource is. It is not one of its own when it
// goes with another, as a listener goes with its load balancer.
func Identify(text string, tags map[string]string) (l teardown.Leftover, ok bool) {
	a, ok := parseARN(text)
	if !ok {
		return teardown.Leftover{Kind: "resource", ID: text, CloudID: text}, true
	}
	if k, known := kindOf(a); known {
		rest := strings.TrimPrefix(a.resource, k.resource)
		l := teardown.Leftover{Kind: k.name, ID: rest, Name: tags["Name"], CloudID: text, Type: k.token, Rank: k.rank}
		claimed := k.name == "volume" && tagged(tags, "ebs.csi.aws.com/cluster", "CSIVolumeName", "kubernetes.io/created-for/pvc/name")
		l.Passes, l.Data = k.passes && !claimed, Cloud{}.Data(k.token) == teardown.HoldsData || claimed
		l.GoesWithCore = goesWithCore(k.name, tags, claimed)
		if k.id != nil {
			l.ID = k.id(a)
		}
		return l, !k.part
	}
	return teardown.Leftover{Kind: a.service + " resource", ID: text, CloudID: text}, true
}

// goesWithCore says that AWS has made the resource for the managed cluster or
// one of its nodes, and takes it away with them. claimed is a volume that was made
// for a claim.
func goesWithCore(kind string, tags map[string]string, claimed bool) bool {
	byKarpenter := tagged(tags, "karpenter.sh/nodepool", "karpenter.sh/nodeclaim")
	switch kind {
	case "instance":
		return !byKarpenter
	case "volume":
		return !byKarpenter && !claimed
	case "launch template":
		return tagged(tags, "eks:nodegroup-name")
	case "security group":
		return tagged(tags, "aws:eks:cluster-name")
	case interfaceKind:
		return tagged(tags, "node.k8s.amazonaws.com/instance_id", "eks:eni:owner")
	}
	return false
}

func tagged(tags map[string]string, keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { _, ok := tags[key]; return ok })
}
