package addon

import (
	"fmt"
	"slices"

	"tombolo/config/field"
	"tombolo/config/form"
	"tombolo/config/strict"
)

// LokiOptions are the options of loki.
type LokiOptions struct {
	// RetentionDays is how long logs are kept, in days. Default 30.
	RetentionDays int `yaml:"retentionDays,omitempty"`
	// KMSKeyARN is your own key that encrypts the bucket, of the cluster's region. Its
	// policy has to let Loki's role use it where the key is of another account. Default: a
	// key of S3's own.
	KMSKeyARN string `yaml:"kmsKeyArn,omitempty" cloud:"aws"`
	// Container is the id of a blob container of others that logs are kept in. Default: one
	// that core makes, in a storage account that goes with the cluster.
	Container string `yaml:"container,omitempty" cloud:"azure"`
}

var lokiOptionsFields = field.Of[LokiOptions](map[string]field.Descriptor{
	"RetentionDays": {
		Rule: strict.Rule{Least: new(1), Default: 30}, Change: field.Changes("the bucket's lifecycle changes, and the engine follows the values; a shorter one deletes older logs"),
		AzureChange: field.Changes("the lifecycle of core's container changes, and the engine follows the values; a shorter one deletes older logs"),
	},
	"KMSKeyARN": {
		KeyRemedy: ownKey, Rule: kmsKeys,
		Change: field.Changes("the bucket and the role's policy change: new logs have the key, and older ones stay under theirs, which Loki cannot use any more where it was another key of your own"),
		Remedy: "remove it: Azure encrypts a storage account by keys of its own",
	},
	"Container": {
		Rule: strict.Rule{
			What: "the id of a blob container", Pattern: form.ContainerID, Advice: form.IDAdvice(form.ContainerID),
			Example: "/subscriptions/00000000-0000-4000-8000-000000000002/resourceGroups/logs/providers/Microsoft.Storage/storageAccounts/platformlogs/blobServices/default/containers/loki",
		},
		Change: field.Changes("Loki keeps logs in the other container, and finds those in the one before no longer; a container of core's is deleted with its account and the logs in it"),
		Remedy: "remove it: core makes a bucket",
	},
})

// lokiURL is where Loki answers queries.
const lokiURL = "http://loki-gateway.loki.svc.cluster.local"

// lokiGraceDays is how much longer the bucket keeps an object than Loki does.
// Loki deletes by the age of the logs, some time after they are due, and needs
// the index until then; the bucket catches what Loki left behind.
const lokiGraceDays = 7

var _ = register(Addon{
	Name:      "loki",
	Summary:   "Stores the cluster's logs in a bucket, or in a blob container on Azure, and answers queries.",
	Namespace: "loki",
	Stage:     Others,
}, definition[LokiOptions]{
	Fields: lokiOptionsFields,
	Needs: func(in Input[LokiOptions]) Needs {
		if in.onAzure() {
			return containerNeeds(in.Facts, in.Options)
		}
		return Needs{
			Bucket: &Bucket{
				Name: lokiBucket(in.Facts), ExpireDays: in.Options.RetentionDays + lokiGraceDays, KMSKeyARN: in.Options.KMSKeyARN,
			},
			Identities: []Identity{{ServiceAccount: lokiAccount, Statements: lokiStatements(in.Facts, in.Options.KMSKeyARN)}},
		}
	},
	Keys: []key[LokiOptions]{
		{
			"loki_bucket", "Bucket that Loki keeps logs in, or blob container on Azure.", "demo-loki-111122223333-eu-central-1",
			func(in Input[LokiOptions], out Outputs) string { return lokiStoreOf(in, out).bucket },
		},
		{
			"loki_storage_account", `Storage account of that container on Azure, "" on AWS.`, "lokidemo0123abcd",
			func(_ Input[LokiOptions], out Outputs) string { return out.Made[AccountName] },
		},
	},
	Values: func(in Input[LokiOptions], out Outputs) map[string]any {
		store := lokiStoreOf(in, out)
		loki := map[string]any{
			"storage": store.storage,
			// Loki takes days in hours.
			"limits_config": map[string]any{"retention_period": fmt.Sprintf("%dh", in.Options.RetentionDays*24)},
		}
		// They say which cluster an alert is of. Source: ExternalLabels in pkg/ruler/base/ruler.go of
		// https://github.com/grafana/loki/tree/v3.7.6
		ruler := map[string]any{"external_labels": clusterLabels(in.Facts)}
		if slices.Contains(in.Enabled, "kube-prometheus-stack") {
			ruler["alertmanager_url"] = alertmanagerURL
		}
		loki["rulerConfig"] = ruler
		return map[string]any{"serviceAccount": store.account, "singleBinary": store.pod, "loki": loki}
	},
})

// lokiAccount is the service account of Loki.
const lokiAccount = "loki"

// lokiStore is where Loki keeps logs, by the values of its chart.
type lokiStore struct {
	// bucket, or container.
	bucket string
	// storage is what the tree's schemaConfig takes the type of its object store from.
	storage map[string]any
	// account is the service account, and pod what the pod has more.
	account, pod map[string]any
}

// lokiStoreOf is the store of a cloud. What has not reached it yet is on a volume where the
// cluster has them, or lasts as long as the pod.
func lokiStoreOf(in Input[LokiOptions], out Outputs) lokiStore {
	if in.onAzure() {
		return lokiContainer(in, out)
	}
	volume := map[string]any{"enabled": false}
	if slices.Contains(in.Enabled, "aws-ebs-csi-driver") {
		volume = map[string]any{"enabled": true, "storageClass": "gp3"}
	}
	return lokiStore{
		bucket: out.Made[BucketName],
		storage: map[string]any{
			"type": "s3", "bucketNames": map[string]any{"chunks": out.Made[BucketName]}, "s3": map[string]any{"region": in.Region},
		},
		account: serviceAccount(lokiAccount, out.Made[RoleARN]),
		pod:     map[string]any{"persistence": volume},
	}
}

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
