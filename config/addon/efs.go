package addon

import (
	"tombolo/config/field"
	"tombolo/config/strict"
	"tombolo/internal/names"
)

// EFSOptions are the options of aws-efs-csi-driver.
type EFSOptions struct {
	// Backup of the file system by AWS Backup, daily. Default true.
	Backup *bool `yaml:"backup,omitempty"`
	// KMSKeyARN is your own key that encrypts the file system, of the cluster's region. EFS
	// keeps the key that a file system was made with. Default: the account's key for EFS.
	KMSKeyARN string `yaml:"kmsKeyArn,omitempty"`
}

var efsOptionsFields = field.Of[EFSOptions](map[string]field.Descriptor{
	"Backup": {Rule: strict.Rule{Default: true}, Change: field.Changes("AWS Backup starts or stops; the file system stays")},
	"KMSKeyARN": {
		KeyRemedy: ownKey, Rule: kmsKeys,
		// internal/service/efs/file_system.go: ForceNew, and computed where it is left out.
		Change: []field.Case{
			{When: "removed", Effect: field.InPlace, Words: "nothing changes: EFS keeps the key of the file system", Applies: func(c field.Change) bool { return c.After == "" }},
			{
				Effect: field.NeedsRebuild, Words: "EFS keeps the key that the file system was made with, and the file system has your data",
				Remedy: "take the change back; or save the data, turn the addon off with an up, and on again with the key",
			},
		},
	},
})

// The two service accounts of the driver, and the names of their identities.
const (
	efsController        = "controller"
	efsNode              = "mount"
	efsControllerAccount = "efs-csi-controller-sa"
	efsNodeAccount       = "efs-csi-node-sa"
)

// efsDriverTag is on every access point that the driver makes.
const efsDriverTag = "efs.csi.aws.com/cluster"

var _ = register(Addon{
	Name:      "aws-efs-csi-driver",
	Summary:   "Makes volumes that many nodes share, in an EFS file system.",
	Namespace: "kube-system",
	Stage:     Others,
	NotOn: notOnAzure("makes file systems of AWS",
		"remove it: AKS brings its driver for Azure Files, with the StorageClass azurefile-csi"),
}, definition[EFSOptions]{
	Fields: efsOptionsFields,
	Needs: func(in Input[EFSOptions]) Needs {
		return Needs{
			FileSystem: &FileSystem{Name: in.Named("efs"), Backup: *in.Options.Backup, KMSKeyARN: in.Options.KMSKeyARN},
			Identities: []Identity{
				{Name: efsController, ServiceAccount: efsControllerAccount, Statements: efsControllerStatements(in.Facts)},
				{Name: efsNode, ServiceAccount: efsNodeAccount, Statements: efsNodeStatements(in.Facts)},
			},
		}
	},
	Keys: []key[EFSOptions]{{
		"efs_file_system_id", "Id of the cluster's EFS file system.", "fs-0123456789abcdef0",
		func(_ Input[EFSOptions], out Outputs) string { return out.Made[FileSystemID] },
	}},
	Values: func(in Input[EFSOptions], out Outputs) map[string]any {
		tags := in.tagsBut(colonOrSpace)
		tags[in.ClusterTag()] = "owned" // the driver's role requires it on access points
		return map[string]any{
			"controller": map[string]any{
				"serviceAccount": serviceAccount(efsControllerAccount, out.Made[RoleOutput(efsController)]),
				"tags":           tags,
			},
			"node": map[string]any{
				"serviceAccount": serviceAccount(efsNodeAccount, out.Made[RoleOutput(efsNode)]),
			},
		}
	},
})

// efsControllerStatements follow the managed policy AmazonEFSCSIDriverPolicy,
// with access points in the file system that core made for this cluster only.
func efsControllerStatements(f Facts) []Statement {
	points := []string{f.ARN("elasticfilesystem", "access-point/*")}
	files := []string{f.ARN("elasticfilesystem", "file-system/*")}
	create := requestTag(f.ClusterTag(), "owned")
	create["StringEquals"]["aws:RequestTag/"+efsDriverTag] = []string{"true"}
	create["StringEquals"]["aws:ResourceTag/"+names.ClusterTag] = []string{f.Cluster}
	return append([]Statement{
		{
			Sid: "ReadFileSystems", Actions: []string{"elasticfilesystem:DescribeAccessPoints", "elasticfilesystem:DescribeFileSystems"},
			Resources: append(points, files...),
		},
		{
			Sid: "MakeAccessPoints", Actions: []string{"elasticfilesystem:CreateAccessPoint"},
			Resources: files, Conditions: create,
		},
		{
			Sid: "TagNewAccessPoints", Actions: []string{"elasticfilesystem:TagResource"}, Resources: points,
			Conditions: newTag("elasticfilesystem", f.ClusterTag(), "owned", "CreateAccessPoint"),
		},
		{
			Sid: "DeleteOwnAccessPoints", Actions: []string{"elasticfilesystem:DeleteAccessPoint"},
			Resources: points, Conditions: resourceTag(f.ClusterTag(), "owned"),
		},
	}, efsNodeStatements(f)...)
}

// efsNodeStatements let the driver find the mount target of a zone when DNS does
// not have it. Mounting requires no permission: the file system's security group
// decides.
func efsNodeStatements(f Facts) []Statement {
	return []Statement{
		{
			Sid: "FindMountTargets", Actions: []string{"elasticfilesystem:DescribeMountTargets"},
			Resources: []string{f.ARN("elasticfilesystem", "file-system/*")},
		},
		{
			Sid: "ReadZones", Actions: []string{"ec2:DescribeAvailabilityZones"}, Resources: []string{"*"},
			Conditions: f.inRegion(),
			Reason:     "EC2's Describe actions take no resource; the condition keeps them to the region.",
		},
	}
}
