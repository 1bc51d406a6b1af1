package aws

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/efs"
	"tombolo/lab/aws/kms"
	"tombolo/lab/standin"
)

func (w *world) fileSystem(change props) *thing {
	w.T.Helper()
	return w.Make(efs.FileSystemType, "files", standin.Merged(props{"encrypted": true}, change))
}

func TestFileSystemRefusals(t *testing.T) {
	refused(t, newNetwork, []attempt{
		{"mode", efs.FileSystemType, props{"throughputMode": "fast"}, `expected throughputMode to be one of ["bursting" "provisioned" "elastic"], got fast`},
		{"one-zone storage", efs.FileSystemType, props{"availabilityZoneName": "eu-central-1a"}, "the stand-in does not play availabilityZoneName of aws:efs/fileSystem:FileSystem"},
		{"key without encryption", efs.FileSystemType, props{"kmsKeyId": "arn:aws:kms:eu-central-1:111122223333:key/00000000-0000-0000-0000-000000000001"}, "encrypted must be set to true when kms_key_id is specified"},
		{
			"no key", efs.FileSystemType,
			props{"encrypted": true, "kmsKeyId": "arn:aws:kms:eu-central-1:111122223333:key/00000000-0000-0000-0000-000000000001"},
			"BadRequest: Failed to use the KMS key arn:aws:kms:eu-central-1:111122223333:key/00000000-0000-0000-0000-000000000001: NotFoundException: Key 'arn:aws:kms:eu-central-1:111122223333:key/00000000-0000-0000-0000-000000000001' does not exist",
		},
		{"key of another region", efs.FileSystemType, func(w *world) props {
			key := w.Make(kms.KeyType, "files", props{})
			return props{"encrypted": true, "kmsKeyId": strings.Replace(key.Out.Str("arn"), "eu-central-1", "eu-west-1", 1)}
		}, "NotFoundException: Invalid arn eu-west-1"},
		{"key that is disabled", efs.FileSystemType, func(w *world) props {
			key := w.Make(kms.KeyType, "files", props{"isEnabled": false})
			return props{"encrypted": true, "kmsKeyId": key.Out["arn"]}
		}, " is disabled."},
		{"token used", efs.FileSystemType, func(w *world) props {
			w.fileSystem(props{"creationToken": "demo"})
			return props{"creationToken": "demo"}
		}, "FileSystemAlreadyExists: File system 'fs-0"},
		{"throughput", efs.FileSystemType, props{"throughputMode": "provisioned"}, "BadRequest: the throughput mode provisioned goes with provisionedThroughputInMibps"},
		{"transition", efs.FileSystemType, props{"lifecyclePolicies": []any{map[string]any{"transitionToIa": "AFTER_2_DAYS"}}}, `expected lifecyclePolicies[0].transitionToIa to be one of ["AFTER_7_DAYS"`},
		{
			"two transitions in one", efs.FileSystemType,
			props{"lifecyclePolicies": []any{map[string]any{"transitionToIa": "AFTER_30_DAYS", "transitionToPrimaryStorageClass": "AFTER_1_ACCESS"}}},
			"BadRequest: A lifecycle policy has exactly one transition",
		},
		{"no file system", efs.MountTargetType, func(w *world) props { return props{"fileSystemId": "fs-00000001", "subnetId": w.subnetA.ID} }, "FileSystemNotFound: File system 'fs-00000001' does not exist."},
		{"no subnet", efs.MountTargetType, func(w *world) props {
			return props{"fileSystemId": w.fileSystem(nil).ID, "subnetId": "subnet-00000001"}
		}, "SubnetNotFound: The subnet ID 'subnet-00000001' does not exist"},
		{"no group", efs.MountTargetType, func(w *world) props {
			return props{"fileSystemId": w.fileSystem(nil).ID, "subnetId": w.subnetA.ID, "securityGroups": []any{"sg-00000001"}}
		}, "SecurityGroupNotFound: The security group 'sg-00000001' does not exist"},
		{"group of another network", efs.MountTargetType, func(w *world) props {
			other := w.Make(ec2.VPCType, "other", props{"cidrBlock": "10.9.0.0/16"})
			group := w.Make(ec2.SecurityGroupType, "other", props{"vpcId": other.ID})
			return props{"fileSystemId": w.fileSystem(nil).ID, "subnetId": w.subnetA.ID, "securityGroups": []any{group.ID}}
		}, "is not in the VPC 'vpc-0"},
		{"zone twice", efs.MountTargetType, func(w *world) props {
			in := props{"fileSystemId": w.fileSystem(nil).ID, "subnetId": w.subnetA.ID}
			w.Make(efs.MountTargetType, "first", in)
			subnet := w.Make(ec2.SubnetType, "more", props{"vpcId": w.vpc.ID, "cidrBlock": "10.0.9.0/24", "availabilityZone": "eu-central-1a"})
			return standin.Merged(in, props{"subnetId": subnet.ID})
		}, "MountTargetConflict: mount target already exists in this AZ"},
		{"two networks", efs.MountTargetType, func(w *world) props {
			in := props{"fileSystemId": w.fileSystem(nil).ID, "subnetId": w.subnetA.ID}
			w.Make(efs.MountTargetType, "first", in)
			other := w.Make(ec2.VPCType, "other", props{"cidrBlock": "10.9.0.0/16"})
			subnet := w.Make(ec2.SubnetType, "more", props{"vpcId": other.ID, "cidrBlock": "10.9.0.0/24", "availabilityZone": "eu-central-1b"})
			return standin.Merged(in, props{"subnetId": subnet.ID})
		}, "MountTargetConflict: requested subnet for new mount target is not in the same VPC as existing mount targets"},
		{"backup of nothing", efs.BackupPolicyType, props{"fileSystemId": "fs-00000001", "backupPolicy": map[string]any{"status": "ENABLED"}}, "FileSystemNotFound: File system 'fs-00000001' does not exist."},
		{"backup status", efs.BackupPolicyType, func(w *world) props {
			return props{"fileSystemId": w.fileSystem(nil).ID, "backupPolicy": map[string]any{"status": "ON"}}
		}, `expected status to be one of ["DISABLED" "ENABLED"], got ON`},
	})
}

func TestFileSystem(t *testing.T) {
	w := newNetwork(t)
	files := w.Add(efs.FileSystemType, "files", props{"creationToken": "demo", "encrypted": true, "tags": map[string]any{"Name": "demo"}})
	assert.Check(t, files.Out.Str("dnsName") == files.ID+".efs.eu-central-1.amazonaws.com" && files.Out.Str("name") == "demo" && files.Out.Str("kmsKeyId") != "", "file system is %v", files.Out)
	w.Add(efs.BackupPolicyType, "backup", props{"fileSystemId": files.ID, "backupPolicy": map[string]any{"status": "ENABLED"}})
	for name, subnet := range map[string]*thing{"a": w.subnetA, "b": w.subnetB} {
		target := w.Add(efs.MountTargetType, name, props{"fileSystemId": files.ID, "subnetId": subnet.ID, "securityGroups": []any{w.group.ID}})
		zone := "eu-central-1" + name
		assert.Check(t, target.Out.Str("availabilityZoneName") == zone && strings.HasPrefix(target.Out.Str("mountTargetDnsName"), zone+"."+files.ID), "mount target is %v", target.Out)
	}
	if _, out := w.read(files); out.Integer("numberOfMountTargets") != 2 {
		t.Errorf("the file system has %v mount targets", out["numberOfMountTargets"])
	}
	refuses(t, w.Delete(files), "FileSystemInUse: File system '"+files.ID+"' has mount targets.")
	refuses(t, w.Delete(w.group), "api error DependencyViolation: resource "+w.group.ID+" has a dependent object")
	refuses(t, w.Delete(w.subnetA), "api error DependencyViolation: The subnet '"+w.subnetA.ID+"' has dependencies and cannot be deleted.")
	w.TakeDown()
}

// TestMountTargetsGroups: without groups it is the network's own, and groups
// change in place.
func TestMountTargetsGroups(t *testing.T) {
	w := newNetwork(t)
	target := w.Make(efs.MountTargetType, "a", props{"fileSystemId": w.fileSystem(nil).ID, "subnetId": w.subnetA.ID})
	assert.Check(t, is.DeepEqual([]string{w.vpc.Out.Str("defaultSecurityGroupId")}, target.Out.List("securityGroups")))
	err := w.Update(target, props{"securityGroups": []any{w.group.ID}})
	assert.Check(t, err == nil && target.Out.Str("networkInterfaceId") != "", "update gives %v, %v", err, target.Out)
}
