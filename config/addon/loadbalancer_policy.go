package addon

import "slices"

// loadBalancerTag is on all that the controller makes; its value is the
// cluster's name.
const loadBalancerTag = "elbv2.k8s.aws/cluster"

// loadBalancerStatements follow "IAM permissions" in the controller's
// installation guide, version 3.4. They are narrower in this: load balancers,
// target groups and security groups must carry the tag of this cluster, not of
// any; rules of other security groups are changed only in the cluster's own;
// and AWS WAF, Shield and server certificates of IAM are left out.
func loadBalancerStatements(f Facts) []Statement {
	return slices.Concat(
		loadBalancerReads(f), securityGroupStatements(f), balancerStatements(f), listenerStatements(f),
	)
}

func loadBalancerReads(f Facts) []Statement {
	return []Statement{
		{
			Sid: "ReadRegion",
			Actions: []string{
				"ec2:DescribeAccountAttributes", "ec2:DescribeAddresses", "ec2:DescribeAvailabilityZones",
				"ec2:DescribeCoipPools", "ec2:DescribeInstances", "ec2:DescribeInternetGateways", "ec2:DescribeIpamPools",
				"ec2:DescribeNetworkInterfaces", "ec2:DescribeRouteTables", "ec2:DescribeSecurityGroups",
				"ec2:DescribeSubnets", "ec2:DescribeTags", "ec2:DescribeVpcPeeringConnections", "ec2:DescribeVpcs",
				"ec2:GetCoipPoolUsage", "ec2:GetSecurityGroupsForVpc",
				"elasticloadbalancing:DescribeCapacityReservation", "elasticloadbalancing:DescribeListenerAttributes",
				"elasticloadbalancing:DescribeListenerCertificates", "elasticloadbalancing:DescribeListeners",
				"elasticloadbalancing:DescribeLoadBalancerAttributes", "elasticloadbalancing:DescribeLoadBalancers",
				"elasticloadbalancing:DescribeRules", "elasticloadbalancing:DescribeSSLPolicies",
				"elasticloadbalancing:DescribeTags", "elasticloadbalancing:DescribeTargetGroupAttributes",
				"elasticloadbalancing:DescribeTargetGroups", "elasticloadbalancing:DescribeTargetHealth",
				"elasticloadbalancing:DescribeTrustStores", "acm:ListCertificates",
			},
			Resources:  []string{"*"},
			Conditions: f.inRegion(),
			Reason:     "These actions only read and take no resource; the condition keeps them to the region.",
		},
		{
			Sid:       "ReadCertificatesAndUserPools",
			Actions:   []string{"acm:DescribeCertificate", "cognito-idp:DescribeUserPoolClient"},
			Resources: []string{f.ARN("acm", "certificate/*"), f.ARN("cognito-idp", "userpool/*")},
		},
		{
			Sid:        "MakeServiceLinkedRole",
			Actions:    []string{"iam:CreateServiceLinkedRole"},
			Resources:  []string{f.AccountARN("iam", "role/aws-service-role/elasticloadbalancing.amazonaws.com/*")},
			Conditions: conditions{"StringEquals": {"iam:AWSServiceName": {"elasticloadbalancing.amazonaws.com"}}},
		},
	}
}

// securityGroupStatements let it make groups with its tag, and change rules of
// these and of what EKS tagged as the cluster's: nodes take traffic there.
func securityGroupStatements(f Facts) []Statement {
	groups := []string{f.ec2("security-group/*")}
	rules := []string{"ec2:AuthorizeSecurityGroupIngress", "ec2:RevokeSecurityGroupIngress"}
	return []Statement{
		{Sid: "MakeGroupsInNetwork", Actions: []string{"ec2:CreateSecurityGroup"}, Resources: []string{f.shared("vpc/*")}},
		{
			Sid: "MakeTaggedGroups", Actions: []string{"ec2:CreateSecurityGroup"},
			Resources: groups, Conditions: requestTag(loadBalancerTag, f.NameInCloud()),
		},
		{
			Sid: "TagNewGroups", Actions: []string{"ec2:CreateTags"}, Resources: groups,
			Conditions: newTag("ec2", loadBalancerTag, f.NameInCloud(), "CreateSecurityGroup"),
		},
		{
			Sid: "TagOwnGroups", Actions: []string{"ec2:CreateTags", "ec2:DeleteTags"},
			Resources: groups, Conditions: keptOwner(f),
		},
		{
			Sid: "ChangeOwnGroups", Actions: append(slices.Clone(rules), "ec2:DeleteSecurityGroup"),
			Resources: groups, Conditions: resourceTag(loadBalancerTag, f.NameInCloud()),
		},
		{
			Sid: "ChangeRulesOfCluster", Actions: rules, Resources: groups,
			Conditions: resourceTag(f.ClusterTag(), "owned"),
		},
	}
}

func balancerStatements(f Facts) []Statement {
	balancers := f.elb("loadbalancer/app/*/*", "loadbalancer/net/*/*", "targetgroup/*/*")
	return []Statement{
		{
			Sid: "MakeTaggedBalancers", Actions: []string{"elasticloadbalancing:CreateLoadBalancer", "elasticloadbalancing:CreateTargetGroup"},
			Resources: balancers, Conditions: requestTag(loadBalancerTag, f.NameInCloud()),
		},
		{
			Sid: "TagNewBalancers", Actions: []string{"elasticloadbalancing:AddTags"}, Resources: balancers,
			Conditions: newTag("elasticloadbalancing", loadBalancerTag, f.NameInCloud(), "CreateLoadBalancer", "CreateTargetGroup"),
		},
		{
			Sid: "TagOwnBalancers", Actions: []string{"elasticloadbalancing:AddTags", "elasticloadbalancing:RemoveTags"},
			Resources: balancers, Conditions: keptOwner(f),
		},
		{
			Sid: "ChangeOwnBalancers",
			Actions: []string{
				"elasticloadbalancing:CreateListener", "elasticloadbalancing:DeleteLoadBalancer",
				"elasticloadbalancing:DeleteTargetGroup", "elasticloadbalancing:DeregisterTargets",
				"elasticloadbalancing:ModifyCapacityReservation", "elasticloadbalancing:ModifyIpPools",
				"elasticloadbalancing:ModifyLoadBalancerAttributes", "elasticloadbalancing:ModifyTargetGroup",
				"elasticloadbalancing:ModifyTargetGroupAttributes", "elasticloadbalancing:RegisterTargets",
				"elasticloadbalancing:SetIpAddressType", "elasticloadbalancing:SetSecurityGroups",
				"elasticloadbalancing:SetSubnets",
			},
			Resources: balancers, Conditions: resourceTag(loadBalancerTag, f.NameInCloud()),
		},
	}
}

// listenerStatements have no condition on tags: listeners and rules that an
// older controller made carry none, as the controller's guide says.
func listenerStatements(f Facts) []Statement {
	return []Statement{{
		Sid: "ChangeListeners",
		Actions: []string{
			"elasticloadbalancing:AddListenerCertificates", "elasticloadbalancing:AddTags",
			"elasticloadbalancing:CreateRule", "elasticloadbalancing:DeleteListener", "elasticloadbalancing:DeleteRule",
			"elasticloadbalancing:ModifyListener", "elasticloadbalancing:ModifyListenerAttributes",
			"elasticloadbalancing:ModifyRule", "elasticloadbalancing:RemoveListenerCertificates",
			"elasticloadbalancing:RemoveTags", "elasticloadbalancing:SetRulePriorities",
		},
		Resources: f.elb("listener/app/*/*/*", "listener/net/*/*/*", "listener-rule/app/*/*/*", "listener-rule/net/*/*/*"),
	}}
}

// webACLStatements let it attach a web ACL to the cluster's load balancers.
// AWS WAF checks its own actions on the web ACL, and SetWebAcl on the load
// balancer.
func webACLStatements(f Facts) []Statement {
	balancers := f.elb("loadbalancer/app/*/*")
	return []Statement{
		{Sid: "SetWebACL", Actions: []string{"elasticloadbalancing:SetWebAcl"}, Resources: balancers, Conditions: resourceTag(loadBalancerTag, f.NameInCloud())},
		{
			Sid: "UseWebACLs",
			Actions: []string{
				"wafv2:AssociateWebACL", "wafv2:DisassociateWebACL", "wafv2:GetWebACL", "wafv2:GetWebACLForResource",
			},
			Resources: append(balancers, f.ARN("wafv2", "regional/webacl/*/*")),
		},
	}
}

// elb are ARNs of Elastic Load Balancing in the cluster's region and account.
func (f Facts) elb(resources ...string) []string {
	out := make([]string, len(resources))
	for i, r := range resources {
		out[i] = f.ARN("elasticloadbalancing", r)
	}
	return out
}

// keptOwner holds for requests that change other tags than the controller's,
// on what carries it: ownership is neither given nor taken.
func keptOwner(f Facts) conditions {
	c := resourceTag(loadBalancerTag, f.NameInCloud())
	c["ForAllValues:StringNotEquals"] = map[string][]string{"aws:TagKeys": {loadBalancerTag}}
	return c
}
