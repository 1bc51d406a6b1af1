package aws

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
)

const (
	vpcType     = "aws:ec2/vpc:Vpc"
	subnetType  = "aws:ec2/subnet:Subnet"
	gatewayType = "aws:ec2/internetGateway:InternetGateway"
)

// vpcQuota is the default quota of VPCs, and of internet gateways, in a region:
// https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
const vpcQuota = 5

var missingVpc = refusal{code: "InvalidVpcID.NotFound", message: "The vpc ID '%s' does not exist"}

func missingSubnet() refusal {
	return refusal{code: "InvalidSubnetID.NotFound", message: "The subnet ID '%s' does not exist"}
}

// toVpc is the reference that most network resources have.
func toVpc() reference {
	return reference{path: []string{"vpcId"}, to: vpcType, missing: missingVpc}
}

func networkTypes() map[string]*resourceType {
	return map[string]*resourceType{
		vpcType: {
			constructor: ec2.NewVpc,
			noun:        "EC2 VPC",
			api:         api{service: "EC2", create: "CreateVpc", update: "ModifyVpcAttribute", remove: "DeleteVpc"},
			// internal/service/ec2/vpc_.go
			forceNew: []string{"cidrBlock", "ipv4IpamPoolId", "ipv4NetmaskLength"},
			defaults: props{"instanceTenancy": "default", "enableDnsSupport": true},
			inUse:    refusal{code: "DependencyViolation", message: "The vpc '%s' has dependencies and cannot be deleted."},
			create:   createVpc,
			takes:    timing{create: 2 * time.Second, remove: time.Second},
		},
		subnetType: {
			constructor: ec2.NewSubnet,
			noun:        "EC2 Subnet",
			api:         api{service: "EC2", create: "CreateSubnet", update: "ModifySubnetAttribute", remove: "DeleteSubnet"},
			// internal/service/ec2/vpc_subnet.go
			forceNew:   []string{"availabilityZone", "availabilityZoneId", "cidrBlock", "ipv6Native", "outpostArn", "vpcId"},
			references: []reference{toVpc()},
			inUse:      refusal{code: "DependencyViolation", message: "The subnet '%s' has dependencies and cannot be deleted."},
			create:     createSubnet,
			takes:      timing{create: 2 * time.Second, remove: time.Second},
		},
		gatewayType: {
			constructor: ec2.NewInternetGateway,
			noun:        "EC2 Internet Gateway",
			api:         api{service: "EC2", create: "CreateInternetGateway", update: "AttachInternetGateway", remove: "DetachInternetGateway"},
			references:  []reference{toVpc()},
			create:      createGateway,
			update:      func(c *call) error { return oneGatewayEach(c) },
			remove:      removeGateway,
			takes:       timing{create: time.Second, remove: 10 * time.Second},
		},
	}
}

func createVpc(c *call) (string, error) {
	count := 0
	for range c.others() {
		count++
	}
	if count >= vpcQuota {
		return "", c.refusef("VpcLimitExceeded", "The maximum number of VPCs has been reached.")
	}
	block := c.in().str("cidrBlock")
	if block == "" && !c.in().has("ipv4IpamPoolId") {
		return "", c.refusef("MissingParameter", "Either 'cidrBlock' or 'ipv4IpamPoolId' should be provided.")
	}
	prefix, err := netip.ParsePrefix(block)
	if err != nil || !prefix.Addr().Is4() {
		return "", c.refusef("InvalidParameterValue", "Value (%s) for parameter cidrBlock is invalid. This is not a valid CIDR block.", block)
	}
	if prefix.Bits() < 16 || prefix.Bits() > 28 {
		return "", c.refusef("InvalidVpc.Range", "The CIDR '%s' is invalid.", block)
	}
	id := newID("vpc")
	group, table := newID("sg"), newID("rtb")
	out := c.out()
	out["arn"] = c.arn("ec2", "vpc/"+id)
	out["ownerId"] = c.cloud.options.Account
	out["cidrBlock"] = prefix.Masked().String() // EC2 does the same
	out["defaultSecurityGroupId"], out["mainRouteTableId"], out["defaultRouteTableId"] = group, table, table
	out["defaultNetworkAclId"], out["dhcpOptionsId"] = newID("acl"), "dopt-0"+randomHex(16)
	out.setDefault("enableDnsHostnames", false)
	out.setDefault("enableNetworkAddressUsageMetrics", false)
	out.setDefault("assignGeneratedIpv6CidrBlock", false)
	err = c.imply(securityGroupType, group, props{"vpcId": id}, props{
		"name": "default", "description": "default VPC security group",
		"arn": c.arn("ec2", "security-group/"+group), "ownerId": c.cloud.options.Account,
	})
	if err != nil {
		return "", err
	}
	return id, c.imply(routeTableType, table, props{"vpcId": id}, props{
		"arn": c.arn("ec2", "route-table/"+table), "ownerId": c.cloud.options.Account,
	})
}

func createSubnet(c *call) (string, error) {
	vpc := c.find(vpcType, c.in().str("vpcId"))
	if err := checkSubnetBlock(c, vpc); err != nil {
		return "", err
	}
	all := zones(c.region)
	zone := c.in().str("availabilityZone")
	for _, z := range all {
		if id := c.in().str("availabilityZoneId"); id != "" && id == zoneID(c.region, z) {
			zone = z
		}
	}
	if zone == "" {
		zone = all[0]
	}
	if !slices.Contains(all, zone) {
		return "", c.refusef("InvalidParameterValue", "Value (%s) for parameter availabilityZone is invalid. Subnets can currently only be created in the following availability zones: %s.", zone, strings.Join(all, ", "))
	}
	id := newID("subnet")
	out := c.out()
	out["arn"] = c.arn("ec2", "subnet/"+id)
	out["ownerId"] = c.cloud.options.Account
	out["availabilityZone"], out["availabilityZoneId"] = zone, zoneID(c.region, zone)
	out["privateDnsHostnameTypeOnLaunch"] = "ip-name"
	for _, flag := range []string{
		"assignIpv6AddressOnCreation", "enableDns64", "enableResourceNameDnsARecordOnLaunch",
		"enableResourceNameDnsAaaaRecordOnLaunch", "ipv6Native", "mapPublicIpOnLaunch",
	} {
		out.setDefault(flag, false)
	}
	return id, nil
}

func checkSubnetBlock(c *call, vpc *record) error {
	block := c.in().str("cidrBlock")
	prefix, err := netip.ParsePrefix(block)
	if err != nil || !prefix.Addr().Is4() {
		return c.refusef("InvalidParameterValue", "Value (%s) for parameter cidrBlock is invalid. This is not a valid CIDR block.", block)
	}
	if prefix != prefix.Masked() {
		return c.refusef("InvalidSubnet.Range", "The CIDR '%s' is invalid.", block)
	}
	whole := netip.MustParsePrefix(vpc.Outputs.str("cidrBlock"))
	if prefix.Bits() < whole.Bits() || prefix.Bits() > 28 || !whole.Contains(prefix.Addr()) {
		return c.refusef("InvalidSubnet.Range", "The CIDR '%s' is invalid.", block)
	}
	for r := range c.others() {
		if !vpc.means(r.Inputs.str("vpcId")) {
			continue
		}
		other, err := netip.ParsePrefix(r.Outputs.str("cidrBlock"))
		if err == nil && other.Overlaps(prefix) {
			return c.refusef("InvalidSubnet.Conflict", "The CIDR '%s' conflicts with another subnet", block)
		}
	}
	return nil
}

func createGateway(c *call) (string, error) {
	count := 0
	for range c.others() {
		count++
	}
	if count >= vpcQuota {
		return "", c.refusef("InternetGatewayLimitExceeded", "The maximum number of internet gateways has been reached.")
	}
	if err := oneGatewayEach(c); err != nil {
		return "", err
	}
	id := newID("igw")
	c.out()["arn"] = c.arn("ec2", "internet-gateway/"+id)
	c.out()["ownerId"] = c.cloud.options.Account
	c.out().setDefault("vpcId", "")
	return id, nil
}

// oneGatewayEach: a VPC has at most one internet gateway.
func oneGatewayEach(c *call) error {
	vpc := c.in().str("vpcId")
	for r := range c.others() {
		if vpc != "" && r.Inputs.str("vpcId") == vpc {
			return c.refusef("Resource.AlreadyAssociated", "resource %s is already attached to network %s", r.ID, vpc)
		}
	}
	return nil
}

// removeGateway refuses while something in the VPC has a public address.
func removeGateway(c *call) error {
	vpc := c.r.Inputs.str("vpcId")
	for balancer := range c.cloud.each(loadBalancerType, c.region) {
		if vpc != "" && balancer.Outputs.str("vpcId") == vpc && !balancer.Inputs.boolean("internal") {
			return c.refusef("DependencyViolation", "Network %s has some mapped public address(es). Please unmap those public address(es) before detaching the gateway.", vpc)
		}
	}
	for nat := range c.cloud.each(natType, c.region) {
		subnet := c.find(subnetType, nat.Inputs.str("subnetId"))
		if subnet != nil && vpc != "" && subnet.Inputs.str("vpcId") == vpc && nat.Inputs.str("allocationId") != "" {
			return c.refusef("DependencyViolation", "Network %s has some mapped public address(es). Please unmap those public address(es) before detaching the gateway.", vpc)
		}
	}
	return nil
}
