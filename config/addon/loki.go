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
}, definition[LokiOptions]{
	Rules: map[string]strict.Rule{"LokiOptions.RetentionDays": {Least: new(1), Default: 30}},
	Needs: func(in Input[LokiOptions]) Needs {
		return Needs{
			Bucket:     &Bucket{Name: lokiBucket(in.Facts), ExpireDays: in.Options.RetentionDays + lokiGraceDays},
			Identities: []Identity{{ServiceAccount: "loki", Statements: lokiStatements(in.Facts)}},
		}
	},
	Keys: []key[LokiOptions]{{
		"loki_bucket", "Bucket that Loki keeps logs in.", "demo-loki-111122223333-eu-central-1",
		func(_ Input[LokiOptions], out Outputs) string { return out.Made[BucketName] },
	}},
	Values: func(in Input[LokiOptions], out Outputs) map[string]any {
		bucket := out.Made[BucketName]
		return map[string]any{
			"serviceAccount": serviceAccount("loki", out.Made[RoleARN]),
			// What has not reached the bucket yet is on a volume where the cluster has
			// them, or lasts as long as the pod.
			"singleBinary": map[string]any{"persistence": map[string]any{"enabled": slices.Contains(in.Enabled, "aws-ebs-csi-driver")}},
			"loki": map[string]any{
				"storage": map[string]any{
					// The chart also requires a bucket for alert rules. The tree
					// has no rules in it: the bucket would delete them by age.
					"bucketNames": map[string]any{"chunks": bucket, "ruler": bucket},
					"s3":          map[string]any{"region": in.Region},
				},
				// Loki takes days in hours.
				"limits_config": map[string]any{"retention_period": fmt.Sprintf("%dh", in.Options.RetentionDays*24)},
			},
		}
	},
})

// lokiBucket holds account and region, which make it unique in the world.
func lokiBucket(f Facts) string { return f.Named("loki") + "-" + f.Account + "-" + f.Region }

// lokiStatements follow "Amazon S3" in Loki's storage documentation.
func lokiStatements(f Facts) []Statement {
	bucket := f.GlobalARN("s3", lokiBucket(f))
	return []Statement{
		{Sid: "ListBucket", Actions: []string{"s3:ListBucket"}, Resources: []string{bucket}},
		{
			Sid: "KeepLogs", Actions: []string{"s3:DeleteObject", "s3:GetObject", "s3:PutObject"},
			Resources: []string{bucket + "/*"},
		},
	}
}
