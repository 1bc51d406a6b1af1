package addon

import (
	"strings"

	"tombolo/config/field"
)

// EBSOptions are the options of aws-ebs-csi-driver.
type EBSOptions struct {
	// KMSKeyARN is your own key that encrypts the volumes. Default: the account's
	// key for EBS.
	KMSKeyARN string `yaml:"kmsKeyArn,omitempty"`
}

var ebsOptionsFields = field.Of[EBSOptions](map[string]field.Descriptor{
	"KMSKeyARN": {KeyRemedy: ownKey, Rule: kmsKeys, Change: field.Changes("the role's policy changes, and new volumes have the key; old ones keep theirs")},
})

var _ = register(Addon{
	Name:      "aws-ebs-csi-driver",
	Summary:   "Makes EBS volumes for claims, and attaches them to nodes.",
	Namespace: "kube-system",
	Stage:     Others,
	NotOn: notOnAzure("makes volumes of AWS",
		"remove it: AKS brings its driver for disks, with the StorageClass managed-csi"),
}, definition[EBSOptions]{
	Fields: ebsOptionsFields,
	Needs: func(in Input[EBSOptions]) Needs {
		return Needs{Identities: []Identity{{
			ServiceAccount: "ebs-csi-controller-sa", Statements: ebsStatements(in.Facts, in.Options.KMSKeyARN),
		}}}
	},
	Keys: []key[EBSOptions]{{
		// In quotes, as an empty string means the account's own key.
		"ebs_kms_key", "KMS key of EBS volumes in JSON, \"\" for the account's own.", `"arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"`,
		func(in Input[EBSOptions], _ Outputs) string { return inJSON(in.Options.KMSKeyARN) },
	}},
	Values: func(in Input[EBSOptions], out Outputs) map[string]any {
		values := map[string]any{"controller": map[string]any{
			"region":         in.Region,
			"serviceAccount": serviceAccount("ebs-csi-controller-sa", out.Made[RoleARN]),
			// The driver's role requires the tag of this on volumes.
			"k8sTagClusterId": in.NameInCloud(),
			"extraVolumeTags": in.tagsBut(equalsInKey),
		}}
		if in.Egress.Proxy == "" {
			return values
		}
		// The driver's own keys: https://github.com/kubernetes-sigs/aws-ebs-csi-driver/tree/master/charts/aws-ebs-csi-driver
		return with(values, "proxy", map[string]any{"http_proxy": in.Egress.Proxy, "no_proxy": strings.Join(in.Egress.NoProxy, ",")})
	},
})

// ebsStatements follow the managed policy AmazonEBSCSIDriverPolicyV2 and the
// driver's "Installation" page, with the tag of this cluster where those are
// content with any cluster's. Volumes that the driver did not make cannot be
// attached. Snapshots and copies of volumes are left out: the tree has no
// snapshot controller.
func ebsStatements(f Facts, kmsKeyARN string) []Statement {
	volumes := []string{f.ec2("volume/*")}
	attach := []string{"ec2:AttachVolume", "ec2:DetachVolume"}
	statements := []Statement{
		{
			Sid: "ReadRegion",
			Actions: []string{
				"ec2:DescribeAvailabilityZones", "ec2:DescribeInstances", "ec2:DescribeInstanceTypes", "ec2:DescribeTags",
				"ec2:DescribeVolumes", "ec2:DescribeVolumesModifications", "ec2:DescribeVolumeStatus",
			},
			Resources:  []string{"*"},
			Conditions: f.inRegion(),
			Reason:     "EC2's Describe actions take no resource; the condition keeps them to the region.",
		},
		{
			Sid: "MakeTaggedVolumes", Actions: []string{"ec2:CreateVolume"},
			Resources: volumes, Conditions: requestTag(f.ClusterTag(), "owned"),
		},
		{
			Sid: "TagNewVolumes", Actions: []string{"ec2:CreateTags"},
			Resources: volumes, Conditions: newTag("ec2", f.ClusterTag(), "owned", "CreateVolume"),
		},
		{
			Sid: "UseOwnVolumes", Actions: append([]string{"ec2:DeleteVolume", "ec2:ModifyVolume"}, attach...),
			Resources: volumes, Conditions: resourceTag(f.ClusterTag(), "owned"),
		},
		// EKS tags the instances of node groups, Karpenter has to tag its own.
		{
			Sid: "AttachToNodeGroups", Actions: attach,
			Resources: []string{f.ec2("instance/*")}, Conditions: resourceTag("eks:cluster-name", f.NameInCloud()),
		},
		{
			Sid: "AttachToKarpentersNodes", Actions: attach,
			Resources: []string{f.ec2("instance/*")}, Conditions: resourceTag("eks:eks-cluster-name", f.NameInCloud()),
		},
	}
	if kmsKeyARN != "" {
		statements = append(statements, volumeKeyStatements(f, kmsKeyARN)...)
	}
	return statements
}

// volumeKeyStatements let EC2 use the key for the volumes that a driver makes, or the
// instances that Karpenter starts:
// https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption-requirements.html
func volumeKeyStatements(f Facts, arn string) []Statement {
	grants := f.through("ec2")
	grants["Bool"] = map[string][]string{"kms:GrantIsForAWSResource": {"true"}}
	return []Statement{
		{Sid: "GrantKeyToEC2", Actions: []string{"kms:CreateGrant"}, Resources: []string{arn}, Conditions: grants},
		{
			Sid:        "UseKeyThroughEC2",
			Actions:    []string{"kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncryptFrom", "kms:ReEncryptTo"},
			Resources:  []string{arn},
			Conditions: f.through("ec2"),
		},
	}
}
