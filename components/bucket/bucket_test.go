package bucket

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

const (
	encryptionType = "aws:s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2"
	lifecycleType  = "aws:s3/bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2"
)

func run(args *BucketArgs) (*recorder.Recorder, error) {
	r := &recorder.Recorder{Outputs: map[string]resource.PropertyMap{
		"aws:s3/bucketV2:BucketV2": {"arn": resource.NewProperty("arn:aws:s3:::" + args.BucketName)},
	}}
	return r, r.Run("demo-core", recorder.Probing("demo-logs", NewBucket, args, func(b *Bucket) pulumi.Map {
		return pulumi.Map{"name": b.Name, "arn": b.ARN}
	}))
}

func built(t *testing.T, args *BucketArgs) *recorder.Recorder {
	t.Helper()
	r, err := run(args)
	return r.Sound(t, err)
}

func TestBucketIsPrivateAndKept(t *testing.T) {
	r := built(t, &BucketArgs{BucketName: "demo-loki"})
	r.OfType("aws:s3/bucketV2:BucketV2")[0].Expect(t, map[string]string{"bucket": "demo-loki", "forceDestroy": "false"})
	r.OfType("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock")[0].Expect(t, map[string]string{
		"bucket": "demo-logs-bucket-id", "blockPublicAcls": "true", "blockPublicPolicy": "true",
		"ignorePublicAcls": "true", "restrictPublicBuckets": "true",
	})
	r.OfType("aws:s3/bucketOwnershipControls:BucketOwnershipControls")[0].Expect(t, map[string]string{
		"bucket": "demo-logs-bucket-id", "rule.objectOwnership": "BucketOwnerEnforced",
	})
}

func TestPolicy(t *testing.T) {
	made := built(t, &BucketArgs{BucketName: "demo-loki"}).OfType("aws:s3/bucketPolicy:BucketPolicy")[0]
	recorder.Golden(t, "policy.json", made.String("policy"))
	assert.Check(t, made.WaitsFor("::demo-logs-private"), "the policy does not wait for the block: %v", made.DependsOn)
}

func TestEncryption(t *testing.T) {
	built(t, &BucketArgs{BucketName: "demo-loki"}).OfType(encryptionType)[0].Expect(t, map[string]string{
		"rules[0].applyServerSideEncryptionByDefault.sseAlgorithm": "AES256",
	})
	const key = "arn:aws:kms:eu-central-1:111122223333:key/1"
	built(t, &BucketArgs{BucketName: "demo-loki", KMSKeyARN: key}).OfType(encryptionType)[0].Expect(t, map[string]string{
		"rules[0].applyServerSideEncryptionByDefault.sseAlgorithm":   "aws:kms",
		"rules[0].applyServerSideEncryptionByDefault.kmsMasterKeyId": key,
		"rules[0].bucketKeyEnabled":                                  "true",
	})
}

func TestLifecycle(t *testing.T) {
	kept := built(t, &BucketArgs{BucketName: "demo-loki"}).OfType(lifecycleType)[0]
	kept.Expect(t, map[string]string{
		"rules[0].status": "Enabled", "rules[0].abortIncompleteMultipartUpload.daysAfterInitiation": "7",
	})
	_, second := kept.Value("rules[1]")
	assert.Check(t, !second, "objects expire although they are to be kept")
	built(t, &BucketArgs{BucketName: "demo-loki", ExpireDays: 30}).OfType(lifecycleType)[0].Expect(t, map[string]string{
		"rules[1].id": "expire", "rules[1].status": "Enabled", "rules[1].expiration.days": "30",
	})
}

func TestOutputsWaitUntilTheBucketIsClosed(t *testing.T) {
	probe := built(t, &BucketArgs{BucketName: "demo-loki"}).Probed()
	probe.Expect(t, map[string]string{"name": "demo-loki", "arn": "arn:aws:s3:::demo-loki"})
	for _, output := range []string{"name", "arn"} {
		probe.ExpectAfter(t, output, "demo-logs-private", "demo-logs-owner", "demo-logs-policy", "demo-logs-encryption")
	}
}

func TestBucketValidate(t *testing.T) {
	const shape = " is not 3 to 63 lower-case letters, digits, dots and hyphens with a letter or digit at both ends"
	for want, args := range map[string]*BucketArgs{
		`bucket name "ab"` + shape:                                                 {BucketName: "ab"},
		`bucket name "Logs"` + shape:                                               {BucketName: "Logs"},
		`bucket name "logs-"` + shape:                                              {BucketName: "logs-"},
		strings.Repeat("a", 64) + `"` + shape:                                      {BucketName: strings.Repeat("a", 64)},
		`bucket name "a..b" has two dots in a row`:                                 {BucketName: "a..b"},
		`bucket name "192.0.2.1" is an IP address`:                                 {BucketName: "192.0.2.1"},
		`bucket name "xn--logs" begins with xn--, which S3 keeps for itself`:       {BucketName: "xn--logs"},
		`bucket name "logs-s3alias" ends with -s3alias, which S3 keeps for itself`: {BucketName: "logs-s3alias"},
		"objects cannot expire after -1 days; 0 keeps them":                        {BucketName: "logs", ExpireDays: -1},
	} {
		r, err := run(args)
		assert.Check(t, is.ErrorContains(err, "bucket demo-logs: "))
		assert.Check(t, is.ErrorContains(err, want))
		assert.Check(t, len(r.All()) == 0, "%q: something was registered", want)
	}
}
