package aws

import (
	"slices"
	"strings"

	"tombolo/automation/drift"
)

// makers are what makes resources for a cluster besides its stacks, by a tag that each of
// them sets. Sources: the tagging pages of Amazon EKS, EC2 Auto Scaling and AWS Backup, AWS's
// policy AmazonEKSComputePolicy, and the documentation of the AWS Load Balancer Controller,
// the EBS and EFS CSI drivers, the AWS cloud provider and Karpenter.
var makers = drift.Makers{
	{"karpenter.sh/nodepool", "Karpenter"},
	{"karpenter.sh/nodeclaim", "Karpenter"},
	{"eks:nodegroup-name", "EKS node groups"},
	{"eks:kubernetes-node-pool-name", "EKS Auto Mode"},
	{"aws:autoscaling:groupName", "EKS node groups"},
	{"aws:eks:cluster-name", "EKS"},
	{"elbv2.k8s.aws/cluster", "the AWS Load Balancer Controller"},
	{"kubernetes.io/service-name", "the AWS cloud provider"},
	{"ebs.csi.aws.com/cluster", "the EBS CSI driver"},
	{"kubernetes.io/created-for/pvc/name", "the EBS CSI driver"},
	{"efs.csi.aws.com/cluster", "the EFS CSI driver"},
	{"aws:backup:source-resource", "AWS Backup"},
}

// Maker is what makes resources with such tags besides the stacks.
func (Cloud) Maker(tags map[string]string) string { return makers.Of(tags) }

// SetByOthers says that the number of nodes of a group is for autoscalers.
func (Cloud) SetByOthers(typ, property string) bool {
	return typ == "aws:eks/nodeGroup:NodeGroup" && property == "scalingConfig.desiredSize"
}

// Name reads an CloudID: arn:partition:service:region:account:type/id, or type:id, or
// only the id. Only EC2's ids, and those of the other services that choose them at
// random, tell resources of all types apart: what has a name of its own is known by
// its ARN.
func (Cloud) Name(text string) drift.Named {
	a, ok := parseARN(text)
	if !ok {
		a.resource = text
	}
	named := drift.Named{
		Type: a.service, Name: a.resource[strings.LastIndexAny(a.resource, ":/")+1:],
		Unique: slices.Contains([]string{"ec2", "elasticfilesystem", "kms", "route53"}, a.service),
	}
	if i := strings.IndexAny(a.resource, ":/"); i > 0 {
		named.Type += ":" + a.resource[:i]
	}
	return named
}
