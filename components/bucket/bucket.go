// Package bucket makes a private S3 bucket.
package bucket

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/s3"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"tombolo/components/policy"
	"tombolo/components/ready"
)

const bucketType = "tombolo:bucket:Bucket"

// abortUploadDays is the age at which the parts of an upload that was never
// completed are deleted, in days: they are not listed, but they cost money.
const abortUploadDays = 7

// BucketArgs are the arguments of a Bucket.
type BucketArgs struct {
	// BucketName in S3, unique in the world, 3 to 63 characters.
	BucketName string
	// ExpireDays is the age at which objects are deleted, in days; 0 keeps
	// them.
	ExpireDays int
	// KMSKeyARN encrypts the objects; "" takes S3's own keys.
	KMSKeyARN string
}

// Bucket is a bucket for its account alone, encrypted. It is not deleted while
// it holds objects.
type Bucket struct {
	pulumi.ResourceState

	// Name and ARN of the bucket. They resolve when it is closed to the public
	// and encrypts what is written.
	Name, ARN pulumi.StringOutput
}

// NewBucket makes a bucket and what closes and cleans it.
func NewBucket(ctx *pulumi.Context, name string, args *BucketArgs, opts ...pulumi.ResourceOption) (*Bucket, error) {
	if err := args.validate(); err != nil {
		return nil, fmt.Errorf("bucket %s: %w", name, err)
	}
	c := &Bucket{}
	if err := ctx.RegisterComponentResourceV2(bucketType, name, pulumi.Map{"bucketName": pulumi.String(args.BucketName)}, c, opts...); err != nil {
		return nil, fmt.Errorf("register bucket %s: %w", name, err)
	}
	b := &builder{ctx: ctx, name: name, args: args, parent: pulumi.Parent(c)}
	for _, step := range []func() error{b.makeBucket, b.makePrivate, b.makePolicy, b.makeEncryption, b.makeLifecycle} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("bucket %s: %w", name, err)
		}
	}
	c.Name = ready.After(b.bucket.Bucket, b.complete...)
	c.ARN = ready.After(b.bucket.Arn, b.complete...)
	return c, ctx.RegisterResourceOutputs(c, pulumi.Map{"name": c.Name, "arn": c.ARN})
}

func (a *BucketArgs) validate() error {
	if a == nil {
		return errors.New("arguments are missing")
	}
	problems := []error{checkName(a.BucketName)}
	if a.ExpireDays < 0 {
		problems = append(problems, fmt.Errorf("objects cannot expire after %d days; 0 keeps them", a.ExpireDays))
	}
	return errors.Join(problems...)
}

// builder holds what the steps of making a bucket hand to each other.
type builder struct {
	ctx    *pulumi.Context
	name   string
	args   *BucketArgs
	parent pulumi.ResourceOption

	bucket *s3.BucketV2
	block  pulumi.Resource
	// complete is all that has to be there before the first object.
	complete []pulumi.Resource
}

func (b *builder) makeBucket() error {
	var err error
	b.bucket, err = s3.NewBucketV2(b.ctx, b.name+"-bucket", &s3.BucketV2Args{
		Bucket: pulumi.String(b.args.BucketName),
		// What is in it is not the cluster's to delete.
		ForceDestroy: pulumi.Bool(false),
	}, b.parent)
	return err
}

// makePrivate closes the bucket against access lists and policies for the
// public, from any author.
func (b *builder) makePrivate() error {
	block, err := s3.NewBucketPublicAccessBlock(b.ctx, b.name+"-private", &s3.BucketPublicAccessBlockArgs{
		Bucket:                b.bucket.ID(),
		BlockPublicAcls:       pulumi.Bool(true),
		BlockPublicPolicy:     pulumi.Bool(true),
		IgnorePublicAcls:      pulumi.Bool(true),
		RestrictPublicBuckets: pulumi.Bool(true),
	}, b.parent)
	if err != nil {
		return err
	}
	owner, err := s3.NewBucketOwnershipControls(b.ctx, b.name+"-owner", &s3.BucketOwnershipControlsArgs{
		Bucket: b.bucket.ID(),
		Rule:   s3.BucketOwnershipControlsRuleArgs{ObjectOwnership: pulumi.String("BucketOwnerEnforced")},
	}, b.parent)
	b.block = block
	b.complete = append(b.complete, block, owner)
	return err
}

// makePolicy waits for the block: S3 refuses to change both at a time.
func (b *builder) makePolicy() error {
	document := b.bucket.Arn.ApplyT(func(arn string) (string, error) {
		return policy.Render(policy.RequireTLS("s3", arn, arn+"/*"))
	}).(pulumi.StringOutput)
	made, err := s3.NewBucketPolicy(b.ctx, b.name+"-policy", &s3.BucketPolicyArgs{
		Bucket: b.bucket.ID(),
		Policy: document,
	}, b.parent, pulumi.DependsOn([]pulumi.Resource{b.block}))
	b.complete = append(b.complete, made)
	return err
}

func (b *builder) makeEncryption() error {
	by := s3.BucketServerSideEncryptionConfigurationV2RuleApplyServerSideEncryptionByDefaultArgs{
		SseAlgorithm: pulumi.String("AES256"),
	}
	rule := s3.BucketServerSideEncryptionConfigurationV2RuleArgs{}
	if b.args.KMSKeyARN != "" {
		by.SseAlgorithm = pulumi.String("aws:kms")
		by.KmsMasterKeyId = pulumi.String(b.args.KMSKeyARN)
		// A key of the bucket's own saves a call of KMS for every object.
		rule.BucketKeyEnabled = pulumi.Bool(true)
	}
	rule.ApplyServerSideEncryptionByDefault = by
	made, err := s3.NewBucketServerSideEncryptionConfigurationV2(b.ctx, b.name+"-encryption", &s3.BucketServerSideEncryptionConfigurationV2Args{
		Bucket: b.bucket.ID(),
		Rules:  s3.BucketServerSideEncryptionConfigurationV2RuleArray{rule},
	}, b.parent)
	b.complete = append(b.complete, made)
	return err
}

func (b *builder) makeLifecycle() error {
	rules := s3.BucketLifecycleConfigurationV2RuleArray{
		s3.BucketLifecycleConfigurationV2RuleArgs{
			Id:     pulumi.String("abort-incomplete-uploads"),
			Status: pulumi.String("Enabled"),
			Filter: s3.BucketLifecycleConfigurationV2RuleFilterArgs{},
			AbortIncompleteMultipartUpload: s3.BucketLifecycleConfigurationV2RuleAbortIncompleteMultipartUploadArgs{
				DaysAfterInitiation: pulumi.Int(abortUploadDays),
			},
		},
	}
	if b.args.ExpireDays > 0 {
		rules = append(rules, s3.BucketLifecycleConfigurationV2RuleArgs{
			Id:     pulumi.String("expire"),
			Status: pulumi.String("Enabled"),
			Filter: s3.BucketLifecycleConfigurationV2RuleFilterArgs{},
			Expiration: s3.BucketLifecycleConfigurationV2RuleExpirationArgs{
				Days: pulumi.Int(b.args.ExpireDays),
			},
		})
	}
	_, err := s3.NewBucketLifecycleConfigurationV2(b.ctx, b.name+"-lifecycle", &s3.BucketLifecycleConfigurationV2Args{
		Bucket: b.bucket.ID(),
		Rules:  rules,
	}, b.parent)
	return err
}

var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

	// reserved beginnings and ends of names. Source: "General purpose bucket
	// naming rules" in the S3 User Guide.
	reservedPrefixes = []string{"xn--", "sthree-", "amzn-s3-demo-"}
	reservedSuffixes = []string{"-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3"}
)

// checkName applies S3's rules for names.
func checkName(name string) error {
	if !bucketName.MatchString(name) {
		return fmt.Errorf("bucket name %q is not 3 to 63 lower-case letters, digits, dots and hyphens with a letter or digit at both ends", name)
	}
	if strings.Contains(name, "..") {
		return fmt.Errorf("bucket name %q has two dots in a row", name)
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return fmt.Errorf("bucket name %q is an IP address", name)
	}
	if i := slices.IndexFunc(reservedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }); i >= 0 {
		return fmt.Errorf("bucket name %q begins with %s, which S3 keeps for itself", name, reservedPrefixes[i])
	}
	if i := slices.IndexFunc(reservedSuffixes, func(s string) bool { return strings.HasSuffix(name, s) }); i >= 0 {
		return fmt.Errorf("bucket name %q ends with %s, which S3 keeps for itself", name, reservedSuffixes[i])
	}
	return nil
}
