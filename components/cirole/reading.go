package cirole

import (
	"strings"

	"tombolo/components/identity"
)

// State is where the stacks' state is, for roles that use it.
type State struct {
	// BucketARN of the S3 bucket; empty for roles that do not use the state, as another
	// account's do it.
	BucketARN string
	// KeyARN of the KMS key that encrypts secrets in the state, and maybe the bucket's
	// objects; empty with another secrets provider.
	KeyARN string
}

// Reading are the statements of a role that may look at what the stacks make, and
// at their state, and change nothing: for previews and drift. It reads no object
// in a bucket but the state's, no secret, in the state neither, and no log.
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
		out = append(out, identity.Statement{
			Sid: "ReadStateThroughS3", Actions: []string{"kms:Decrypt"}, Resources: []string{s.KeyARN}, Conditions: throughS3(s.KeyARN),
		})
	}
	return out
}

// throughS3 holds for requests that S3 makes to KMS to read a bucket that is encrypted by the
// same key. What has a token in it is encrypted in the state once more, by Pulumi, which asks
// KMS itself: gocloud.dev/secrets/awskms calls Decrypt, and no service is between. S3 does not
// open it either: it gives KMS the data key of an object, in an encryption context of its own.
// The name of the service is the same in all partitions, and the key is in the bucket's region.
// Sources: https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html#conditions-kms-via-service
// and https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
func throughS3(keyARN string) map[string]map[string][]string {
	var region string
	if parts := strings.Split(keyARN, ":"); len(parts) > 3 { // arn:partition:kms:region:…
		region = parts[3]
	}
	return map[string]map[string][]string{"StringEquals": {"kms:ViaService": {"s3." + region + ".amazonaws.com"}}}
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
