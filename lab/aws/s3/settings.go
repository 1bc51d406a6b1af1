package s3

import (
	"encoding/json"
	"slices"
	"strings"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/policy"
	"tombolo/lab/standin"
)

var keyAlgorithms = []string{"aws:kms", "aws:kms:dsse"}

// checkBucketEncryption leaves out whether the key exists: S3 does not ask.
func checkBucketEncryption(c *standin.Call) error {
	for _, rule := range c.In().Objects("rules") {
		by := rule.Sub("applyServerSideEncryptionByDefault")
		if by.Str("kmsMasterKeyId") != "" && !slices.Contains(keyAlgorithms, by.Str("sseAlgorithm")) {
			return c.Refusef("InvalidArgument", "a KMSMasterKeyID is not applicable if the default sse algorithm is not aws:kms or aws:kms:dsse")
		}
	}
	return nil
}

// lifecycleActions are the things a lifecycle rule can do.
var lifecycleActions = []string{
	"abortIncompleteMultipartUpload", "expiration", "noncurrentVersionExpiration", "noncurrentVersionTransitions", "transitions",
}

func validateBucketLifecycle(in standin.Props) []standin.Problem {
	var problems []standin.Problem
	for _, rule := range in.Objects("rules") {
		if id := rule.Str("id"); len(id) > 255 {
			problems = append(problems, standin.Problem{Path: "rules", Reason: "expected length of id to be in the range (1 - 255)"})
		}
	}
	return problems
}

func checkBucketLifecycle(c *standin.Call) error {
	ids := map[string]bool{}
	for _, rule := range c.In().Objects("rules") {
		if id := rule.Str("id"); ids[id] {
			return c.Refusef("InvalidArgument", "Rule ID must be unique. Found same ID for one or more rules")
		}
		ids[rule.Str("id")] = true
		if !slices.ContainsFunc(lifecycleActions, rule.Has) {
			return c.Refusef("InvalidRequest", "At least one action needs to be specified in a rule")
		}
		if err := checkLifecycleDays(c, rule); err != nil {
			return err
		}
	}
	return nil
}

func checkLifecycleDays(c *standin.Call, rule standin.Props) error {
	expiration := rule.Sub("expiration")
	days := expiration.Integer("days")
	if expiration.Has("days") && days < 1 {
		return c.Refusef("InvalidArgument", "'Days' for Expiration action must be a positive integer")
	}
	for _, transition := range rule.Objects("transitions") {
		class, after := transition.Str("storageClass"), transition.Integer("days")
		if strings.HasSuffix(class, "_IA") && after < 30 && transition.Has("days") {
			return c.Refusef("InvalidArgument", "'Days' in Transition action must be greater than or equal to 30 for storageClass '%s'", class)
		}
		if expiration.Has("days") && transition.Has("days") && after >= days {
			return c.Refusef("InvalidArgument", "'Days' in the Expiration action for filter '%s' must be greater than 'Days' in the Transition action", prefixOf(rule))
		}
	}
	return nil
}

func prefixOf(rule standin.Props) string {
	return "(prefix=" + rule.Sub("filter").Str("prefix") + ")"
}

// checkBucketPolicy refuses a policy for another bucket, and a public one while
// the bucket's public access block is on. Buckets have it on from their
// creation; only the setting turns it off:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html
func checkBucketPolicy(c *standin.Call) error {
	text, bucket := c.In().Str("policy"), c.In().Str("bucket")
	if message := iam.Malformed(c, text, policy.Resource); message != "" {
		return c.Refusef("MalformedPolicy", "%s", message)
	}
	var d policy.Document
	if err := policy.Decode([]byte(text), &d); err != nil {
		return c.Refusef("MalformedPolicy", "%v", err)
	}
	arn := bucketARN(c, bucket)
	blocked := true
	if block := c.Find(BucketAccessType, bucket); block != nil {
		blocked = block.Inputs.Boolean("blockPublicPolicy")
	}
	for _, s := range d.Statement {
		resources := slices.Concat(s.Resource, s.NotResource)
		foreign := func(r string) bool { return r != arn && !strings.HasPrefix(r, arn+"/") }
		if len(resources) == 0 || slices.ContainsFunc(resources, foreign) {
			return c.Refusef("MalformedPolicy", "Policy has invalid resource")
		}
		if blocked && isPublic(s) {
			return c.Refuse(standin.Refusal{Code: "AccessDenied", Status: 403, Message: "User: %s is not authorized to perform: s3:PutBucketPolicy on resource: \"%s\" because public policies are blocked by the BlockPublicPolicy block public access setting."},
				account.CallerARN(c.Cloud, c.Region), arn)
		}
	}
	return nil
}

// limitingKeys are the conditions that make a statement for everybody one for
// somebody.
var limitingKeys = []string{
	"aws:PrincipalAccount", "aws:PrincipalArn", "aws:PrincipalOrgID", "aws:SourceAccount", "aws:SourceArn", "aws:SourceIp",
	"aws:SourceOrgID", "aws:SourceVpc", "aws:SourceVpce", "aws:userid", "s3:DataAccessPointAccount", "s3:DataAccessPointArn",
}

// isPublic reports whether a statement lets everybody in.
func isPublic(s policy.Statement) bool {
	if s.Effect != "Allow" {
		return false
	}
	for _, keys := range s.Condition {
		for key := range keys {
			if slices.ContainsFunc(limitingKeys, func(k string) bool { return strings.EqualFold(k, key) }) {
				return false
			}
		}
	}
	var all string
	if json.Unmarshal(s.Principal, &all) == nil {
		return all == "*"
	}
	var kinds map[string]policy.OneOrMany
	return s.NotPrincipal != nil || json.Unmarshal(s.Principal, &kinds) == nil && slices.Contains(kinds["AWS"], "*")
}
