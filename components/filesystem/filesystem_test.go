package filesystem

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"gotest.tools/v3/assert"

	"tombolo/components/recorder"
)

func fileSystemArgs() *FileSystemArgs {
	return &FileSystemArgs{
		Name: "demo-shared", VPCID: pulumi.String("vpc-1"), ClientSecurityGroupID: pulumi.String("sg-nodes"),
		Subnets: pulumi.StringMap{"eu-central-1a": pulumi.String("subnet-a"), "eu-central-1b": pulumi.String("subnet-b")},
	}
}

func run(args *FileSystemArgs) (*recorder.Recorder, error) {
	r := &recorder.Recorder{}
	return r, r.Run("demo-core", recorder.Probing("demo-efs", NewFileSystem, args, func(fs *FileSystem) pulumi.Map {
		return pulumi.Map{"id": fs.ID, "arn": fs.ARN}
	}))
}

func built(t *testing.T, change func(*FileSystemArgs)) *recorder.Recorder {
	t.Helper()
	args := fileSystemArgs()
	if change != nil {
		change(args)
	}
	r, err := run(args)
	return r.Sound(t, err)
}

func TestFileSystem(t *testing.T) {
	const token = "aws:efs/fileSystem:FileSystem"
	built(t, nil).OfType(token)[0].Expect(t, map[string]string{
		"encrypted": "true", "kmsKeyId": "", "throughputMode": "elastic", "creationToken": "demo-shared",
		"lifecyclePolicies[0].transitionToIa": "AFTER_30_DAYS", "tags.Name": "demo-shared",
	})
	const key = "arn:aws:kms:eu-central-1:111122223333:key/1"
	built(t, func(a *FileSystemArgs) { a.KMSKeyARN = key }).OfType(token)[0].Expect(t, map[string]string{"kmsKeyId": key, "encrypted": "true"})
}

func TestBackup(t *testing.T) {
	for want, backup := range map[string][]*bool{"ENABLED": {nil, new(true)}, "DISABLED": {new(false)}} {
		for _, b := range backup {
			r := built(t, func(a *FileSystemArgs) { a.Backup = b })
			r.OfType("aws:efs/backupPolicy:BackupPolicy")[0].Expect(t, map[string]string{
				"fileSystemId": "demo-efs-files-id", "backupPolicy.status": want,
			})
		}
	}
}

func TestOnlyClientsGetInByNFS(t *testing.T) {
	r := built(t, nil)
	group := r.OfType("aws:ec2/securityGroup:SecurityGroup")[0]
	group.Expect(t, map[string]string{"vpcId": "vpc-1", "name": "demo-shared"})
	for _, rules := range []string{"ingress", "egress"} {
		_, given := group.Value(rules)
		assert.Check(t, !given, "the group has %s rules of its own", rules)
	}
	rules := r.OfType("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")
	assert.Assert(t, len(rules) == 1, "%d rules, expected 1", len(rules))
	rules[0].Expect(t, map[string]string{
		"securityGroupId": "demo-efs-files-id", "referencedSecurityGroupId": "sg-nodes", "cidrIpv4": "",
		"ipProtocol": "tcp", "fromPort": "2049", "toPort": "2049",
	})
}

func TestMountTargets(t *testing.T) {
	r := built(t, nil)
	for zone, subnet := range map[string]string{"eu-central-1a": "subnet-a", "eu-central-1b": "subnet-b"} {
		target, _ := r.Named("aws:efs/mountTarget:MountTarget", "demo-efs-mount-"+zone)
		target.Expect(t, map[string]string{
			"subnetId": subnet, "fileSystemId": "demo-efs-files-id", "securityGroups[0]": "demo-efs-files-id", "securityGroups[1]": "",
		})
		target.ExpectAfter(t, "securityGroups", "demo-efs-files")
	}
	r.Probed().Expect(t, map[string]string{"id": "demo-efs-files-id", "arn": "arn:aws:test:eu-central-1:111122223333:demo-efs-files"})
	for _, output := range []string{"id", "arn"} {
		r.Probed().ExpectAfter(t, output, "demo-efs-mount-eu-central-1a", "demo-efs-mount-eu-central-1b", "demo-efs-nfs")
	}
}

func TestFileSystemValidate(t *testing.T) {
	recorder.Refuses(t, "demo-efs", NewFileSystem, "file system demo-efs: ", fileSystemArgs, map[string]func(*FileSystemArgs){
		`name "" has 0 characters; EFS allows 1 to 64`:                       func(a *FileSystemArgs) { a.Name = "" },
		"has 65 characters; EFS allows 1 to 64":                              func(a *FileSystemArgs) { a.Name = strings.Repeat("x", 65) },
		"VPC and the clients' security group are required":                   func(a *FileSystemArgs) { a.ClientSecurityGroupID = nil },
		"no subnet gets a mount target; nothing could mount the file system": func(a *FileSystemArgs) { a.Subnets = nil },
	})
}
