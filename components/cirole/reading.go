package cirole

import "tombolo/components/identity"

// State is where the stacks' state is, for roles that use it.
type State struct {
	// BucketARN of the S3 bucket; empty for roles that do not use the state, as another
	// account's do it.
	BucketARN string
	// KeyARN of the KMS key that encrypts secrets in the state; empty with
	// another secrets provider.
	KeyARN string
}

// Reading are the statements of a role that may look at what the stacks make, and
// at their state, and change nothing: for previews and drift. It reads no object
// in a bucket but the state's, no secret, and no log.
func Reading(s State) []identity.Statement {
	out := []identity.Statement{
		{
			Sid: "Look",
			Actions: []string{
				"acm:DescribeCertificate", "acm:ListCertificates", "acm:ListTagsForCertificate",
				"autoscaling:Describe*", "ec2:Describe*", "eks:Describe*", "eks:List*",
				"elasticfilesystem:Describe*", "elasticfilesystem:ListTagsForResource", "elasticloadbalancing:Describe*",
				"events:Describe*", "events:List*",
				"iam:GetInstanceProfile", "iam:GetOpenIDConnectProvider", "iam:GetPolicy", "iam:GetPolicyVersion", "iam:GetRole", "iam:GetRolePolicy", "iam:List*",
				"kms:Describe*", "kms:GetKeyPolicy", "kms:GetKeyRotationStatus", "kms:List*",
				"logs:DescribeLogGroups", "logs:ListTagsForResource",
				"route53:Get*", "route53:List*",
				"s3:GetBucket*", "s3:GetEncryptionConfiguration", "s3:GetLifecycleConfiguration", "s3:ListAllMyBuckets", "s3:ListBucket",
				"s3:GetAccelerateConfiguration", "s3:GetReplicationConfiguration",
				"servicequotas:Get*", "servicequotas:List*", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ListQueueTags", "sqs:ListQueues",
				"tag:GetResources",
			},
			Resources: []string{"*"},
		},
	}
	if s.BucketARN != "" {
		out = append(out, identity.Statement{Sid: "ReadState", Actions: []string{"s3:GetObject"}, Resources: []string{s.BucketARN + "/*"}})
	}
	if s.KeyARN != "" {
		out = append(out, identity.Statement{Sid: "DecryptState", Actions: []string{"kms:Decrypt"}, Resources: []string{s.KeyARN}})
	}
	return out
}

// WritingState are the statements by which a role that applies writes the state.
// What it may do besides is for its policies to say.
func WritingState(s State) []identity.Statement {
	out := []identity.Statement{
		{Sid: "FindState", Actions: []string{"s3:ListBucket", "s3:GetBucketLocation"}, Resources: []string{s.BucketARN}},
		{Sid: "WriteState", Actions: []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject"}, Resources: []string{s.BucketARN + "/*"}},
	}
	if s.KeyARN != "" {
		out = append(out, identity.Statement{Sid: "EncryptState", Actions: []string{"kms:Encrypt", "kms:Decrypt"}, Resources: []string{s.KeyARN}})
	}
	return out
}
