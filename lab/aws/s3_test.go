package aws

import (
	"fmt"
	"strings"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"gotest.tools/v3/assert"

	"tombolo/lab/aws/s3"
	"tombolo/lab/standin"
)

func withBucket(setting props) func(*world) props {
	return func(w *world) props {
		w.Make(s3.BucketType, "bucket", props{"bucket": "logs-demo"})
		return standin.Merged(props{"bucket": "logs-demo"}, setting)
	}
}

// openPolicy lets everybody read a bucket.
func openPolicy(condition string) string {
	return policyOf(`{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::logs-demo/*"` + condition + `}`)
}

func rulesOf(rules ...map[string]any) props {
	return props{"rules": standin.Values(rules...)}
}

func TestBucketRefusals(t *testing.T) {
	attempts := []attempt{
		{"name taken", s3.BucketType, withBucket(nil), "operation error S3: CreateBucket, https response error StatusCode: 409"},
		{
			"name taken in another region", s3.BucketType, func(w *world) props {
				w.Make(s3.BucketType, "bucket", props{"bucket": "logs-demo"})
				w.Configure(props{"region": "us-east-1"})
				return props{"bucket": "logs-demo"}
			},
			" BucketAlreadyOwnedByYou: Your previous request to create the named bucket succeeded and you already own it.",
		},
		{"no bucket", s3.BucketAccessType, props{"bucket": "none"}, "api error NoSuchBucket: The specified bucket does not exist"},
		{
			"another owner", s3.BucketEncryptionType, withBucket(standin.Merged(props{"expectedBucketOwner": "444455556666"}, rulesOf(map[string]any{}))),
			"the stand-in does not play expectedBucketOwner of aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2",
		},
		{"ownership", s3.BucketOwnershipType, withBucket(props{"rule": map[string]any{"objectOwnership": "Everybody"}}), "expected rule.objectOwnership to be one of"},
		{"encryption", s3.BucketEncryptionType, withBucket(rulesOf(map[string]any{"applyServerSideEncryptionByDefault": map[string]any{"sseAlgorithm": "AES128"}})), "expected rules[0].applyServerSideEncryptionByDefault.sseAlgorithm to be one of"},
		{
			"key of no use", s3.BucketEncryptionType,
			withBucket(rulesOf(map[string]any{"applyServerSideEncryptionByDefault": map[string]any{"sseAlgorithm": "AES256", "kmsMasterKeyId": "x"}})),
			"api error InvalidArgument: a KMSMasterKeyID is not applicable if the default sse algorithm is not aws:kms or aws:kms:dsse",
		},
		{"rule of nothing", s3.BucketLifecycleType, withBucket(rulesOf(map[string]any{"id": "a", "status": "Enabled"})), "api error InvalidRequest: At least one action needs to be specified in a rule"},
		{
			"rule twice", s3.BucketLifecycleType, withBucket(rulesOf(
				map[string]any{"id": "a", "status": "Enabled", "expiration": map[string]any{"days": 1}},
				map[string]any{"id": "a", "status": "Enabled", "expiration": map[string]any{"days": 2}},
			)),
			"api error InvalidArgument: Rule ID must be unique. Found same ID for one or more rules",
		},
		{
			"no day", s3.BucketLifecycleType, withBucket(rulesOf(map[string]any{"id": "a", "status": "Enabled", "expiration": map[string]any{"days": 0}})),
			"'Days' for Expiration action must be a positive integer",
		},
		{
			"moved too early", s3.BucketLifecycleType, withBucket(rulesOf(map[string]any{
				"id": "a", "status": "Enabled", "transitions": []any{map[string]any{"days": 7, "storageClass": "STANDARD_IA"}},
			})),
			"'Days' in Transition action must be greater than or equal to 30 for storageClass 'STANDARD_IA'",
		},
		{
			"moved when gone", s3.BucketLifecycleType, withBucket(rulesOf(map[string]any{
				"id": "a", "status": "Enabled", "expiration": map[string]any{"days": 30},
				"transitions": []any{map[string]any{"days": 30, "storageClass": "GLACIER"}},
			})),
			"'Days' in the Expiration action for filter '(prefix=)' must be greater than 'Days' in the Transition action",
		},
		{
			"policy for another bucket", s3.BucketPolicyType, withBucket(props{"policy": strings.ReplaceAll(openPolicy(""), "logs-demo", "logs-demo2")}),
			"api error MalformedPolicy: Policy has invalid resource",
		},
		{
			"unknown principal", s3.BucketPolicyType,
			withBucket(props{"policy": strings.ReplaceAll(openPolicy(""), `"*"`, `{"AWS":"arn:aws:iam::111122223333:role/nobody"}`)}),
			"api error MalformedPolicy: Invalid principal in policy",
		},
		{
			"public policy", s3.BucketPolicyType, withBucket(props{"policy": openPolicy("")}),
			`api error AccessDenied: User: arn:aws:iam::111122223333:user/tombolo is not authorized to perform: s3:PutBucketPolicy on resource: "arn:aws:s3:::logs-demo" ` +
				"because public policies are blocked by the BlockPublicPolicy block public access setting.",
		},
		{"public policy, blocked by a setting", s3.BucketPolicyType, func(w *world) props {
			in := withBucket(props{"policy": strings.ReplaceAll(openPolicy(""), `"*"`, `{"AWS":["*"]}`)})(w)
			w.Make(s3.BucketAccessType, "block", props{"bucket": "logs-demo", "blockPublicPolicy": true})
			return in
		}, "because public policies are blocked by the BlockPublicPolicy"},
	}
	const shape = "only lowercase alphanumeric characters, dots and hyphens allowed, 3 to 63"
	for name, reason := range map[string]string{
		"Logs": shape, "ab": shape, strings.Repeat("x", 64): shape, "-ab": shape, "a..b": "periods must not be adjacent",
		"192.0.2.1": "must not be formatted as an IP address", "xn--a": "must not begin with xn--", "a-s3alias": "must not end with -s3alias",
	} {
		attempts = append(attempts, attempt{
			"name " + name, s3.BucketType, func(*world) props { return props{"bucket": name} },
			fmt.Sprintf("bucket: validating S3 Bucket (%s) name: %s. Examine values", name, reason),
		})
	}
	refused(t, emptyWorld, attempts)
}

func TestBucket(t *testing.T) {
	w := emptyWorld(t)
	bucket := w.Add(s3.BucketType, "bucket", props{"bucket": "logs-demo", "tags": map[string]any{"tombolo:cluster": "demo"}})
	if bucket.ID != "logs-demo" || bucket.Out.Str("arn") != "arn:aws:s3:::logs-demo" || bucket.Out.Str("region") != "eu-central-1" ||
		bucket.Out.Str("bucketRegionalDomainName") != "logs-demo.s3.eu-central-1.amazonaws.com" {
		t.Errorf("bucket is %s, %v", bucket.ID, bucket.Out)
	}
	access := w.Add(s3.BucketAccessType, "access", props{
		"bucket": bucket.ID, "blockPublicAcls": true, "blockPublicPolicy": true, "ignorePublicAcls": true, "restrictPublicBuckets": true,
	})
	w.Add(s3.BucketOwnershipType, "ownership", props{"bucket": bucket.ID, "rule": map[string]any{"objectOwnership": "BucketOwnerEnforced"}})
	w.Add(s3.BucketEncryptionType, "encryption", standin.Merged(props{"bucket": bucket.ID}, rulesOf(map[string]any{
		"applyServerSideEncryptionByDefault": map[string]any{"sseAlgorithm": "AES256"},
	})))
	w.Add(s3.BucketLifecycleType, "lifecycle", standin.Merged(props{"bucket": bucket.ID}, rulesOf(map[string]any{
		"id": "old", "status": "Enabled", "filter": map[string]any{"prefix": ""}, "expiration": map[string]any{"days": 30},
		"abortIncompleteMultipartUpload": map[string]any{"daysAfterInitiation": 1},
	})))
	policy := w.Add(s3.BucketPolicyType, "policy", props{"bucket": bucket.ID, "policy": openPolicy(`,"Condition":{"StringEquals":{"aws:SourceVpce":"vpce-1"}}`)})
	refuses(t, w.Update(policy, props{"policy": openPolicy("")}), "because public policies are blocked by the BlockPublicPolicy")
	assert.NilError(t, w.Update(access, props{"blockPublicPolicy": false}))
	err := w.Update(policy, props{"policy": openPolicy("")})
	assert.Check(t, err == nil, "a public policy where it is allowed: %v", err)
	w.TakeDown()
}

// TestBucketGoesWithItsSettings, and a new name makes a new bucket.
func TestBucketGoesWithItsSettings(t *testing.T) {
	w := emptyWorld(t)
	bucket := w.Make(s3.BucketType, "bucket", props{"bucket": "logs-demo"})
	w.Make(s3.BucketAccessType, "access", props{"bucket": bucket.ID})
	d := w.Diff(bucket, props{"bucket": "logs-other"})
	assert.Check(t, len(d.Replaces) == 1 && d.Changes == pulumirpc.DiffResponse_DIFF_SOME, "another name: %v", d)
	if err := w.Delete(bucket); err != nil || len(w.Cloud.Inventory()) != 0 {
		t.Errorf("left over after %v: %v", err, w.Cloud.Inventory())
	}
}

func TestBucketNames(t *testing.T) {
	a := newAccount(t)
	in, failures := a.Check(s3.BucketType, "Logs", nil, props{})
	if failures != "" || !strings.HasPrefix(in.Str("bucket"), "logs-") {
		t.Errorf("made up the name %s, %s", in.Str("bucket"), failures)
	}
}
