package ec2

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/iam"
	"tombolo/lab/aws/logs"
	"tombolo/lab/standin"
)

// VpcQuota is the default quota of VPCs, and of internet gateways, in a region:
// https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
const VpcQuota = 5

// MissingVPC is the refusal of a VPC that does not exist.
var MissingVPC = standin.Refusal{Code: "InvalidVpcID.NotFound", Message: "The vpc ID '%s' does not exist"}

func missingSubnet() standin.Refusal {
	return standin.Refusal{Code: "InvalidSubnetID.NotFound", Message: "The subnet ID '%s' does not exist"}
}

// toVpc is the reference that most network resources have.
func toVpc() standin.Reference {
	return standin.Reference{Path: []string{"vpcId"}, To: VPCType, Missing: MissingVPC}
}

func (n Neighbours) networkTypes() map[string]*standin.Type {
	return map[string]*standin.Type{
		VPCType: {
			Constructor:   ec2.NewVpc,
			Noun:          "EC2 VPC",
			LimitExceeded: standin.Refusal{Code: "VpcLimitExceeded", Message: "The maximum number of VPCs has been reached."},
			API:           standin.API{Service: "EC2", Create: "CreateVpc", Update: "ModifyVpcAttribute", Remove: "DeleteVpc"},
			// internal/service/ec2/vpc_.go
			ForceNew: []string{"cidrBlock", "ipv4IpamPoolId", "ipv4NetmaskLength"},
			Defaults: standin.Props{"instanceTenancy": "default", "enableDnsSupport": true},
			InUse:    standin.Refusal{Code: "DependencyViolation", Message: "The vpc '%s' has dependencies and cannot be deleted."},
			Create:   createVpc,
			Takes:    standin.Timing{Create: 2 * time.Second, Remove: time.Second},
		},
		SubnetType: {
			Constructor: ec2.NewSubnet,
			Noun:        "EC2 Subnet",
			API:         standin.API{Service: "EC2", Create: "CreateSubnet", Update: "ModifySubnetAttribute", Remove: "DeleteSubnet"},
			// internal/service/ec2/vpc_subnet.go
			ForceNew:   []string{"availabilityZone", "availabilityZoneId", "cidrBlock", "ipv6Native", "outpostArn", "vpcId"},
			References: []standin.Reference{toVpc()},
			InUse:      standin.Refusal{Code: "DependencyViolation", Message: "The subnet '%s' has dependencies and cannot be deleted."},
			Create:     createSubnet,
			Takes:      standin.Timing{Create: 2 * time.Second, Remove: time.Second},
		},
		GatewayType: {
			Constructor:   ec2.NewInternetGateway,
			Noun:          "EC2 Internet Gateway",
			LimitExceeded: standin.Refusal{Code: "InternetGatewayLimitExceeded", Message: "The maximum number of internet gateways has been reached."},
			API:           standin.API{Service: "EC2", Create: "CreateInternetGateway", Update: "AttachInternetGateway", Remove: "DetachInternetGateway"},
			References:    []standin.Reference{toVpc()},
			Put:           oneGatewayEach,
			Create:        createGateway,
			Remove:        n.removeGateway,
			Takes:         standin.Timing{Create: time.Second, Remove: 10 * time.Second},
		},
	}
}

func createVpc(c *standin.Call) (string, error) {
	if len(slices.Collect(c.Others())) >= VpcQuota {
		return "", c.Refuse(c.Type.LimitExceeded)
	}
	block := c.In().Str("cidrBlock")
	if block == "" && !c.In().Has("ipv4IpamPoolId") {
		return "", c.Refusef("MissingParameter", "Either 'cidrBlock' or 'ipv4IpamPoolId' should be provided.")
	}
	prefix, err := netip.ParsePrefix(block)
	if err != nil || !prefix.Addr().Is4() {
		return "", c.Refusef("InvalidParameterValue", "Value (%s) for parameter cidrBlock is invalid. This is not a valid CIDR block.", block)
	}
	if prefix.Bits() < 16 || prefix.Bits() > 28 {
		return "", c.Refusef("InvalidVpc.Range", "The CIDR '%s' is invalid.", block)
	}
	id := account.NewID("vpc")
	group, table := account.NewID("sg"), account.NewID("rtb")
	out := c.Out()
	out["arn"] = account.ARN(c, "ec2", "vpc/"+id)
	out["ownerId"] = c.Cloud.Account
	out["cidrBlock"] = prefix.Masked().String() // EC2 does the same
	out["defaultSecurityGroupId"], out["mainRouteTableId"], out["defaultRouteTableId"] = group, table, table
	out["defaultNetworkAclId"], out["dhcpOptionsId"] = account.NewID("acl"), "dopt-0"+account.RandomHex(16)
	out.SetDefaults(standin.Props{"enableDnsHostnames": false, "enableNetworkAddressUsageMetrics": false, "assignGeneratedIpv6CidrBlock": false})
	err = c.Imply(SecurityGroupType, group, standin.Props{"vpcId": id}, standin.Props{
		"name": "default", "description": "default VPC security group",
		"arn": account.ARN(c, "ec2", "security-group/"+group), "ownerId": c.Cloud.Account,
	})
	if err != nil {
		return "", err
	}
	return id, c.Imply(RouteTableType, table, standin.Props{"vpcId": id}, standin.Props{
		"arn": account.ARN(c, "ec2", "route-table/"+table), "ownerId": c.Cloud.Account,
	})
}

func createSubnet(c *standin.Call) (string, error) {
	vpc := c.Find(VPCType, c.In().Str("vpcId"))
	if err := checkSubnetBlock(c, vpc); err != nil {
		return "", err
	}
	all := account.Zones(c.Region)
	zone := c.In().Str("availabilityZone")
	for _, z := range all {
		if id := c.In().Str("availabilityZoneId"); id != "" && id == account.ZoneID(c.Region, z) {
			zone = z
		}
	}
	if zone == "" {
		zone = all[0]
	}
	if !slices.Contains(all, zone) {
		return "", c.Refusef("InvalidParameterValue", "Value (%s) for parameter availabilityZone is invalid. Subnets can currently only be created in the following availability zones: %s.", zone, strings.Join(all, ", "))
	}
	id := account.NewID("subnet")
	out := c.Out()
	out["arn"] = account.ARN(c, "ec2", "subnet/"+id)
	out["ownerId"] = c.Cloud.Account
	out["availabilityZone"], out["availabilityZoneId"] = zone, account.ZoneID(c.Region, zone)
	out["privateDnsHostnameTypeOnLaunch"] = "ip-name"
	out.SetDefaults(standin.Props{
		"assignIpv6AddressOnCreation": false, "enableDns64": false, "enableResourceNameDnsARecordOnLaunch": false,
		"enableResourceNameDnsAaaaRecordOnLaunch": false, "ipv6Native": false, "mapPublicIpOnLaunch": false,
	})
	return id, nil
}

func checkSubnetBlock(c *standin.Call, vpc *standin.Record) error {
	block := c.In().Str("cidrBlock")
	prefix, err := netip.ParsePrefix(block)
	if err != nil || !prefix.Addr().Is4() {
		return c.Refusef("InvalidParameterValue", "Value (%s) for parameter cidrBlock is invalid. This is not a valid CIDR block.", block)
	}
	if prefix != prefix.Masked() {
		return c.Refusef("InvalidSubnet.Range", "The CIDR '%s' is invalid.", block)
	}
	whole := netip.MustParsePrefix(vpc.Outputs.Str("cidrBlock"))
	if prefix.Bits() < whole.Bits() || prefix.Bits() > 28 || !whole.Contains(prefix.Addr()) {
		return c.Refusef("InvalidSubnet.Range", "The CIDR '%s' is invalid.", block)
	}
	for r := range c.Others() {
		if !c.Cloud.Means(vpc, r.Inputs.Str("vpcId")) {
			continue
		}
		other, err := netip.ParsePrefix(r.Outputs.Str("cidrBlock"))
		if err == nil && other.Overlaps(prefix) {
			return c.Refusef("InvalidSubnet.Conflict", "The CIDR '%s' conflicts with another subnet", block)
		}
	}
	return nil
}

func createGateway(c *standin.Call) (string, error) {
	if len(slices.Collect(c.Others())) >= VpcQuota {
		return "", c.Refuse(c.Type.LimitExceeded)
	}
	id := account.NewID("igw")
	c.Out()["arn"] = account.ARN(c, "ec2", "internet-gateway/"+id)
	c.Out()["ownerId"] = c.Cloud.Account
	c.Out().SetDefault("vpcId", "")
	return id, nil
}

// oneGatewayEach: a VPC has at most one internet gateway.
func oneGatewayEach(c *standin.Call) error {
	vpc := c.In().Str("vpcId")
	if other := c.Other("vpcId", vpc); vpc != "" && other != nil {
		return c.Refusef("Resource.AlreadyAssociated", "resource %s is already attached to network %s", other.ID, vpc)
	}
	return nil
}

// removeGateway refuses while something in the VPC has a public address.
func (n Neighbours) removeGateway(c *standin.Call) error {
	vpc := c.Record.Inputs.Str("vpcId")
	for _, hasPublic := range append(n.Public, publicNat) {
		if vpc != "" && hasPublic(c, vpc) {
			return c.Refusef("DependencyViolation", "Network %s has some mapped public address(es). Please unmap those public address(es) before detaching the gateway.", vpc)
		}
	}
	return nil
}

// publicNat reports whether a NAT gateway in a VPC has a public address.
func publicNat(c *standin.Call, vpc string) bool {
	for nat := range c.Cloud.Each(NatType, c.Region) {
		subnet := c.Find(SubnetType, nat.Inputs.Str("subnetId"))
		if subnet != nil && subnet.Inputs.Str("vpcId") == vpc && nat.Inputs.Str("allocationId") != "" {
			return true
		}
	}
	return false
}

// FlowLogType is the type of flow logs, which EC2 sends to a log group or a bucket.
const FlowLogType = "aws:ec2/flowLog:FlowLog"

// deliverer assumes the role of a flow log.
const deliverer = "vpc-flow-logs.amazonaws.com"

func flowLogTypes() map[string]*standin.Type {
	return map[string]*standin.Type{
		FlowLogType: {
			Constructor: ec2.NewFlowLog,
			Noun:        "EC2 Flow Log",
			API:         standin.API{Service: "EC2", Create: "CreateFlowLogs", Update: "CreateTags", Remove: "DeleteFlowLogs"},
			// internal/service/ec2/vpc_flow_log.go: all but tags
			ForceNew: []string{
				"deliverCrossAccountRole", "destinationOptions", "eniId", "iamRoleArn", "logDestination", "logDestinationType", "logFormat",
				"maxAggregationInterval", "subnetId", "trafficType", "transitGatewayAttachmentId", "transitGatewayId", "vpcId",
			},
			Defaults:   standin.Props{"logDestinationType": "cloud-watch-logs", "maxAggregationInterval": 600.0},
			References: []standin.Reference{{Path: []string{"vpcId"}, To: VPCType, Weak: true, Missing: MissingVPC}},
			Create:     createFlowLog,
			Takes:      standin.Timing{Create: time.Second, Remove: time.Second},
		},
	}
}

// createFlowLog refuses what EC2 refuses, and a log group into which the role could write
// nothing: EC2 makes such a flow log, and says "Access error" in its status. Sources:
// https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs-troubleshooting.html and
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateFlowLogs.html
func createFlowLog(c *standin.Call) (string, error) {
	in := c.In()
	for other := range c.Cloud.Each(FlowLogType, c.Region) {
		if other.Inputs.Str("vpcId") == in.Str("vpcId") && other.Inputs.Str("trafficType") == in.Str("trafficType") &&
			other.Inputs.Str("logDestination") == in.Str("logDestination") {
			return "", c.Refusef("FlowLogAlreadyExists", "Error. There is an existing Flow Log with the same configuration and log destination.")
		}
	}
	var err error
	if in.Str("logDestinationType") == "s3" {
		err = checkFlowBucket(c)
	} else {
		err = checkFlowGroup(c)
	}
	if err != nil {
		return "", err
	}
	id := account.NewID("fl")
	c.Out()["arn"] = account.ARN(c, "ec2", "vpc-flow-log/"+id)
	c.Out().SetDefault("logFormat", "${version} ${account-id} ${interface-id} ${srcaddr} ${dstaddr} ${srcport} ${dstport} ${protocol} ${packets} ${bytes} ${start} ${end} ${action} ${log-status}")
	return id, nil
}

// checkFlowBucket does not look for the bucket: it may be another account's.
func checkFlowBucket(c *standin.Call) error {
	in := c.In()
	if in.Str("iamRoleArn") != "" {
		return c.Refusef("InvalidParameter", "DeliverLogsPermissionArn is not applicable for s3 delivery")
	}
	if folders := strings.Split(in.Str("logDestination"), "/"); slices.Contains(folders[1:], "AWSLogs") {
		return c.Refusef("InvalidParameter", "AWSLogs is a reserved term and cannot be a subfolder name of LogDestination.")
	}
	return nil
}

func checkFlowGroup(c *standin.Call) error {
	in := c.In()
	if in.Str("iamRoleArn") == "" {
		return c.Refusef("InvalidParameter", "DeliverLogsPermissionArn can't be empty if LogDestinationType is cloud-watch-logs.")
	}
	role := iam.RoleOf(c.Cloud, in.Str("iamRoleArn"))
	if role == nil || !iam.Trusts(role, deliverer, "sts:AssumeRole") {
		return fmt.Errorf("flow log: Access error: %s does not exist, or %s cannot assume it", in.Str("iamRoleArn"), deliverer)
	}
	name := in.Str("logDestination")[strings.Index(in.Str("logDestination"), ":log-group:")+len(":log-group:"):]
	if c.Find(logs.LogGroupType, strings.TrimSuffix(name, ":*")) == nil {
		return fmt.Errorf("flow log: Access error: there is no log group %s, and the role makes none", name)
	}
	return nil
}
