package s3

import (
	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

// The types of S3.
const (
	BucketType           = "aws:s3/bucketV2:BucketV2"
	BucketAccessType     = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
	BucketEncryptionType = "aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2"
	BucketOwnershipType  = "aws:s3/bucketOwnershipControls:BucketOwnershipControls"
	BucketLifecycleType  = "aws:s3/bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2"
	BucketVersioningType = "aws:s3/bucketVersioningV2:BucketVersioningV2"
	BucketPolicyType     = "aws:s3/bucketPolicy:BucketPolicy"
)

// bucketARN: buckets have neither region nor account in their ARNs.
func bucketARN(c *standin.Call, name string) string {
	return "arn:" + account.Partition(c.Region) + ":s3:::" + name
}
