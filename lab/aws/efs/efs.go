// Package efs is Elastic File System in the stand-in.
package efs

import (
	"fmt"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/efs"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/ec2"
	"tombolo/lab/aws/kms"
	"tombolo/lab/standin"
)

// The types of EFS.
const (
	FileSystemType   = "aws:efs/fileSystem:FileSystem"
	MountTargetType  = "aws:efs/mountTarget:MountTarget"
	BackupPolicyType = "aws:efs/backupPolicy:BackupPolicy"
)

// mountGroupQuota is the number of security groups of a mount target:
// https://docs.aws.amazon.com/efs/latest/ug/limits.html
const mountGroupQuota = 5

// ofFileSystem is the reference of what belongs to a file system.
func ofFileSystem(cascade bool) standin.Reference {
	return standin.Reference{Path: []string{"fileSystemId"}, To: FileSystemType, Cascade: cascade, Missing: standin.Refusal{
		Code: "FileSystemNotFound", Status: 404, Message: "File system '%s' does not exist.",
	}}
}

// Types are file systems, and what belongs to them.
func Types() map[string]*standin.Type {
	return map[string]*standin.Type{
		FileSystemType: {
			Constructor: efs.NewFileSystem,
			Noun:        "EFS File System",
			API:         standin.API{Service: "EFS", Create: "CreateFileSystem", Update: "UpdateFileSystem", Remove: "DeleteFileSystem"},
			// internal/service/efs/file_system.go
			ForceNew: []string{"creationToken", "encrypted", "kmsKeyId"},
			Defaults: standin.Props{"throughputMode": "bursting"},
			Unplayed: []string{"availabilityZoneName", "performanceMode", "protection", "provisionedThroughputInMibps"},
			// The wording of AWS's message is not documented.
			InUse:    standin.Refusal{Code: "FileSystemInUse", Status: 409, Message: "File system '%s' has mount targets."},
			Validate: validateFileSystem,
			Create:   createFileSystem,
			Update:   describeFileSystem,
			Takes:    standin.Timing{Create: 10 * time.Second, Update: 10 * time.Second, Remove: 10 * time.Second},
		},
		MountTargetType: {
			Constructor: efs.NewMountTarget,
			Noun:        "EFS Mount Target",
			API:         standin.API{Service: "EFS", Create: "CreateMountTarget", Update: "ModifyMountTargetSecurityGroups", Remove: "DeleteMountTarget"},
			// internal/service/efs/mount_target.go
			ForceNew: []string{"fileSystemId", "subnetId"},
			Unplayed: []string{"ipAddress"},
			// Its network interface keeps subnet and groups from being deleted.
			References: []standin.Reference{
				ofFileSystem(false),
				{Path: []string{"subnetId"}, To: ec2.SubnetType, Missing: standin.Refusal{
					Code: "SubnetNotFound", Message: "The subnet ID '%s' does not exist",
				}},
				{Path: []string{"securityGroups"}, To: ec2.SecurityGroupType, Missing: standin.Refusal{
					Code: "SecurityGroupNotFound", Message: "The security group '%s' does not exist",
				}},
			},
			Put:    checkMountGroups,
			Create: createMountTarget,
			Remove: func(c *standin.Call) error { return countMountTargets(c, -1) },
			// Users report 80 to 90 seconds until a mount target is available.
			Takes: standin.Timing{Create: 85 * time.Second, Update: time.Second, Remove: 10 * time.Second},
		},
		BackupPolicyType: {
			Constructor: efs.NewBackupPolicy,
			Noun:        "EFS Backup Policy",
			API:         standin.API{Service: "EFS", Create: "PutBackupPolicy", Update: "PutBackupPolicy", Remove: "PutBackupPolicy"},
			// internal/service/efs/backup_policy.go
			ForceNew:   []string{"fileSystemId"},
			References: []standin.Reference{ofFileSystem(true)},
			Validate: func(in standin.Props) []standin.Problem {
				return standin.OneOf(in.Sub("backupPolicy"), "status", "DISABLED", "ENABLED")
			},
			Create: func(c *standin.Call) (string, error) { return c.In().Str("fileSystemId"), nil },
			Takes:  standin.Timing{Create: 10 * time.Second, Update: 10 * time.Second, Remove: 10 * time.Second},
		},
	}
}

func validateFileSystem(in standin.Props) []standin.Problem {
	if in.Has("kmsKeyId") && !in.Boolean("encrypted") && !standin.HasUnknown(in["encrypted"]) {
		return []standin.Problem{{Path: "kmsKeyId", Reason: "encrypted must be set to true when kms_key_id is specified"}}
	}
	return nil
}

// createFileSystem refuses a creation token that was used: EFS takes it for the
// same request, made again.
func createFileSystem(c *standin.Call) (string, error) {
	out := c.Out()
	out.SetDefault("creationToken", "terraform-"+account.RandomHex(26))
	if other := c.Other("creationToken", out.Str("creationToken")); other != nil {
		return "", c.Refuse(standin.Refusal{Code: "FileSystemAlreadyExists", Status: 409, Message: "File system '%s' already exists with creation token '%s'"},
			other.ID, out.Str("creationToken"))
	}
	if key := c.In().Str("kmsKeyId"); key != "" {
		if _, err := kms.UsableKey(c, key); err != nil {
			return "", c.Refusef("BadRequest", "Failed to use the KMS key %s: %s", key, account.Reason(err))
		}
	}
	id := account.NewID("fs")
	out["arn"], out["ownerId"] = account.ARN(c, "elasticfilesystem", "file-system/"+id), c.Cloud.Account
	out["dnsName"] = fmt.Sprintf("%s.efs.%s.%s", id, c.Region, account.DNSSuffix(c.Region))
	out["numberOfMountTargets"] = 0
	out["sizeInBytes"] = []any{map[string]any{"value": 6144, "valueInIa": 0, "valueInStandard": 6144}}
	out["availabilityZoneId"], out["availabilityZoneName"] = "", ""
	out["performanceMode"], out["protection"] = "generalPurpose", map[string]any{"replicationOverwrite": "ENABLED"}
	out.SetDefault("encrypted", false)
	if out.Boolean("encrypted") {
		out.SetDefault("kmsKeyId", account.ARN(c, "kms", "key/"+account.UUID()))
	}
	out.SetDefault("kmsKeyId", "")
	return id, describeFileSystem(c)
}

func describeFileSystem(c *standin.Call) error {
	in, out := c.In(), c.Out()
	out["name"] = out.Sub("tags").Str("Name")
	if in.Str("throughputMode") == "provisioned" {
		return c.Refusef("BadRequest", "the throughput mode provisioned goes with provisionedThroughputInMibps")
	}
	for _, rule := range in.Objects("lifecyclePolicies") {
		if len(rule) != 1 {
			return c.Refusef("BadRequest", "A lifecycle policy has exactly one transition")
		}
	}
	return nil
}

func createMountTarget(c *standin.Call) (string, error) {
	subnet := c.Find(ec2.SubnetType, c.In().Str("subnetId"))
	if err := oneTargetEachZone(c, subnet); err != nil {
		return "", err
	}
	id, out := account.NewID("fsmt"), c.Out()
	out["ipAddress"] = ec2.HostAddress(subnet.Outputs.Str("cidrBlock"), id)
	system, zone := c.In().Str("fileSystemId"), subnet.Outputs.Str("availabilityZone")
	out["availabilityZoneName"], out["availabilityZoneId"] = zone, subnet.Outputs["availabilityZoneId"]
	out["fileSystemArn"], out["ownerId"] = account.ARN(c, "elasticfilesystem", "file-system/"+system), c.Cloud.Account
	host := fmt.Sprintf("%s.efs.%s.%s", system, c.Region, account.DNSSuffix(c.Region))
	out["dnsName"], out["mountTargetDnsName"] = host, zone+"."+host
	out["networkInterfaceId"] = account.NewID("eni")
	return id, countMountTargets(c, 1)
}

// oneTargetEachZone refuses a second mount target in a zone, and in another VPC.
func oneTargetEachZone(c *standin.Call, subnet *standin.Record) error {
	conflict := func(message string) error {
		return c.Refuse(standin.Refusal{Code: "MountTargetConflict", Status: 409, Message: message})
	}
	system := c.Find(FileSystemType, c.In().Str("fileSystemId"))
	for r := range c.Others() {
		if !c.Cloud.Means(system, r.Inputs.Str("fileSystemId")) {
			continue
		}
		if c.Find(ec2.SubnetType, r.Inputs.Str("subnetId")).Inputs.Str("vpcId") != subnet.Inputs.Str("vpcId") {
			return conflict("requested subnet for new mount target is not in the same VPC as existing mount targets")
		}
		if r.Outputs.Str("availabilityZoneName") == subnet.Outputs.Str("availabilityZone") {
			return conflict("mount target already exists in this AZ")
		}
	}
	return nil
}

// checkMountGroups refuses groups of another network. Without groups, a mount
// target has the network's default one.
func checkMountGroups(c *standin.Call) error {
	network := c.Find(ec2.VPCType, c.Find(ec2.SubnetType, c.In().Str("subnetId")).Inputs.Str("vpcId"))
	if len(c.In().List("securityGroups")) > mountGroupQuota {
		return c.Refusef("SecurityGroupLimitExceeded", "A mount target can have at most %d security groups", mountGroupQuota)
	}
	if id := ec2.Foreign(c, ec2.SecurityGroupType, "securityGroups", network.ID); id != "" {
		return c.Refusef("SecurityGroupNotFound", "The security group '%s' is not in the VPC '%s'", id, network.ID)
	}
	c.Out().SetDefault("securityGroups", []any{network.Outputs["defaultSecurityGroupId"]})
	return nil
}

// countMountTargets changes what the file system says of its mount targets.
func countMountTargets(c *standin.Call, change int) error {
	system := c.Find(FileSystemType, c.Record.Inputs.Str("fileSystemId"))
	if system == nil {
		return nil
	}
	changed := system.Clone()
	changed.Outputs["numberOfMountTargets"] = float64(changed.Outputs.Integer("numberOfMountTargets") + change)
	return c.Cloud.Put(changed)
}

// Interfaces are those of mount targets. EFS makes one with the target and
// without tags; the description says what it is for. Source:
// https://docs.aws.amazon.com/efs/latest/ug/API_CreateMountTarget.html
func Interfaces(c *standin.Call) (all []*standin.Record) {
	for target := range c.Cloud.Each(MountTargetType, c.Region) {
		system := c.Find(FileSystemType, target.Inputs.Str("fileSystemId"))
		all = append(all, ec2.Implied(c, target, ec2.ImpliedInterface{
			ID: target.Outputs.Str("networkInterfaceId"), Kind: "efs", Address: target.Outputs.Str("ipAddress"),
			Description: fmt.Sprintf("EFS mount target for %s (%s)", system.ID, target.ID),
			Subnet:      c.Find(ec2.SubnetType, target.Inputs.Str("subnetId")), Groups: target.Outputs["securityGroups"],
		}))
	}
	return all
}
