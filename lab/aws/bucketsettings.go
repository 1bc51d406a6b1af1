package aws

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

var keyAlgorithms = []string{"aws:kms", "aws:kms:dsse"}

func validateBucketEncryption(in props) []problem {
	var problems []problem
	for _, rule := range in.objects("rules") {
		problems = append(problems, oneOf(rule.sub("applyServerSideEncryptionByDefault"), "sseAlgorithm", append([]string{"AES256"}, keyAlgorithms...)...)...)
	}
	return problems
}

// checkBucketEncryption leaves out whether the key exists: S3 does not ask.
func checkBucketEncryption(c *call) error {
	for _, rule := range c.in().objects("rules") {
		by := rule.sub("applyServerSideEncryptionByDefault")
		if by.str("kmsMasterKeyId") != "" && !slices.Contains(keyAlgorithms, by.str("sseAlgorithm")) {
			return c.refusef("InvalidArgument", "a KMSMasterKeyID is not applicable if the default sse algorithm is not aws:kms or aws:kms:dsse")
		}
	}
	return nil
}

// checkVersioning: versioning is suspended, never turned off again.
func checkVersioning(c *call) error {
	status := c.in().sub("versioningConfiguration").str("status")
	if c.old == nil || status != "Disabled" {
		return nil
	}
	if before := c.old.Inputs.sub("versioningConfiguration").str("status"); before != "Disabled" {
		return fmt.Errorf("versioning_configuration.status cannot be updated from '%s' to 'Disabled'", before)
	}
	return nil
}

// lifecycleActions are the things a lifecycle rule can do.
var lifecycleActions = []string{
	"abortIncompleteMultipartUpload", "expiration", "noncurrentVersionExpiration", "noncurrentVersionTransitions", "transitions",
}

var storageClasses = []string{
	"DEEP_ARCHIVE", "GLACIER", "GLACIER_IR", "INTELLIGENT_TIERING", "ONEZONE_IA", "STANDARD_IA",
}

func validateBucketLifecycle(in props) []problem {
	var problems []problem
	for _, rule := range in.objects("rules") {
		problems = append(problems, oneOf(rule, "status", "Disabled", "Enabled")...)
		if id := rule.str("id"); len(id) > 255 {
			problems = append(problems, problem{"rules", "expected length of id to be in the range (1 - 255)"})
		}
		for _, list := range []string{"transitions", "noncurrentVersionTransitions"} {
			for _, transition := range rule.objects(list) {
				problems = append(problems, oneOf(transition, "storageClass", storageClasses...)...)
			}
		}
	}
	return problems
}

func checkBucketLifecycle(c *call) error {
	ids := map[string]bool{}
	for _, rule := range c.in().objects("rules") {
		if id := rule.str("id"); ids[id] {
			return c.refusef("InvalidArgument", "Rule ID must be unique. Found same ID for one or more rules")
		}
		ids[rule.str("id")] = true
		if !slices.ContainsFunc(lifecycleActions, rule.has) {
			return c.refusef("InvalidRequest", "At least one action needs to be specified in a rule")
		}
		if err := c.checkLifecycleDays(rule); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) checkLifecycleDays(rule props) error {
	expiration := rule.sub("expiration")
	days := expiration.integer("days")
	if expiration.has("days") && days < 1 {
		return c.refusef("InvalidArgument", "'Days' for Expiration action must be a positive integer")
	}
	for _, transition := range rule.objects("transitions") {
		class, after := transition.str("storageClass"), transition.integer("days")
		if strings.HasSuffix(class, "_IA") && after < 30 && transition.has("days") {
			return c.refusef("InvalidArgument", "'Days' in Transition action must be greater than or equal to 30 for storageClass '%s'", class)
		}
		if expiration.has("days") && transition.has("days") && after >= days {
			return c.refusef("InvalidArgument", "'Days' in the Expiration action for filter '%s' must be greater than 'Days' in the Transition action", prefixOf(rule))
		}
	}
	return nil
}

func prefixOf(rule props) string {
	return "(prefix=" + rule.sub("filter").str("prefix") + ")"
}

// checkBucketPolicy refuses a policy for another bucket, and a public one while
// the bucket's public access block is on. Buckets have it on from their
// creation; only the setting turns it off:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html
func checkBucketPolicy(c *call) error {
	text, bucket := c.in().str("policy"), c.in().str("bucket")
	if message := c.malformed(text, resourcePolicy); message != "" {
		return c.refusef("MalformedPolicy", "%s", message)
	}
	var d policyDocument
	if err := strict([]byte(text), &d); err != nil {
		return c.refusef("MalformedPolicy", "%v", err)
	}
	arn := c.bucketARN(bucket)
	blocked := true
	if block := c.find(bucketAccessType, bucket); block != nil {
		blocked = block.Inputs.boolean("blockPublicPolicy")
	}
	for _, s := range d.Statement {
		resources := slices.Concat(s.Resource, s.NotResource)
		foreign := func(r string) bool { return r != arn && !strings.HasPrefix(r, arn+"/") }
		if len(resources) == 0 || slices.ContainsFunc(resources, foreign) {
			return c.refusef("MalformedPolicy", "Policy has invalid resource")
		}
		if blocked && isPublic(s) {
			return c.refuse(refusal{code: "AccessDenied", status: 403, message: "User: %s is not authorized to perform: s3:PutBucketPolicy on resource: \"%s\" because public policies are blocked by the BlockPublicPolicy block public access setting."},
				c.cloud.callerARN(c.region), arn)
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
func isPublic(s statement) bool {
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
	var kinds map[string]oneOrMany
	return s.NotPrincipal != nil || json.Unmarshal(s.Principal, &kinds) == nil && slices.Contains(kinds["AWS"], "*")
}
