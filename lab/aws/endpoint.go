package aws

import (
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
)

const endpointType = "aws:ec2/vpcEndpoint:VpcEndpoint"

// endpointServices are the services of AWS that have endpoints in a VPC, among
// them the ones that a cluster without internet needs. Source:
// https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html
var endpointServices = []string{
	"s3", "dynamodb", "ec2", "ec2messages", "ecr.api", "ecr.dkr", "eks", "eks-auth", "elasticfilesystem",
	"elasticloadbalancing", "autoscaling", "guardduty-data", "kms", "logs", "monitoring", "events",
	"secretsmanager", "sns", "sqs", "ssm", "ssmmessages", "sts", "xray", "aps-workspaces", "acm-pca", "ebs",
}

func endpointTypes() map[string]*resourceType {
	return map[string]*resourceType{
		endpointType: {
			constructor: ec2.NewVpcEndpoint,
			noun:        "EC2 VPC Endpoint",
			api:         api{service: "EC2", create: "CreateVpcEndpoint", update: "ModifyVpcEndpoint", remove: "DeleteVpcEndpoints"},
			// internal/service/ec2/vpc_endpoint.go
			forceNew:  []string{"resourceConfigurationArn", "serviceName", "serviceNetworkArn", "serviceRegion", "vpcEndpointType", "vpcId"},
			documents: []string{"policy"},
			defaults:  props{"vpcEndpointType": "Gateway"},
			references: []reference{
				toVpc(),
				{
					path: []string{"routeTableIds"}, to: routeTableType, weak: true,
					missing: refusal{code: "InvalidRouteTableId.NotFound", message: "The routeTable ID '%s' does not exist"},
				},
				{
					path: []string{"subnetIds"}, to: subnetType,
					missing: refusal{code: "InvalidSubnetId.NotFound", message: "The subnet ID '%s' does not exist"},
				},
				{
					path: []string{"securityGroupIds"}, to: securityGroupType,
					missing: refusal{code: "InvalidSecurityGroupId.NotFound", message: "The security group ID '%s' does not exist"},
				},
			},
			create: createEndpoint,
			update: checkEndpoint,
			// Interface endpoints take a minute or two, by users' reports.
			takes: timing{create: 60 * time.Second, remove: 30 * time.Second},
		},
	}
}

func createEndpoint(c *call) (string, error) {
	if err := checkEndpoint(c); err != nil {
		return "", err
	}
	id, out := newID("vpce"), c.out()
	out["arn"] = c.arn("ec2", "vpc-endpoint/"+id)
	out["ownerId"], out["state"], out["requesterManaged"] = c.cloud.options.Account, "available", false
	out.setDefault("serviceRegion", c.region)
	out.setDefault("ipAddressType", "ipv4")
	out.setDefault("privateDnsEnabled", false)
	out.setDefault("policy", `{"Statement":[{"Action":"*","Effect":"Allow","Principal":"*","Resource":"*"}],"Version":"2008-10-17"}`)
	for _, key := range []string{"routeTableIds", "subnetIds", "securityGroupIds", "cidrBlocks", "dnsEntries", "subnetConfigurations"} {
		out.setDefault(key, []any{})
	}
	out["dnsOptions"] = map[string]any{"dnsRecordIpType": "ipv4"}
	out["prefixListId"] = ""
	if c.in().str("vpcEndpointType") == "Gateway" {
		out["prefixListId"] = "pl-" + randomHex(8)
	}
	interfaces := []any{}
	for range c.in().list("subnetIds") {
		interfaces = append(interfaces, newID("eni"))
	}
	out["networkInterfaceIds"] = interfaces
	return id, nil
}

func checkEndpoint(c *call) error {
	in := c.in()
	service := in.str("serviceName")
	short, found := strings.CutPrefix(service, "com.amazonaws."+c.region+".")
	if !found || !slices.Contains(endpointServices, short) {
		return c.refusef("InvalidServiceName", "The Vpc Endpoint Service '%s' does not exist", service)
	}
	gateway := in.str("vpcEndpointType") == "Gateway"
	if gateway != (short == "dynamodb" || short == "s3") && (gateway || short == "dynamodb") {
		return c.refusef("InvalidParameter", "Endpoint type (%s) does not match available service types ([%s]).",
			in.str("vpcEndpointType"), map[bool]string{true: "Interface", false: "Gateway"}[gateway])
	}
	if gateway && (in.has("subnetIds") || in.has("securityGroupIds")) {
		return c.refusef("InvalidParameter", "Subnet and security group cannot be specified for a gateway endpoint")
	}
	if in.boolean("privateDnsEnabled") {
		if err := privateNames(c); err != nil {
			return err
		}
	}
	return endpointInVpc(c)
}

// privateNames refuses private DNS names where the VPC has no DNS, or where
// another endpoint has them.
func privateNames(c *call) error {
	vpc := c.find(vpcType, c.in().str("vpcId"))
	if !vpc.Outputs.boolean("enableDnsSupport") || !vpc.Outputs.boolean("enableDnsHostnames") {
		return c.refusef("InvalidParameter", "Enabling private DNS requires both enableDnsSupport and enableDnsHostnames VPC attributes set to true for %s", vpc.ID)
	}
	for r := range c.others() {
		if r.Inputs.str("vpcId") == vpc.ID && r.Inputs.str("serviceName") == c.in().str("serviceName") && r.Inputs.boolean("privateDnsEnabled") {
			return c.refusef("InvalidParameter", "private-dns-enabled cannot be set because there is already a conflicting DNS domain for %s in the VPC %s", c.in().str("serviceName"), vpc.ID)
		}
	}
	return nil
}

// endpointInVpc refuses parts of another network, and two subnets in a zone.
func endpointInVpc(c *call) error {
	vpc, zones := c.in().str("vpcId"), map[string]bool{}
	for _, id := range c.in().list("subnetIds") {
		subnet := c.find(subnetType, id)
		if subnet.Inputs.str("vpcId") != vpc {
			return c.refusef("InvalidParameter", "Subnet %s does not belong to VPC %s", id, vpc)
		}
		zone := subnet.Outputs.str("availabilityZone")
		if zones[zone] {
			return c.refusef("DuplicateSubnetsInSameZone", "Found another VPC endpoint subnet in the availability zone of %s", id)
		}
		zones[zone] = true
	}
	for _, id := range c.in().list("routeTableIds") {
		if c.find(routeTableType, id).Inputs.str("vpcId") != vpc {
			return c.refusef("InvalidParameter", "Route table %s does not belong to VPC %s", id, vpc)
		}
	}
	for _, id := range c.in().list("securityGroupIds") {
		if c.find(securityGroupType, id).Inputs.str("vpcId") != vpc {
			return c.refusef("InvalidParameter", "Security group %s does not belong to VPC %s", id, vpc)
		}
	}
	return nil
}
