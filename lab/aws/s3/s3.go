// Package s3 is S3 in the stand-in: buckets and their settings.
package s3

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/iam"
	"tombolo/lab/standin"
)

// ofBucket is the reference of a bucket's settings: they go with it.
func ofBucket() []standin.Reference {
	return []standin.Reference{{Path: []string{"bucket"}, To: BucketType, Cascade: true, Missing: standin.Refusal{
		Code: "NoSuchBucket", Status: 404, Message: "The specified bucket does not exist",
	}}}
}

// Types are S3's buckets and their settings. A bucket with objects cannot
// be deleted in AWS (BucketNotEmpty) unless forceDestroy is set. Nothing in the
// lab puts objects, so that every bucket is empty.
func Types() map[string]*standin.Type {
	return map[string]*standin.Type{
		BucketType: {
			Constructor: s3.NewBucketV2,
			Noun:        "S3 Bucket",
			API:         standin.API{Service: "S3", Create: "CreateBucket", Update: "PutBucketTagging", Remove: "DeleteBucket"},
			// internal/service/s3/bucket.go
			ForceNew:  []string{"bucket", "bucketPrefix", "objectLockEnabled"},
			Documents: []string{"policy"},
			Autoname:  standin.Autoname{Property: "bucket", Max: 63, Finish: strings.ToLower},
			Defaults:  standin.Props{"forceDestroy": false},
			Validate:  validateBucket,
			Create:    createBucket,
			Takes:     standin.Timing{Create: 3 * time.Second, Update: time.Second, Remove: time.Second},
		},
		BucketAccessType: bucketSetting(&standin.Type{
			Constructor: s3.NewBucketPublicAccessBlock,
			Noun:        "S3 Bucket Public Access Block",
			API:         standin.API{Create: "PutPublicAccessBlock", Remove: "DeletePublicAccessBlock"},
			Defaults:    standin.Props{"blockPublicAcls": false, "blockPublicPolicy": false, "ignorePublicAcls": false, "restrictPublicBuckets": false},
		}),
		BucketEncryptionType: bucketSetting(&standin.Type{
			Constructor: s3.NewBucketServerSideEncryptionConfigurationV2,
			Noun:        "S3 Bucket Server-side Encryption Configuration",
			API:         standin.API{Create: "PutBucketEncryption", Remove: "DeleteBucketEncryption"},
			Unplayed:    []string{"expectedBucketOwner"},
			Put:         checkBucketEncryption,
		}),
		BucketOwnershipType: bucketSetting(&standin.Type{
			Constructor: s3.NewBucketOwnershipControls,
			Noun:        "S3 Bucket Ownership Controls",
			API:         standin.API{Create: "PutBucketOwnershipControls", Remove: "DeleteBucketOwnershipControls"},
		}),
		BucketLifecycleType: bucketSetting(&standin.Type{
			Constructor: s3.NewBucketLifecycleConfigurationV2,
			Noun:        "S3 Bucket Lifecycle Configuration",
			API:         standin.API{Create: "PutBucketLifecycleConfiguration", Remove: "DeleteBucketLifecycle"},
			Unplayed:    []string{"expectedBucketOwner"},
			Validate:    validateBucketLifecycle,
			Put:         checkBucketLifecycle,
		}),
		BucketPolicyType: bucketSetting(&standin.Type{
			Constructor: s3.NewBucketPolicy,
			Noun:        "S3 Bucket Policy",
			API:         standin.API{Create: "PutBucketPolicy", Remove: "DeleteBucketPolicy"},
			Documents:   []string{"policy"},
			Validate:    func(in standin.Props) []standin.Problem { return iam.JSONPolicy(in, "policy") },
			Put:         checkBucketPolicy,
		}),
	}
}

// bucketSetting completes a type that is a setting of a bucket: there is one of
// each, and whoever puts it last has it. internal/service/s3 has a file for each.
func bucketSetting(t *standin.Type) *standin.Type {
	t.API.Service, t.API.Update = "S3", t.API.Create
	t.ForceNew = []string{"bucket"}
	t.References = ofBucket()
	t.Takes = standin.Timing{Create: time.Second, Update: time.Second, Remove: time.Second}
	t.Create = func(c *standin.Call) (string, error) { return c.In().Str("bucket"), nil }
	return t
}

var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// Parts of names that S3 keeps for itself. Source:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
var (
	reservedBucketPrefixes = []string{"xn--", "sthree-", "amzn-s3-demo-"}
	reservedBucketSuffixes = []string{"-s3alias", "--ols-s3", ".mrap", "--x-s3", "--table-s3"}
)

func validateBucket(in standin.Props) []standin.Problem {
	name := in.Str("bucket")
	if name == "" {
		return iam.JSONPolicy(in, "policy")
	}
	reason := ""
	switch {
	case !bucketName.MatchString(name):
		reason = "only lowercase alphanumeric characters, dots and hyphens allowed, 3 to 63"
	case strings.Contains(name, ".."):
		reason = "periods must not be adjacent"
	case isAddress(name):
		reason = "must not be formatted as an IP address"
	}
	for _, prefix := range reservedBucketPrefixes {
		if strings.HasPrefix(name, prefix) {
			reason = "must not begin with " + prefix
		}
	}
	for _, suffix := range reservedBucketSuffixes {
		if strings.HasSuffix(name, suffix) {
			reason = "must not end with " + suffix
		}
	}
	if reason == "" {
		return iam.JSONPolicy(in, "policy")
	}
	return []standin.Problem{{Path: "bucket", Reason: fmt.Sprintf("validating S3 Bucket (%s) name: %s", name, reason)}}
}

func isAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

// createBucket refuses a name that a bucket of any region has. Buckets of other
// accounts are unknown here.
func createBucket(c *standin.Call) (string, error) {
	name, out := c.In().Str("bucket"), c.Out()
	for _, r := range c.Cloud.All() {
		if r.Type == BucketType && r.ID == name {
			return "", c.Refuse(standin.Refusal{
				Code: "BucketAlreadyOwnedByYou", Status: 409,
				Message: "Your previous request to create the named bucket succeeded and you already own it.",
			})
		}
	}
	out["arn"], out["region"] = bucketARN(c, name), c.Region
	out["bucketDomainName"] = name + ".s3." + account.DNSSuffix(c.Region)
	out["bucketRegionalDomainName"] = fmt.Sprintf("%s.s3.%s.%s", name, c.Region, account.DNSSuffix(c.Region))
	out["hostedZoneId"] = "Z" + strings.ToUpper(fmt.Sprintf("%013x", account.Hashed(c.Region)))
	out.SetDefaults(standin.Props{"bucketPrefix": "", "objectLockEnabled": false, "requestPayer": "BucketOwner", "accelerationStatus": "", "policy": ""})
	// What S3 gives every new bucket.
	out.SetDefault("serverSideEncryptionConfigurations", []any{map[string]any{"rules": []any{map[string]any{
		"applyServerSideEncryptionByDefaults": []any{map[string]any{"sseAlgorithm": "AES256", "kmsMasterKeyId": ""}}, "bucketKeyEnabled": false,
	}}}})
	out.SetDefault("versionings", []any{map[string]any{"enabled": false, "mfaDelete": false}})
	return name, nil
}

// The types of S3.
const (
	BucketType           = "aws:s3/bucketV2:BucketV2"
	BucketAccessType     = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
	BucketEncryptionType = "aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2"
	BucketOwnershipType  = "aws:s3/bucketOwnershipControls:BucketOwnershipControls"
	BucketLifecycleType  = "aws:s3/bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2"
	BucketPolicyType     = "aws:s3/bucketPolicy:BucketPolicy"
)

// bucketARN: buckets have neither region nor account in their ARNs.
func bucketARN(c *standin.Call, name string) string {
	return "arn:" + account.Partition(c.Region) + ":s3:::" + name
}
