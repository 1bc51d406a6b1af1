package aws

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
)

const (
	bucketType           = "aws:s3/bucketV2:BucketV2"
	bucketAccessType     = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
	bucketEncryptionType = "aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2"
	bucketOwnershipType  = "aws:s3/bucketOwnershipControls:BucketOwnershipControls"
	bucketLifecycleType  = "aws:s3/bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2"
	bucketVersioningType = "aws:s3/bucketVersioningV2:BucketVersioningV2"
	bucketPolicyType     = "aws:s3/bucketPolicy:BucketPolicy"
)

// ofBucket is the reference of a bucket's settings: they go with it.
func ofBucket() []reference {
	return []reference{{path: []string{"bucket"}, to: bucketType, cascade: true, missing: refusal{
		code: "NoSuchBucket", status: 404, message: "The specified bucket does not exist",
	}}}
}

// bucketTypes are S3's buckets and their settings. A bucket with objects cannot
// be deleted in AWS (BucketNotEmpty) unless forceDestroy is set. Nothing in the
// lab puts objects, so that every bucket is empty.
func bucketTypes() map[string]*resourceType {
	return map[string]*resourceType{
		bucketType: {
			constructor: s3.NewBucketV2,
			noun:        "S3 Bucket",
			api:         api{service: "S3", create: "CreateBucket", update: "PutBucketTagging", remove: "DeleteBucket"},
			// internal/service/s3/bucket.go
			forceNew:  []string{"bucket", "bucketPrefix", "objectLockEnabled"},
			documents: []string{"policy"},
			autoname:  autoname{property: "bucket", max: 63, finish: func(_ props, made string) string { return strings.ToLower(made) }},
			defaults:  props{"forceDestroy": false},
			validate:  validateBucket,
			create:    createBucket,
			takes:     timing{create: 3 * time.Second, update: time.Second, remove: time.Second},
		},
		bucketAccessType: bucketSetting(&resourceType{
			constructor: s3.NewBucketPublicAccessBlock,
			noun:        "S3 Bucket Public Access Block",
			api:         api{create: "PutPublicAccessBlock", remove: "DeletePublicAccessBlock"},
			defaults:    props{"blockPublicAcls": false, "blockPublicPolicy": false, "ignorePublicAcls": false, "restrictPublicBuckets": false},
		}),
		bucketEncryptionType: bucketSetting(&resourceType{
			constructor: s3.NewBucketServerSideEncryptionConfigurationV2,
			noun:        "S3 Bucket Server-side Encryption Configuration",
			api:         api{create: "PutBucketEncryption", remove: "DeleteBucketEncryption"},
			forceNew:    []string{"expectedBucketOwner"},
			validate:    validateBucketEncryption,
			update:      checkBucketEncryption,
		}),
		bucketOwnershipType: bucketSetting(&resourceType{
			constructor: s3.NewBucketOwnershipControls,
			noun:        "S3 Bucket Ownership Controls",
			api:         api{create: "PutBucketOwnershipControls", remove: "DeleteBucketOwnershipControls"},
			validate: func(in props) []problem {
				return oneOf(in.sub("rule"), "objectOwnership", "BucketOwnerPreferred", "ObjectWriter", "BucketOwnerEnforced")
			},
		}),
		bucketLifecycleType: bucketSetting(&resourceType{
			constructor: s3.NewBucketLifecycleConfigurationV2,
			noun:        "S3 Bucket Lifecycle Configuration",
			api:         api{create: "PutBucketLifecycleConfiguration", remove: "DeleteBucketLifecycle"},
			forceNew:    []string{"expectedBucketOwner"},
			validate:    validateBucketLifecycle,
			update:      checkBucketLifecycle,
		}),
		bucketVersioningType: bucketSetting(&resourceType{
			constructor: s3.NewBucketVersioningV2,
			noun:        "S3 Bucket Versioning",
			api:         api{create: "PutBucketVersioning", remove: "PutBucketVersioning"},
			forceNew:    []string{"expectedBucketOwner"},
			validate: func(in props) []problem {
				return oneOf(in.sub("versioningConfiguration"), "status", "Disabled", "Enabled", "Suspended")
			},
			update: checkVersioning,
		}),
		bucketPolicyType: bucketSetting(&resourceType{
			constructor: s3.NewBucketPolicy,
			noun:        "S3 Bucket Policy",
			api:         api{create: "PutBucketPolicy", remove: "DeleteBucketPolicy"},
			documents:   []string{"policy"},
			validate:    func(in props) []problem { return jsonPolicy(in, "policy") },
			update:      checkBucketPolicy,
		}),
	}
}

// bucketSetting completes a type that is a setting of a bucket: there is one of
// each, and whoever puts it last has it. internal/service/s3 has a file for each.
func bucketSetting(t *resourceType) *resourceType {
	t.api.service, t.api.update = "S3", t.api.create
	t.forceNew = append(t.forceNew, "bucket")
	t.references = ofBucket()
	t.takes = timing{create: time.Second, update: time.Second, remove: time.Second}
	t.create = func(c *call) (string, error) {
		id := c.in().str("bucket")
		if owner := c.in().str("expectedBucketOwner"); owner != "" {
			if owner != c.cloud.options.Account {
				return "", c.refuse(refusal{code: "AccessDenied", status: 403, message: "Access Denied"})
			}
			id += "," + owner
		}
		if t.update == nil {
			return id, nil
		}
		return id, t.update(c)
	}
	return t
}

var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// Parts of names that S3 keeps for itself. Source:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
var (
	reservedBucketPrefixes = []string{"xn--", "sthree-", "amzn-s3-demo-"}
	reservedBucketSuffixes = []string{"-s3alias", "--ols-s3", ".mrap", "--x-s3", "--table-s3"}
)

func validateBucket(in props) []problem {
	name := in.str("bucket")
	if name == "" {
		return jsonPolicy(in, "policy")
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
		return jsonPolicy(in, "policy")
	}
	return []problem{{"bucket", fmt.Sprintf("validating S3 Bucket (%s) name: %s", name, reason)}}
}

func isAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

// createBucket refuses a name that a bucket of any region has. Buckets of other
// accounts are unknown here.
func createBucket(c *call) (string, error) {
	name, out := c.in().str("bucket"), c.out()
	for _, r := range c.cloud.store.all() {
		if r.Type == bucketType && r.ID == name {
			return "", c.refuse(refusal{
				code: "BucketAlreadyOwnedByYou", status: 409,
				message: "Your previous request to create the named bucket succeeded and you already own it.",
			})
		}
	}
	out["arn"], out["region"] = c.bucketARN(name), c.region
	out["bucketDomainName"] = name + ".s3." + dnsSuffix(c.region)
	out["bucketRegionalDomainName"] = fmt.Sprintf("%s.s3.%s.%s", name, c.region, dnsSuffix(c.region))
	out["hostedZoneId"] = "Z" + strings.ToUpper(fmt.Sprintf("%013x", hashed(c.region)))
	out.setDefault("bucketPrefix", "")
	out.setDefault("objectLockEnabled", false)
	out.setDefault("requestPayer", "BucketOwner")
	out.setDefault("accelerationStatus", "")
	out.setDefault("policy", "")
	// What S3 gives every new bucket.
	out.setDefault("serverSideEncryptionConfigurations", []any{map[string]any{"rules": []any{map[string]any{
		"applyServerSideEncryptionByDefaults": []any{map[string]any{"sseAlgorithm": "AES256", "kmsMasterKeyId": ""}}, "bucketKeyEnabled": false,
	}}}})
	out.setDefault("versionings", []any{map[string]any{"enabled": false, "mfaDelete": false}})
	return name, nil
}

// bucketARN: buckets have neither region nor account in their ARNs.
func (c *call) bucketARN(name string) string {
	return "arn:" + partition(c.region) + ":s3:::" + name
}
