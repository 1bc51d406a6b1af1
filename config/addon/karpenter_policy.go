package addon

import "cmp"

// karpenterStatements allow Karpenter to make, tag and end what carries the
// cluster's tag, and to use the queue and the one node role. The actions and
// tags are those of the controller policies in Karpenter's CloudFormation
// reference, version 1.14, without the management of instance profiles: core
// makes the only one; and without zonal shift, which the release leaves off.
func karpenterStatements(f Facts) []Statement {
	instances := []string{
		f.ec2("fleet/*"), f.ec2("instance/*"), f.ec2("volume/*"), f.ec2("network-interface/*"),
		f.ec2("launch-template/*"), f.ec2("spot-instances-request/*"),
	}
	requested := conditions{
		"StringEquals": {
			"aws:RequestTag/" + f.ClusterTag():    {"owned"},
			"aws:RequestTag/eks:eks-cluster-name": {f.NameInCloud()},
		},
		"StringLike": {"aws:RequestTag/karpenter.sh/nodepool": {"*"}},
	}
	owned := conditions{
		"StringEquals": {"aws:ResourceTag/" + f.ClusterTag(): {"owned"}},
		"StringLike":   {"aws:ResourceTag/karpenter.sh/nodepool": {"*"}},
	}
	return append([]Statement{
		{
			Sid:     "UseNetworkAndImages",
			Actions: []string{"ec2:RunInstances", "ec2:CreateFleet"},
			Resources: []string{
				f.RegionARN("ec2", "image/*"), f.RegionARN("ec2", "snapshot/*"),
				f.ec2("security-group/*"), f.shared("subnet/*"), f.ec2("capacity-reservation/*"),
				f.ec2("placement-group/*"),
			},
		},
		{
			Sid: "UseOwnLaunchTemplates", Actions: []string{"ec2:RunInstances", "ec2:CreateFleet"},
			Resources: []string{f.ec2("launch-template/*")}, Conditions: owned,
		},
		{
			Sid: "MakeTaggedInstances", Actions: []string{"ec2:RunInstances", "ec2:CreateFleet", "ec2:CreateLaunchTemplate"},
			Resources: instances, Conditions: requested,
		},
		{
			Sid: "TagWhatItMakes", Actions: []string{"ec2:CreateTags"}, Resources: instances,
			Conditions: conditions{
				"StringEquals": {
					"aws:RequestTag/" + f.ClusterTag():    {"owned"},
					"aws:RequestTag/eks:eks-cluster-name": {f.NameInCloud()},
					"ec2:CreateAction":                    {"RunInstances", "CreateFleet", "CreateLaunchTemplate"},
				},
				"StringLike": {"aws:RequestTag/karpenter.sh/nodepool": {"*"}},
			},
		},
		{
			Sid: "TagOwnInstances", Actions: []string{"ec2:CreateTags"}, Resources: []string{f.ec2("instance/*")},
			Conditions: conditions{
				"StringEquals":              owned["StringEquals"],
				"StringLike":                owned["StringLike"],
				"StringEqualsIfExists":      {"aws:RequestTag/eks:eks-cluster-name": {f.NameInCloud()}},
				"ForAllValues:StringEquals": {"aws:TagKeys": {"eks:eks-cluster-name", "karpenter.sh/nodeclaim", "Name"}},
			},
		},
		{
			Sid: "EndOwnInstances", Actions: []string{"ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"},
			Resources: []string{f.ec2("instance/*"), f.ec2("launch-template/*")}, Conditions: owned,
		},
	}, karpenterReads(f)...)
}

// ec2 is the ARN of something of EC2 in the cluster's region and account.
func (f Facts) ec2(resource string) string { return f.ARN("ec2", resource) }

// shared is the ARN of something of the VPC itself. It names the account that owns the VPC, by
// which EC2 judges a participant's request too. Sources:
// https://docs.aws.amazon.com/vpc/latest/userguide/vpc-share-limitations.html and
// https://github.com/terraform-aws-modules/terraform-aws-iam/issues/227
func (f Facts) shared(resource string) string {
	f.Account = cmp.Or(f.NetworkAccount, f.Account)
	return f.ec2(resource)
}

func karpenterReads(f Facts) []Statement {
	return []Statement{
		{
			Sid: "ReadRegion",
			Actions: []string{
				"ec2:DescribeCapacityReservations", "ec2:DescribeImages", "ec2:DescribeInstances", "ec2:DescribeInstanceStatus",
				"ec2:DescribeInstanceTypeOfferings", "ec2:DescribeInstanceTypes", "ec2:DescribeLaunchTemplates",
				"ec2:DescribePlacementGroups", "ec2:DescribeSecurityGroups", "ec2:DescribeSpotPriceHistory", "ec2:DescribeSubnets",
			},
			Resources:  []string{"*"},
			Conditions: f.inRegion(),
			Reason:     "EC2's Describe actions take no resource; the condition keeps them to the region.",
		},
		{Sid: "ReadImageParameters", Actions: []string{"ssm:GetParameter"}, Resources: []string{f.RegionARN("ssm", "parameter/aws/service/*")}},
		{
			Sid: "ReadPrices", Actions: []string{"pricing:GetProducts"}, Resources: []string{"*"},
			Reason: "Prices are public and the action takes no resource.",
		},
		{
			Sid:       "ReceiveInterruptions",
			Actions:   []string{"sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"},
			Resources: []string{f.ARN("sqs", karpenterQueue(f))},
		},
		{
			Sid: "GiveNodesTheirRole", Actions: []string{"iam:PassRole"},
			Resources:  []string{f.roleARN("karpenter-node", karpenterNodeRole(f))},
			Conditions: conditions{"StringEquals": {"iam:PassedToService": {"ec2.amazonaws.com", "ec2.amazonaws.com.cn"}}},
		},
		{
			Sid: "ReadInstanceProfile", Actions: []string{"iam:GetInstanceProfile"},
			Resources: []string{f.AccountARN("iam", "instance-profile/"+f.inPath(karpenterNodeRole(f)))},
		},
		{
			Sid: "ListInstanceProfiles", Actions: []string{"iam:ListInstanceProfiles"}, Resources: []string{"*"},
			Reason: "IAM lists instance profiles for the whole account only; Karpenter looks for its own among them.",
		},
		{Sid: "FindEndpoint", Actions: []string{"eks:DescribeCluster"}, Resources: []string{f.ClusterARN()}},
	}
}
