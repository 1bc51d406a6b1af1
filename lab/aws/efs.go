package aws

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/efs"
)

const (
	fileSystemType       = "aws:efs/fileSystem:FileSystem"
	mountTargetType      = "aws:efs/mountTarget:MountTarget"
	backupPolicyType     = "aws:efs/backupPolicy:BackupPolicy"
	fileSystemPolicyType = "aws:efs/fileSystemPolicy:FileSystemPolicy"
)

// mountGroupQuota is the number of security groups of a mount target:
// https://docs.aws.amazon.com/efs/latest/ug/limits.html
const mountGroupQuota = 5

// ofFileSystem is the reference of what belongs to a file system.
func ofFileSystem(cascade bool) reference {
	return reference{path: []string{"fileSystemId"}, to: fileSystemType, cascade: cascade, missing: refusal{
		code: "FileSystemNotFound", status: 404, message: "File system '%s' does not exist.",
	}}
}

func fileSystemTypes() map[string]*resourceType {
	return map[string]*resourceType{
		fileSystemType: {
			constructor: efs.NewFileSystem,
			noun:        "EFS File System",
			api:         api{service: "EFS", create: "CreateFileSystem", update: "UpdateFileSystem", remove: "DeleteFileSystem"},
			// internal/service/efs/file_system.go
			forceNew: []string{"availabilityZoneName", "creationToken", "encrypted", "kmsKeyId", "performanceMode"},
			defaults: props{"throughputMode": "bursting"},
			// The wording of AWS's message is not documented.
			inUse:    refusal{code: "FileSystemInUse", status: 409, message: "File system '%s' has mount targets."},
			validate: validateFileSystem,
			create:   createFileSystem,
			update:   describeFileSystem,
			takes:    timing{create: 10 * time.Second, update: 10 * time.Second, remove: 10 * time.Second},
		},
		mountTargetType: {
			constructor: efs.NewMountTarget,
			noun:        "EFS Mount Target",
			api:         api{service: "EFS", create: "CreateMountTarget", update: "ModifyMountTargetSecurityGroups", remove: "DeleteMountTarget"},
			// internal/service/efs/mount_target.go
			forceNew: []string{"fileSystemId", "ipAddress", "subnetId"},
			// Its network interface keeps subnet and groups from being deleted.
			references: []reference{
				ofFileSystem(false),
				{path: []string{"subnetId"}, to: subnetType, missing: refusal{
					code: "SubnetNotFound", message: "The subnet ID '%s' does not exist",
				}},
				{path: []string{"securityGroups"}, to: securityGroupType, missing: refusal{
					code: "SecurityGroupNotFound", message: "The security group '%s' does not exist",
				}},
			},
			create: createMountTarget,
			update: checkMountGroups,
			remove: func(c *call) error { return c.countMountTargets(-1) },
			// Users report 80 to 90 seconds until a mount target is available.
			takes: timing{create: 85 * time.Second, update: time.Second, remove: 10 * time.Second},
		},
		backupPolicyType: {
			constructor: efs.NewBackupPolicy,
			noun:        "EFS Backup Policy",
			api:         api{service: "EFS", create: "PutBackupPolicy", update: "PutBackupPolicy", remove: "PutBackupPolicy"},
			// internal/service/efs/backup_policy.go
			forceNew:   []string{"fileSystemId"},
			references: []reference{ofFileSystem(true)},
			validate: func(in props) []problem {
				return oneOf(in.sub("backupPolicy"), "status", "DISABLED", "ENABLED")
			},
			create: func(c *call) (string, error) { return c.in().str("fileSystemId"), nil },
			takes:  timing{create: 10 * time.Second, update: 10 * time.Second, remove: 10 * time.Second},
		},
		fileSystemPolicyType: {
			constructor: efs.NewFileSystemPolicy,
			noun:        "EFS File System Policy",
			api:         api{service: "EFS", create: "PutFileSystemPolicy", update: "PutFileSystemPolicy", remove: "DeleteFileSystemPolicy"},
			// internal/service/efs/file_system_policy.go
			forceNew:   []string{"fileSystemId"},
			documents:  []string{"policy"},
			references: []reference{ofFileSystem(true)},
			validate:   func(in props) []problem { return jsonPolicy(in, "policy") },
			create:     func(c *call) (string, error) { return c.in().str("fileSystemId"), checkFileSystemPolicy(c) },
			update:     checkFileSystemPolicy,
			takes:      timing{create: time.Second, update: time.Second, remove: time.Second},
		},
	}
}

// oneOf refuses a text that is given and is none of the values.
func oneOf(in props, key string, values ...string) []problem {
	value := in.str(key)
	if value == "" || slices.Contains(values, value) {
		return nil
	}
	return []problem{{key, fmt.Sprintf("expected %s to be one of %q, got %s", key, values, value)}}
}

// Ages of files that are moved between storage classes. Source:
// https://docs.aws.amazon.com/efs/latest/ug/API_LifecyclePolicy.html
var transitionAges = []string{
	"AFTER_1_DAY", "AFTER_7_DAYS", "AFTER_14_DAYS", "AFTER_30_DAYS", "AFTER_60_DAYS", "AFTER_90_DAYS",
	"AFTER_180_DAYS", "AFTER_270_DAYS", "AFTER_365_DAYS",
}

func validateFileSystem(in props) []problem {
	problems := slices.Concat(
		oneOf(in, "performanceMode", "generalPurpose", "maxIO"),
		oneOf(in, "throughputMode", "bursting", "provisioned", "elastic"),
	)
	if token := in.str("creationToken"); len(token) > 64 {
		problems = append(problems, problem{"creationToken", "expected length of creationToken to be in the range (0 - 64)"})
	}
	if in.has("kmsKeyId") && !in.boolean("encrypted") && !hasUnknown(in["encrypted"]) {
		problems = append(problems, problem{"kmsKeyId", "encrypted must be set to true when kms_key_id is specified"})
	}
	for _, rule := range in.objects("lifecyclePolicies") {
		problems = slices.Concat(problems,
			oneOf(rule, "transitionToIa", transitionAges...),
			oneOf(rule, "transitionToArchive", transitionAges...),
			oneOf(rule, "transitionToPrimaryStorageClass", "AFTER_1_ACCESS"),
		)
	}
	return problems
}

// createFileSystem refuses a creation token that was used: EFS takes it for the
// same request, made again.
func createFileSystem(c *call) (string, error) {
	out := c.out()
	out.setDefault("creationToken", "terraform-"+randomHex(26))
	for r := range c.others() {
		if r.Outputs.str("creationToken") == out.str("creationToken") {
			return "", c.refuse(refusal{code: "FileSystemAlreadyExists", status: 409, message: "File system '%s' already exists with creation token '%s'"},
				r.ID, out.str("creationToken"))
		}
	}
	if zone := c.in().str("availabilityZoneName"); zone != "" && !slices.Contains(zones(c.region), zone) {
		return "", c.refusef("AvailabilityZonesMismatch", "Availability zone %s is not in region %s", zone, c.region)
	}
	if key := c.in().str("kmsKeyId"); key != "" {
		if _, err := c.usableKey(key); err != nil {
			return "", err
		}
	}
	id := newID("fs")
	out["arn"], out["ownerId"] = c.arn("elasticfilesystem", "file-system/"+id), c.cloud.options.Account
	out["dnsName"] = fmt.Sprintf("%s.efs.%s.%s", id, c.region, dnsSuffix(c.region))
	out["numberOfMountTargets"] = 0
	out["sizeInBytes"] = []any{map[string]any{"value": 6144, "valueInIa": 0, "valueInStandard": 6144}}
	out["availabilityZoneId"] = ""
	if zone := c.in().str("availabilityZoneName"); zone != "" {
		out["availabilityZoneId"] = zoneID(c.region, zone)
	}
	out.setDefault("availabilityZoneName", "")
	out.setDefault("encrypted", false)
	out.setDefault("performanceMode", "generalPurpose")
	out.setDefault("protection", map[string]any{"replicationOverwrite": "ENABLED"})
	if out.boolean("encrypted") {
		out.setDefault("kmsKeyId", c.arn("kms", "key/"+uuid()))
	}
	out.setDefault("kmsKeyId", "")
	return id, describeFileSystem(c)
}

func describeFileSystem(c *call) error {
	in, out := c.in(), c.out()
	out["name"] = out.sub("tags").str("Name")
	provisioned := in.str("throughputMode") == "provisioned"
	if provisioned != in.has("provisionedThroughputInMibps") {
		return c.refusef("BadRequest", "provisionedThroughputInMibps goes with the throughput mode provisioned, got %s", in.str("throughputMode"))
	}
	if in.str("throughputMode") == "elastic" && out.str("performanceMode") == "maxIO" {
		return c.refusef("BadRequest", "Elastic throughput mode is not supported with the performance mode maxIO")
	}
	for _, rule := range in.objects("lifecyclePolicies") {
		if len(rule) != 1 {
			return c.refusef("BadRequest", "A lifecycle policy has exactly one transition")
		}
	}
	return nil
}

func createMountTarget(c *call) (string, error) {
	subnet := c.find(subnetType, c.in().str("subnetId"))
	if err := oneTargetEachZone(c, subnet); err != nil {
		return "", err
	}
	if err := checkMountGroups(c); err != nil {
		return "", err
	}
	id, out := newID("fsmt"), c.out()
	if err := mountAddress(c, subnet, id); err != nil {
		return "", err
	}
	system, zone := c.in().str("fileSystemId"), subnet.Outputs.str("availabilityZone")
	out["availabilityZoneName"], out["availabilityZoneId"] = zone, subnet.Outputs["availabilityZoneId"]
	out["fileSystemArn"], out["ownerId"] = c.arn("elasticfilesystem", "file-system/"+system), c.cloud.options.Account
	host := fmt.Sprintf("%s.efs.%s.%s", system, c.region, dnsSuffix(c.region))
	out["dnsName"], out["mountTargetDnsName"] = host, zone+"."+host
	out["networkInterfaceId"] = newID("eni")
	return id, c.countMountTargets(1)
}

// oneTargetEachZone refuses a second mount target in a zone, in another VPC,
// and outside of the zone of a file system that is in one only.
func oneTargetEachZone(c *call, subnet *record) error {
	conflict := func(message string) error {
		return c.refuse(refusal{code: "MountTargetConflict", status: 409, message: message})
	}
	system := c.find(fileSystemType, c.in().str("fileSystemId"))
	if zone := system.Outputs.str("availabilityZoneName"); zone != "" && zone != subnet.Outputs.str("availabilityZone") {
		return c.refusef("AvailabilityZonesMismatch", "The file system is in the availability zone %s only", zone)
	}
	for r := range c.others() {
		if !system.means(r.Inputs.str("fileSystemId")) {
			continue
		}
		if c.find(subnetType, r.Inputs.str("subnetId")).Inputs.str("vpcId") != subnet.Inputs.str("vpcId") {
			return conflict("requested subnet for new mount target is not in the same VPC as existing mount targets")
		}
		if r.Outputs.str("availabilityZoneName") == subnet.Outputs.str("availabilityZone") {
			return conflict("mount target already exists in this AZ")
		}
	}
	return nil
}

// checkMountGroups refuses groups of another network. Without groups, a mount
// target has the network's default one.
func checkMountGroups(c *call) error {
	network := c.find(vpcType, c.find(subnetType, c.in().str("subnetId")).Inputs.str("vpcId"))
	groups := c.in().list("securityGroups")
	if len(groups) > mountGroupQuota {
		return c.refusef("SecurityGroupLimitExceeded", "A mount target can have at most %d security groups", mountGroupQuota)
	}
	for _, id := range groups {
		if c.find(securityGroupType, id).Inputs.str("vpcId") != network.ID {
			return c.refusef("SecurityGroupNotFound", "The security group '%s' is not in the VPC '%s'", id, network.ID)
		}
	}
	c.out().setDefault("securityGroups", []any{network.Outputs["defaultSecurityGroupId"]})
	return nil
}

// mountAddress gives a mount target an address of its subnet.
func mountAddress(c *call, subnet *record, id string) error {
	block := subnet.Outputs.str("cidrBlock")
	given := c.in().str("ipAddress")
	if given == "" {
		c.out()["ipAddress"] = hostAddress(block, id)
		return nil
	}
	address, err := netip.ParseAddr(given)
	if err != nil || !netip.MustParsePrefix(block).Contains(address) {
		return c.refusef("BadRequest", "Address %s does not fall within the subnet's address range", given)
	}
	for r := range c.others() {
		if r.Outputs.str("ipAddress") == given && r.Inputs.str("subnetId") == subnet.ID {
			return c.refuse(refusal{code: "IpAddressInUse", status: 409, message: "Address %s is in use."}, given)
		}
	}
	return nil
}

// countMountTargets changes what the file system says of its mount targets.
func (c *call) countMountTargets(change int) error {
	system := c.find(fileSystemType, c.r.Inputs.str("fileSystemId"))
	if system == nil {
		return nil
	}
	changed := system.clone()
	changed.Outputs["numberOfMountTargets"] = float64(changed.Outputs.integer("numberOfMountTargets") + change)
	return c.cloud.store.put(changed)
}

func checkFileSystemPolicy(c *call) error {
	if message := c.malformed(c.in().str("policy"), resourcePolicy); message != "" {
		return c.refusef("InvalidPolicyException", "%s", message)
	}
	return nil
}
