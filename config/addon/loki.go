package addon

import (
	"fmt"
	"slices"

	"tombolo/config/strict"
)

// LokiOptions are the options of loki.
type LokiOptions struct {
	// RetentionDays is how long logs are kept, in days. Default 30.
	RetentionDays int `yaml:"retentionDays,omitempty"`
	// KMSKeyARN is your own key that encrypts the bucket, of the cluster's region. Its
	// policy has to let Loki's role use it where the key is of another account. Default: a
	// key of S3's own.
	KMSKeyARN string `yaml:"kmsKeyArn,omitempty"`
}

// lokiURL is where Loki answers queries.
const lokiURL = "http://loki-gateway.loki.svc.cluster.local"

// lokiGraceDays is how much longer the bucket keeps an object than Loki does.
// Loki deletes by the age of the logs, some time after they are due, and needs
// the index until then; the bucket catches what Loki left behind.
const lokiGraceDays = 7

var _ = register(Addon{
	Name:      "loki",
	Summary:   "Stores the cluster's logs in a bucket, and answers queries.",
	Namespace: "loki",
	Stage:     Others,
	NotOn: notOnAzure("keeps logs in a bucket of S3, and this catalogue has it for AWS alone",
		"remove it, and bring it by the platform tree with a service whose identity has the role Storage Blob Data Contributor"),
}, definition[LokiOptions]{
	Rules: map[string]strict.Rule{
		"LokiOptions.RetentionDays": {Least: new(1), Default: 30}, "LokiOptions.KMSKeyARN": kmsKeys,
	},
	Needs: func(in Input[LokiOptions]) Needs {
		return Needs{
			Bucket: &Bucket{
				Name: lokiBucket(in.Facts), ExpireDays: in.Options.RetentionDays + lokiGraceDays, KMSKeyARN: in.Options.KMSKeyARN,
			},
			Identities: []Identity{{ServiceAccount: "loki", Statements: lokiStatements(in.Facts, in.Options.KMSKeyARN)}},
		}
	},
	Keys: []key[LokiOptions]{{
		"loki_bucket", "Bucket that Loki keeps logs in.", "demo-loki-111122223333-eu-central-1",
		func(_ Input[LokiOptions], out Outputs) string { return out.Made[BucketName] },
	}},
	Values: func(in Input[LokiOptions], out Outputs) map[string]any {
		loki := map[string]any{
			"storage": map[string]any{
				"bucketNames": map[string]any{"chunks": out.Made[BucketName]},
				"s3":          map[string]any{"region": in.Region},
			},
			// Loki takes days in hours.
			"limits_config": map[string]any{"retention_period": fmt.Sprintf("%dh", in.Options.RetentionDays*24)},
		}
		if slices.Contains(in.Enabled, "kube-prometheus-stack") {
			loki["rulerConfig"] = map[string]any{"alertmanager_url": alertmanagerURL}
		}
		return map[string]any{
			"serviceAccount": serviceAccount("loki", out.Made[RoleARN]),
			// What has not reached the bucket yet is on a volume where the cluster has
			// them, or lasts as long as the pod.
			"singleBinary": map[string]any{"persistence": map[string]any{"enabled": slices.Contains(in.Enabled, "aws-ebs-csi-driver")}},
			"loki":         loki,
		}
	},
})

// lokiBucket holds account and region, which make it unique in the world.
func lokiBucket(f Facts) string { return f.Named("loki") + "-" + f.Account + "-" + f.Region }

// lokiStatements follow "Amazon S3" in Loki's storage documentation, and what S3 asks of who
// writes and reads under a key: https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
func lokiStatements(f Facts, kmsKeyARN string) []Statement {
	bucket := f.GlobalARN("s3", lokiBucket(f))
	statements := []Statement{
		{Sid: "ListBucket", Actions: []string{"s3:ListBucket"}, Resources: []string{bucket}},
		{
			Sid: "KeepLogs", Actions: []string{"s3:DeleteObject", "s3:GetObject", "s3:PutObject"},
			Resources: []string{bucket + "/*"},
		},
	}
	if kmsKeyARN != "" {
		statements = append(statements, Statement{
			Sid: "UseKeyThroughS3", Actions: []string{"kms:Decrypt", "kms:GenerateDataKey"},
			Resources: []string{kmsKeyARN}, Conditions: f.through("s3"),
		})
	}
	return statements
}
