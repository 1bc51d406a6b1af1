package aws

import (
	"fmt"
	"testing"

	"tombolo/lab/aws/iam"
)

func policyWhere(condition string) string {
	return policyOf(fmt.Sprintf(`{"Effect":"Allow","Action":"ec2:RunInstances","Resource":"*","Condition":%s}`, condition))
}

func TestConditionRefusals(t *testing.T) {
	var attempts []attempt
	for condition, want := range map[string]string{
		`{"StringLik":{"aws:a":"b"}}`:                 "MalformedPolicyDocument: Invalid Condition type : StringLik.",
		`{"ForSomeValues:StringLike":{"aws:a":"b"}}`:  "Invalid Condition type : ForSomeValues:StringLike.",
		`{"NullIfExists":{"aws:a":"true"}}`:           "Invalid Condition type : NullIfExists.",
		`{"StringEquals":{"RequestTag/a":"b"}}`:       "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc.",
		`{"StringEquals":{"aws: RequestTag":"b"}}`:    "Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc.",
		`{"StringEquals":{"aws:a":{"b":"c"}}}`:        "MalformedPolicyDocument: Syntax errors in policy.",
		`{"StringEquals":{"aws:a":[["b"]]}}`:          "MalformedPolicyDocument: Syntax errors in policy.",
		`{"StringEquals":{"aws:a":null}}`:             "MalformedPolicyDocument: Syntax errors in policy.",
		`{"Bool":{"aws:SecureTransport":"no"}}`:       "MalformedPolicyDocument: Syntax errors in policy.",
		`{"StringEquals":"aws:a"}`:                    "MalformedPolicyDocument: Syntax errors in policy.",
		`[{"StringEquals":{"aws:RequestTag/a":"b"}}]`: "MalformedPolicyDocument: Syntax errors in policy.",
	} {
		attempts = append(attempts, attempt{condition, iam.PolicyType, func(*world) props { return props{"policy": policyWhere(condition)} }, want})
	}
	refused(t, emptyWorld, attempts)
}

// TestConditions are conditions that the policies of addons have.
func TestConditions(t *testing.T) {
	a := newAccount(t)
	for i, condition := range []string{
		`{"StringEquals":{"aws:RequestTag/kubernetes.io/cluster/demo":"owned","aws:RequestTag/eks:eks-cluster-name":"demo"},"StringLike":{"aws:RequestTag/karpenter.sh/nodepool":"*"}}`,
		`{"StringEquals":{"ec2:CreateAction":["RunInstances","CreateFleet"]},"Null":{"aws:RequestTag/x":"false"}}`,
		`{"ForAllValues:StringEquals":{"aws:TagKeys":["a","b"]},"ArnLike":{"aws:SourceArn":"arn:aws:events:*"}}`,
		`{"ForAnyValue:StringLikeIfExists":{"route53:ChangeResourceRecordSetsNormalizedRecordNames":["*.lab.test"]}}`,
		`{"BoolIfExists":{"aws:SecureTransport":true},"NumericLessThan":{"s3:max-keys":10},"IpAddress":{"aws:SourceIp":["192.0.2.0/24"]}}`,
	} {
		a.Make(iam.PolicyType, fmt.Sprint("p", i), props{"policy": policyWhere(condition)})
	}
	trust := policyOf(`{"Effect":"Allow","Principal":{"Federated":"arn:aws:iam::111122223333:oidc-provider/oidc.eks.eu-central-1.amazonaws.com/id/A"},` +
		`"Action":"sts:AssumeRoleWithWebIdentity","Condition":{"StringEquals":{"oidc.eks.eu-central-1.amazonaws.com/id/A:sub":"system:serviceaccount:a:b",` +
		`"oidc.eks.eu-central-1.amazonaws.com/id/A:aud":"sts.amazonaws.com"}}}`)
	a.Make(iam.RoleType, "pod", props{"assumeRolePolicy": trust})
}

// TestManagedPolicies are the ones that nodes of Karpenter's need.
func TestManagedPolicies(t *testing.T) {
	a := newAccount(t)
	role := a.Make(iam.RoleType, "nodes", props{"assumeRolePolicy": nodeTrust})
	for _, name := range []string{
		"AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly", "AmazonEKS_CNI_Policy", "AmazonSSMManagedInstanceCore",
	} {
		a.Make(iam.AttachmentType, name, props{"role": role.ID, "policyArn": "arn:aws:iam::aws:policy/" + name})
	}
}
