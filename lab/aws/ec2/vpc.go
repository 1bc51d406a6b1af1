package ec2

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"

	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

// The types of networks.
const (
	VPCType     = "aws:ec2/vpc:Vpc"
	SubnetType  = "aws:ec2/subnet:Subnet"
	GatewayType = "aws:ec2/internetGateway:InternetGateway"
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
			Create:        createGateway,
			Update:        oneGatewayEach,
			Remove:        n.removeGateway,
			Takes:         standin.Timing{Create: time.Second, Remove: 10 * time.Second},
		},
	}
}

func createVpc(c *standin.Call) (string, error) {
	count := 0
	for range c.Others() {
		count++
	}
	if count >= VpcQuota {
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
	out.SetDefault("enableDnsHostnames", false)
	out.SetDefault("enableNetworkAddressUsageMetrics", false)
	out.SetDefault("assignGeneratedIpv6CidrBlock", false)
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
	for _, flag := range []string{
		"assignIpv6AddressOnCreation", "enableDns64", "enableResourceNameDnsARecordOnLaunch",
		"enableResourceNameDnsAaaaRecordOnLaunch", "ipv6Native", "mapPublicIpOnLaunch",
	} {
		out.SetDefault(flag, false)
	}
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
	count := 0
	for range c.Others() {
		count++
	}
	if count >= VpcQuota {
		return "", c.Refuse(c.Type.LimitExceeded)
	}
	if err := oneGatewayEach(c); err != nil {
		return "", err
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
