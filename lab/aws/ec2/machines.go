package ec2

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ebs"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/kms"
	"tombolo/lab/standin"
)

// imageID of a machine image. What images there are, the stand-in does not know.
var imageID = regexp.MustCompile(`^ami-[0-9a-f]{8,17}$`)

func instanceTypes() map[string]*standin.Type {
	return map[string]*standin.Type{
		InstanceType: {
			Constructor: ec2.NewInstance,
			Noun:        "EC2 Instance",
			API:         standin.API{Service: "EC2", Create: "RunInstances", Update: "ModifyInstanceAttribute", Remove: "TerminateInstances"},
			// internal/service/ec2/ec2_instance.go
			ForceNew: []string{
				"ami", "associatePublicIpAddress", "availabilityZone", "hibernation", "keyName", "networkInterfaces",
				"placementGroup", "privateIp", "subnetId", "tenancy",
			},
			Defaults: standin.Props{"getPasswordData": false, "sourceDestCheck": true, "userDataReplaceOnChange": false},
			// Its network interface keeps subnet and groups from being deleted.
			References: []standin.Reference{
				{Path: []string{"subnetId"}, To: SubnetType, Missing: missingSubnet()},
				{Path: []string{"vpcSecurityGroupIds"}, To: SecurityGroupType, Missing: missingGroup()},
			},
			Create: createInstance,
			Update: checkInstanceGroups,
			Remove: func(c *standin.Call) error {
				if c.Record.Inputs.Boolean("disableApiTermination") {
					return c.Refusef("OperationNotPermitted", "The instance '%s' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.", c.Record.ID)
				}
				return nil
			},
			Takes: standin.Timing{Create: 15 * time.Second, Update: 5 * time.Second, Remove: 40 * time.Second},
		},
	}
}

func createInstance(c *standin.Call) (string, error) {
	in, out := c.In(), c.Out()
	subnet := c.Find(SubnetType, in.Str("subnetId"))
	switch {
	case !in.Has("ami") && !in.Has("launchTemplate"):
		return "", c.Refusef("MissingParameter", "The request must contain the parameter ImageId")
	case in.Has("ami") && !imageID.MatchString(in.Str("ami")):
		return "", c.Refusef("InvalidAMIID.Malformed", "Invalid id: %q (expecting \"ami-...\")", in.Str("ami"))
	case !KnownInstance(cmp.Or(in.Str("instanceType"), "m1.small")):
		return "", c.Refusef("InvalidParameterValue", "Invalid value '%s' for InstanceType.", in.Str("instanceType"))
	case subnet == nil:
		return "", c.Refusef("MissingInput", "No subnets found for the default VPC. Please specify a subnet.")
	}
	if err := checkInstanceGroups(c); err != nil {
		return "", err
	}
	id := account.NewID("i")
	address := HostAddress(subnet.Outputs.Str("cidrBlock"), id)
	out["arn"], out["instanceState"] = account.ARN(c, "ec2", "instance/"+id), "running"
	out["primaryNetworkInterfaceId"] = account.NewID("eni")
	out.SetDefault("privateIp", address)
	out["privateDns"] = fmt.Sprintf("ip-%s.%s.compute.internal", Dashed(out.Str("privateIp")), c.Region)
	out["availabilityZone"] = subnet.Outputs["availabilityZone"]
	out.SetDefaults(standin.Props{"tenancy": "default", "publicIp": "", "publicDns": "", "keyName": "", "outpostArn": "", "passwordData": ""})
	if !in.Has("vpcSecurityGroupIds") {
		out["vpcSecurityGroupIds"] = standin.Values(c.Find(VPCType, subnet.Inputs.Str("vpcId")).Outputs.Str("defaultSecurityGroupId"))
	}
	return id, nil
}

// checkInstanceGroups refuses security groups of another network.
func checkInstanceGroups(c *standin.Call) error {
	subnet := c.Find(SubnetType, c.In().Str("subnetId"))
	if id := Foreign(c, SecurityGroupType, "vpcSecurityGroupIds", subnet.Inputs.Str("vpcId")); id != "" {
		return c.Refusef("InvalidParameter", "Security group %s and subnet %s belong to different networks.", id, subnet.ID)
	}
	return nil
}

// instanceFamilies of EC2 that EKS nodes commonly are, with memory per vCPU in
// GiB. A "g" after the generation means Graviton. Source:
// https://docs.aws.amazon.com/ec2/latest/instancetypes/
var instanceFamilies = map[string]int{
	"c5": 2, "c5a": 2, "c5d": 2, "c5n": 2, "c6a": 2, "c6g": 2, "c6gd": 2, "c6gn": 2, "c6i": 2, "c6id": 2, "c6in": 2,
	"c7a": 2, "c7g": 2, "c7gd": 2, "c7gn": 2, "c7i": 2, "c7i-flex": 2, "c8g": 2, "c8gd": 2,
	"g4dn": 4, "g5": 4, "g6": 4, "i3": 8, "i4i": 8, "i4g": 8,
	"m5": 4, "m5a": 4, "m5ad": 4, "m5d": 4, "m5n": 4, "m6a": 4, "m6g": 4, "m6gd": 4, "m6i": 4, "m6id": 4, "m6in": 4,
	"m7a": 4, "m7g": 4, "m7gd": 4, "m7i": 4, "m7i-flex": 4, "m8g": 4, "m8gd": 4, "p4d": 12, "p5": 10,
	"r5": 8, "r5a": 8, "r5d": 8, "r5n": 8, "r6a": 8, "r6g": 8, "r6gd": 8, "r6i": 8, "r6id": 8, "r7a": 8, "r7g": 8, "r7i": 8, "r7iz": 8, "r8g": 8,
	"t3": 4, "t3a": 4, "t4g": 4, "x2gd": 16,
}

// instanceSizes and their vCPUs.
var instanceSizes = map[string]int{
	"nano": 2, "micro": 2, "small": 2, "medium": 2, "large": 2, "xlarge": 4, "2xlarge": 8, "4xlarge": 16,
	"8xlarge": 32, "9xlarge": 36, "12xlarge": 48, "16xlarge": 64, "18xlarge": 72, "24xlarge": 96, "32xlarge": 128, "48xlarge": 192, "metal": 96,
}

// KnownInstance reports whether there is an instance type of a name.
func KnownInstance(typ string) bool {
	family, size, _ := strings.Cut(typ, ".")
	if instanceFamilies[family] == 0 || instanceSizes[size] == 0 {
		return false
	}
	small := slices.Contains([]string{"nano", "micro", "small"}, size)
	return strings.HasPrefix(family, "t") || !small && (size != "medium" || InstanceArch(typ) == "arm64" || strings.HasSuffix(family, "7a"))
}

// MostPods is how many pods a managed node of a type takes, when its launch template does not say it: each
// has an address of the network, of which the interfaces of a type have so many (files/eni-max-pods.txt of
// https://github.com/awslabs/amazon-eks-ami; some older types have fewer than others of their size), and EKS
// has its own limit: https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html
func MostPods(typ string) int {
	family, size, _ := strings.Cut(typ, ".")
	bySize := map[string]int{"medium": 8, "large": 29, "xlarge": 58, "2xlarge": 58}
	if strings.HasPrefix(family, "t") {
		bySize = map[string]int{"nano": 4, "micro": 4, "small": 11, "medium": 17, "large": 35, "xlarge": 58, "2xlarge": 58}
	}
	most := 250
	if instanceSizes[size] < 30 {
		most = 110
	}
	return cmp.Or(bySize[size], most)
}

// InstanceArch is the CPU architecture, as Kubernetes spells it.
func InstanceArch(typ string) string {
	family, _, _ := strings.Cut(typ, ".")
	if i := strings.IndexAny(family, "0123456789"); i >= 0 && i+1 < len(family) && family[i+1] == 'g' {
		return "arm64"
	}
	return "amd64"
}

func diskTypes() map[string]*standin.Type {
	return map[string]*standin.Type{
		VolumeType: {
			Constructor: ebs.NewVolume,
			Noun:        "EBS Volume",
			API:         standin.API{Service: "EC2", Create: "CreateVolume", Update: "ModifyVolume", Remove: "DeleteVolume"},
			// internal/service/ec2/ebs_volume.go
			ForceNew: []string{"availabilityZone", "encrypted", "kmsKeyId", "multiAttachEnabled", "outpostArn", "snapshotId"},
			Defaults: standin.Props{"finalSnapshot": false},
			Create:   createVolume,
			Takes:    standin.Timing{Create: 5 * time.Second, Update: 10 * time.Second, Remove: 5 * time.Second},
		},
	}
}

func createVolume(c *standin.Call) (string, error) {
	in, out := c.In(), c.Out()
	zone := in.Str("availabilityZone")
	if !slices.Contains(account.Zones(c.Region), zone) {
		return "", c.Refusef("InvalidZone.NotFound", "The zone '%s' does not exist.", zone)
	}
	if !in.Has("size") {
		return "", c.Refusef("MissingParameter", "The request must contain the parameter size/snapshot")
	}
	if size := in.Integer("size"); in.Has("size") && (size < 1 || size > 65536) {
		return "", c.Refusef("InvalidParameterValue", "Volume of %dGiB is outside of the allowed range of 1GiB to 65536GiB", size)
	}
	if key := in.Str("kmsKeyId"); key != "" {
		if _, err := kms.UsableKey(c, key); err != nil {
			return "", err
		}
	}
	id := account.NewID("vol")
	out["arn"] = account.ARN(c, "ec2", "volume/"+id)
	out["createTime"] = c.Record.Created.UTC().Format(time.RFC3339)
	// The default type is EC2's, not the console's.
	out.SetDefaults(standin.Props{"type": "gp2", "iops": 100, "throughput": 0, "encrypted": false, "multiAttachEnabled": false})
	return id, nil
}
