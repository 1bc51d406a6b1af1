// Package bucket makes a private S3 bucket.
package bucket

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

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

	bucket *bucketV2
	block  pulumi.Resource
	// complete is all that has to be there before the first object.
	complete []pulumi.Resource
}

// bucketV2 is the bucket itself, with what is used of its outputs.
type bucketV2 struct {
	pulumi.CustomResourceState

	Arn    pulumi.StringOutput `pulumi:"arn"`
	Bucket pulumi.StringOutput `pulumi:"bucket"`
}

// register makes a resource of S3 by the names of its type and its inputs: their types in the SDK
// take all of S3 along, 4 MB of the program.
// https://www.pulumi.com/registry/packages/aws/api-docs/s3
func (b *builder) register(token, name string, inputs pulumi.Map, made pulumi.CustomResource, opts ...pulumi.ResourceOption) error {
	return b.ctx.RegisterResource("aws:s3/"+token, b.name+"-"+name, inputs, made, append(opts, b.parent)...)
}

func (b *builder) makeBucket() error {
	b.bucket = &bucketV2{}
	return b.register("bucketV2:BucketV2", "bucket", pulumi.Map{
		"bucket": pulumi.String(b.args.BucketName),
		// What is in it is not the cluster's to delete.
		"forceDestroy": pulumi.Bool(false),
	}, b.bucket, pulumi.Aliases([]pulumi.Alias{{Type: pulumi.String("aws:s3/bucket:Bucket")}}))
}

// makePrivate closes the bucket against access lists and policies for the
// public, from any author.
func (b *builder) makePrivate() error {
	block, owner := &pulumi.CustomResourceState{}, &pulumi.CustomResourceState{}
	b.block = block
	b.complete = append(b.complete, block, owner)
	return errors.Join(
		b.register("bucketPublicAccessBlock:BucketPublicAccessBlock", "private", pulumi.Map{
			"bucket":                b.bucket.ID(),
			"blockPublicAcls":       pulumi.Bool(true),
			"blockPublicPolicy":     pulumi.Bool(true),
			"ignorePublicAcls":      pulumi.Bool(true),
			"restrictPublicBuckets": pulumi.Bool(true),
		}, block),
		b.register("bucketOwnershipControls:BucketOwnershipControls", "owner", pulumi.Map{
			"bucket": b.bucket.ID(),
			"rule":   pulumi.Map{"objectOwnership": pulumi.String("BucketOwnerEnforced")},
		}, owner),
	)
}

// makePolicy waits for the block: S3 refuses to change both at a time.
func (b *builder) makePolicy() error {
	document := b.bucket.Arn.ApplyT(func(arn string) (string, error) {
		return policy.Render(policy.RequireTLS("s3", arn, arn+"/*"))
	}).(pulumi.StringOutput)
	made := &pulumi.CustomResourceState{}
	b.complete = append(b.complete, made)
	return b.register("bucketPolicy:BucketPolicy", "policy", pulumi.Map{"bucket": b.bucket.ID(), "policy": document}, made,
		pulumi.DependsOn([]pulumi.Resource{b.block}))
}

func (b *builder) makeEncryption() error {
	by := pulumi.Map{"sseAlgorithm": pulumi.String("AES256")}
	rule := pulumi.Map{"applyServerSideEncryptionByDefault": by}
	if b.args.KMSKeyARN != "" {
		by["sseAlgorithm"], by["kmsMasterKeyId"] = pulumi.String("aws:kms"), pulumi.String(b.args.KMSKeyARN)
		// A key of the bucket's own saves a call of KMS for every object.
		rule["bucketKeyEnabled"] = pulumi.Bool(true)
	}
	made := &pulumi.CustomResourceState{}
	b.complete = append(b.complete, made)
	return b.register("bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2", "encryption",
		pulumi.Map{"bucket": b.bucket.ID(), "rules": pulumi.Array{rule}}, made)
}

func (b *builder) makeLifecycle() error {
	rules := pulumi.Array{pulumi.Map{
		"id":                             pulumi.String("abort-incomplete-uploads"),
		"status":                         pulumi.String("Enabled"),
		"filter":                         pulumi.Map{},
		"abortIncompleteMultipartUpload": pulumi.Map{"daysAfterInitiation": pulumi.Int(abortUploadDays)},
	}}
	if b.args.ExpireDays > 0 {
		rules = append(rules, pulumi.Map{
			"id":         pulumi.String("expire"),
			"status":     pulumi.String("Enabled"),
			"filter":     pulumi.Map{},
			"expiration": pulumi.Map{"days": pulumi.Int(b.args.ExpireDays)},
		})
	}
	return b.register("bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2", "lifecycle",
		pulumi.Map{"bucket": b.bucket.ID(), "rules": rules}, &pulumi.CustomResourceState{})
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
