package ec2

import (
	"slices"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"

	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

// endpointServices are the services of AWS that have endpoints in a VPC, among
// them the ones that a cluster without internet needs. Source:
// https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html
var endpointServices = []string{
	"s3", "dynamodb", "ec2", "ec2messages", "ecr.api", "ecr.dkr", "eks", "eks-auth", "elasticfilesystem",
	"elasticloadbalancing", "autoscaling", "guardduty-data", "kms", "logs", "monitoring", "events",
	"secretsmanager", "sns", "sqs", "ssm", "ssmmessages", "sts", "xray", "aps-workspaces", "acm-pca", "ebs",
}

// chinaServices are those of endpointServices that are called
// cn.com.amazonaws.<region>.<service> in China, as interface endpoints: by what
// aws ec2 describe-vpc-endpoint-services lists there, in the issues 25329 and
// 25333 of aws/aws-cdk.
var chinaServices = []string{
	"ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "elasticfilesystem", "autoscaling", "monitoring", "sqs", "sts", "xray", "ebs",
}

// shortName is the service in a name; empty when a region has none of that name.
func shortName(region, name string) string {
	for _, short := range endpointServices {
		prefix := "com.amazonaws."
		if account.Partition(region) == "aws-cn" && slices.Contains(chinaServices, short) {
			prefix = "cn.com.amazonaws."
		}
		if name == prefix+region+"."+short {
			return short
		}
	}
	return ""
}

func endpointTypes() map[string]*standin.Type {
	return map[string]*standin.Type{
		EndpointType: {
			Constructor: ec2.NewVpcEndpoint,
			Noun:        "EC2 VPC Endpoint",
			API:         standin.API{Service: "EC2", Create: "CreateVpcEndpoint", Update: "ModifyVpcEndpoint", Remove: "DeleteVpcEndpoints"},
			// internal/service/ec2/vpc_endpoint.go
			ForceNew:  []string{"resourceConfigurationArn", "serviceName", "serviceNetworkArn", "serviceRegion", "vpcEndpointType", "vpcId"},
			Documents: []string{"policy"},
			Defaults:  standin.Props{"vpcEndpointType": "Gateway"},
			References: []standin.Reference{
				toVpc(),
				{
					Path: []string{"routeTableIds"}, To: RouteTableType, Weak: true,
					Missing: standin.Refusal{Code: "InvalidRouteTableId.NotFound", Message: "The routeTable ID '%s' does not exist"},
				},
				{
					Path: []string{"subnetIds"}, To: SubnetType,
					Missing: standin.Refusal{Code: "InvalidSubnetId.NotFound", Message: "The subnet ID '%s' does not exist"},
				},
				{
					Path: []string{"securityGroupIds"}, To: SecurityGroupType,
					Missing: standin.Refusal{Code: "InvalidSecurityGroupID.NotFound", Message: "The security group ID '%s' does not exist"},
				},
			},
			Put:    checkEndpoint,
			Create: createEndpoint,
			// Interface endpoints take a minute or two, by users' reports.
			Takes: standin.Timing{Create: 60 * time.Second, Remove: 30 * time.Second},
		},
	}
}

func createEndpoint(c *standin.Call) (string, error) {
	id, out := account.NewID("vpce"), c.Out()
	out["arn"] = account.ARN(c, "ec2", "vpc-endpoint/"+id)
	out["ownerId"], out["state"], out["requesterManaged"] = c.Cloud.Account, "available", false
	out.SetDefaults(standin.Props{
		"serviceRegion": c.Region, "ipAddressType": "ipv4", "privateDnsEnabled": false,
		"policy":        `{"Statement":[{"Action":"*","Effect":"Allow","Principal":"*","Resource":"*"}],"Version":"2008-10-17"}`,
		"routeTableIds": []any{}, "subnetIds": []any{}, "securityGroupIds": []any{}, "cidrBlocks": []any{}, "dnsEntries": []any{}, "subnetConfigurations": []any{},
	})
	out["dnsOptions"] = map[string]any{"dnsRecordIpType": "ipv4"}
	out["prefixListId"] = ""
	if c.In().Str("vpcEndpointType") == "Gateway" {
		out["prefixListId"] = "pl-" + account.RandomHex(8)
	}
	interfaces := []any{}
	for range c.In().List("subnetIds") {
		interfaces = append(interfaces, account.NewID("eni"))
	}
	out["networkInterfaceIds"] = interfaces
	return id, nil
}

func checkEndpoint(c *standin.Call) error {
	in := c.In()
	service := in.Str("serviceName")
	short := shortName(c.Region, service)
	if short == "" {
		return c.Refusef("InvalidServiceName", "The Vpc Endpoint Service '%s' does not exist", service)
	}
	gateway := in.Str("vpcEndpointType") == "Gateway"
	if gateway != (short == "dynamodb" || short == "s3") && (gateway || short == "dynamodb") {
		return c.Refusef("InvalidParameter", "Endpoint type (%s) does not match available service types ([%s]).",
			in.Str("vpcEndpointType"), map[bool]string{true: "Interface", false: "Gateway"}[gateway])
	}
	if gateway && (in.Has("subnetIds") || in.Has("securityGroupIds")) {
		return c.Refusef("InvalidParameter", "Subnet and security group cannot be specified for a gateway endpoint")
	}
	if in.Boolean("privateDnsEnabled") {
		if err := privateNames(c); err != nil {
			return err
		}
	}
	return endpointInVpc(c)
}

// privateNames refuses private DNS names where the VPC has no DNS, or where
// another endpoint has them.
func privateNames(c *standin.Call) error {
	vpc := c.Find(VPCType, c.In().Str("vpcId"))
	if !vpc.Outputs.Boolean("enableDnsSupport") || !vpc.Outputs.Boolean("enableDnsHostnames") {
		return c.Refusef("InvalidParameter", "Enabling private DNS requires both enableDnsSupport and enableDnsHostnames VPC attributes set to true for %s", vpc.ID)
	}
	for r := range c.Others() {
		if r.Inputs.Str("vpcId") == vpc.ID && r.Inputs.Str("serviceName") == c.In().Str("serviceName") && r.Inputs.Boolean("privateDnsEnabled") {
			return c.Refusef("InvalidParameter", "private-dns-enabled cannot be set because there is already a conflicting DNS domain for %s in the VPC %s", c.In().Str("serviceName"), vpc.ID)
		}
	}
	return nil
}

// endpointInVpc refuses parts of another network, and two subnets in a zone.
func endpointInVpc(c *standin.Call) error {
	vpc, zones := c.In().Str("vpcId"), map[string]bool{}
	for _, id := range c.In().List("subnetIds") {
		subnet := c.Find(SubnetType, id)
		if subnet.Inputs.Str("vpcId") != vpc {
			return c.Refusef("InvalidParameter", "Subnet %s does not belong to VPC %s", id, vpc)
		}
		zone := subnet.Outputs.Str("availabilityZone")
		if zones[zone] {
			return c.Refusef("DuplicateSubnetsInSameZone", "Found another VPC endpoint subnet in the availability zone of %s", id)
		}
		zones[zone] = true
	}
	if id := Foreign(c, RouteTableType, "routeTableIds", vpc); id != "" {
		return c.Refusef("InvalidParameter", "Route table %s does not belong to VPC %s", id, vpc)
	}
	if id := Foreign(c, SecurityGroupType, "securityGroupIds", vpc); id != "" {
		return c.Refusef("InvalidParameter", "Security group %s does not belong to VPC %s", id, vpc)
	}
	return nil
}
