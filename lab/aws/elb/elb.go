// Package elb is Elastic Load Balancing in the stand-in.
package elb

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/lb"

	"tombolo/lab/aws/account"
	"tombolo/lab/aws/ec2"
	"tombolo/lab/standin"
)

// The types of Elastic Load Balancing.
const (
	LoadBalancerType = "aws:lb/loadBalancer:LoadBalancer"
	TargetGroupType  = "aws:lb/targetGroup:TargetGroup"
	ListenerType     = "aws:lb/listener:Listener"
)

// elbService is how AWS's SDK prints the service.
const elbService = "Elastic Load Balancing v2"

// elbName of a load balancer or a target group: 1 to 32 letters, digits and
// hyphens, none of which is at an end.
var elbName = regexp.MustCompile(`^[0-9A-Za-z]([0-9A-Za-z-]{0,30}[0-9A-Za-z])?$`)

// Types are load balancers and what they send to.
func Types() map[string]*standin.Type {
	return map[string]*standin.Type{
		LoadBalancerType: {
			Constructor: lb.NewLoadBalancer,
			Noun:        "ELBv2 Load Balancer",
			API:         standin.API{Service: elbService, Create: "CreateLoadBalancer", Update: "ModifyLoadBalancerAttributes", Remove: "DeleteLoadBalancer"},
			// internal/service/elbv2/load_balancer.go
			ForceNew: []string{"customerOwnedIpv4Pool", "internal", "loadBalancerType", "name", "namePrefix"},
			Autoname: standin.Autoname{Property: "name", Max: 32},
			Defaults: standin.Props{
				"loadBalancerType": "application", "enableDeletionProtection": false, "enableZonalShift": false,
				"xffHeaderProcessingMode": "append", "preserveHostHeader": false, "idleTimeout": 60.0, "clientKeepAlive": 3600.0,
			},
			// Its network interfaces keep subnets and groups from being deleted.
			References: []standin.Reference{
				{Path: []string{"subnets"}, To: ec2.SubnetType, Missing: missingELBSubnet()},
				{Path: []string{"subnetMappings", "subnetId"}, To: ec2.SubnetType, Missing: missingELBSubnet()},
				{Path: []string{"securityGroups"}, To: ec2.SecurityGroupType, Missing: standin.Refusal{
					Code: "InvalidSecurityGroup", Message: "The security group '%s' does not exist",
				}},
			},
			Validate: validateLoadBalancer,
			Put:      checkBalancerNetwork,
			Create:   createLoadBalancer,
			Remove:   removeLoadBalancer,
			// Users of the AWS provider report two to three minutes for
			// creation; deletion waits for the network interfaces.
			Takes: standin.Timing{Create: 150 * time.Second, Update: 10 * time.Second, Remove: 40 * time.Second},
		},
		TargetGroupType: {
			Constructor: lb.NewTargetGroup,
			Noun:        "ELBv2 Target Group",
			API:         standin.API{Service: elbService, Create: "CreateTargetGroup", Update: "ModifyTargetGroup", Remove: "DeleteTargetGroup"},
			// internal/service/elbv2/target_group.go
			ForceNew:   []string{"ipAddressType", "name", "namePrefix", "port", "protocol", "protocolVersion", "targetType", "vpcId"},
			Autoname:   standin.Autoname{Property: "name", Max: 32},
			Defaults:   standin.Props{"targetType": "instance", "deregistrationDelay": 300.0, "slowStart": 0.0, "proxyProtocolV2": false},
			References: []standin.Reference{{Path: []string{"vpcId"}, To: ec2.VPCType, Weak: true, Missing: standin.Refusal{Code: "ValidationError", Message: "The VPC ID '%s' is not found"}}},
			InUse:      standin.Refusal{Code: "ResourceInUse", Message: "Target group '%s' is currently in use by a listener or a rule"},
			Validate:   validateTargetGroup,
			Create:     createTargetGroup,
			Takes:      standin.Timing{Create: time.Second, Remove: time.Second},
		},
		ListenerType: {
			Constructor: lb.NewListener,
			Noun:        "ELBv2 Listener",
			API:         standin.API{Service: elbService, Create: "CreateListener", Update: "ModifyListener", Remove: "DeleteListener"},
			// internal/service/elbv2/listener.go
			ForceNew: []string{"loadBalancerArn"},
			References: []standin.Reference{
				{Path: []string{"loadBalancerArn"}, To: LoadBalancerType, Cascade: true, Missing: standin.Refusal{
					Code: "LoadBalancerNotFound", Message: "One or more load balancers not found: %s",
				}},
				{Path: []string{"defaultActions", "targetGroupArn"}, To: TargetGroupType, Missing: standin.Refusal{
					Code: "TargetGroupNotFound", Message: "One or more target groups not found: %s",
				}},
			},
			Create: createListener,
			Takes:  standin.Timing{Create: time.Second, Remove: time.Second},
		},
	}
}

func missingELBSubnet() standin.Refusal {
	return standin.Refusal{Code: "SubnetNotFound", Message: "The subnet ID '%s' does not exist"}
}

func badELBName(in standin.Props) []standin.Problem {
	return standin.Matching(in, "name", elbName, `only alphanumeric characters and hyphens allowed in "name", up to 32, and no hyphen at its begin or end: `)
}

func validateLoadBalancer(in standin.Props) []standin.Problem {
	problems := badELBName(in)
	if strings.HasPrefix(in.Str("name"), "internal-") {
		problems = append(problems, standin.Problem{Path: "name", Reason: `"name" cannot begin with "internal-"`})
	}
	return problems
}

func createLoadBalancer(c *standin.Call) (string, error) {
	in, out := c.In(), c.Out()
	name := in.Str("name")
	if c.Other("name", name) != nil {
		return "", c.Refusef("DuplicateLoadBalancerName", "A load balancer with the same name '%s' exists, but with different settings", name)
	}
	kind := map[string]string{"application": "app", "network": "net", "gateway": "gwy"}[in.Str("loadBalancerType")]
	suffix := kind + "/" + name + "/" + account.RandomHex(16)
	arn := account.ARN(c, "elasticloadbalancing", "loadbalancer/"+suffix)
	out["arn"], out["arnSuffix"] = arn, suffix
	out["dnsName"], out["zoneId"] = balancerHost(c, name, suffix), "Z"+strings.ToUpper(account.RandomHex(13))
	out.SetDefaults(standin.Props{"internal": false, "ipAddressType": "ipv4", "securityGroups": []any{}, "subnets": []any{}, "subnetMappings": []any{}})
	return arn, nil
}

// balancerHost is the DNS name of a load balancer. Source:
// https://docs.aws.amazon.com/elasticloadbalancing/latest/network/network-load-balancers.html
func balancerHost(c *standin.Call, name, suffix string) string {
	if c.In().Str("loadBalancerType") == "network" {
		return fmt.Sprintf("%s-%s.elb.%s.%s", name, suffix[strings.LastIndex(suffix, "/")+1:], c.Region, account.DNSSuffix(c.Region))
	}
	host := fmt.Sprintf("%s-%d.%s.elb.%s", name, account.Hashed(suffix), c.Region, account.DNSSuffix(c.Region))
	if c.In().Boolean("internal") {
		return "internal-" + host
	}
	return host
}

// balancerSubnets are the subnets of a load balancer, in whichever way given.
func balancerSubnets(r *standin.Record) []string {
	return slices.Concat(r.Inputs.List("subnets"), r.Inputs.At("subnetMappings", "subnetId"))
}

// checkBalancerNetwork refuses subnets that a load balancer cannot be in, and
// security groups of another network.
func checkBalancerNetwork(c *standin.Call) error {
	ids, network, zones := balancerSubnets(c.Record), "", map[string]bool{}
	for _, id := range ids {
		subnet := c.Find(ec2.SubnetType, id)
		zone := subnet.Outputs.Str("availabilityZone")
		switch {
		case network != "" && subnet.Inputs.Str("vpcId") != network:
			return c.Refusef("InvalidConfigurationRequest", "All subnets must belong to the same VPC: '%s'", network)
		case zones[zone]:
			return c.Refusef("InvalidConfigurationRequest", "A load balancer cannot be attached to multiple subnets in the same Availability Zone")
		case !c.In().Boolean("internal") && ec2.HasGateway(c, subnet) != nil:
			return c.Refusef("InvalidSubnet", "VPC %s has no internet gateway", subnet.Inputs.Str("vpcId"))
		}
		network, zones[zone] = subnet.Inputs.Str("vpcId"), true
	}
	if len(ids) == 0 {
		return c.Refusef("ValidationError", "At least one subnet must be specified")
	}
	if len(ids) < 2 && c.In().Str("loadBalancerType") == "application" {
		return c.Refusef("ValidationError", "At least two subnets in two different Availability Zones must be specified")
	}
	if ec2.Foreign(c, ec2.SecurityGroupType, "securityGroups", network) != "" {
		return c.Refusef("InvalidConfigurationRequest", "One or more security groups are invalid")
	}
	c.Out()["vpcId"] = network
	return nil
}

func removeLoadBalancer(c *standin.Call) error {
	if c.Record.Inputs.Boolean("enableDeletionProtection") {
		return c.Refusef("OperationNotPermitted", "Load balancer '%s' cannot be deleted because deletion protection is enabled", c.Record.ID)
	}
	return nil
}

func validateTargetGroup(in standin.Props) []standin.Problem {
	problems := badELBName(in)
	for _, key := range []string{"port", "protocol", "vpcId"} {
		if in.Str("targetType") != "lambda" && !in.Has(key) {
			problems = append(problems, standin.Missing(key, key))
		}
	}
	return problems
}

func createTargetGroup(c *standin.Call) (string, error) {
	in, out := c.In(), c.Out()
	name := in.Str("name")
	if c.Other("name", name) != nil {
		return "", c.Refusef("DuplicateTargetGroupName", "A target group with the same name '%s' exists, but with different settings", name)
	}
	suffix := "targetgroup/" + name + "/" + account.RandomHex(16)
	arn := account.ARN(c, "elasticloadbalancing", suffix)
	out["arn"], out["arnSuffix"], out["loadBalancerArns"] = arn, suffix, []any{}
	out.SetDefault("ipAddressType", "ipv4")
	return arn, nil
}

func createListener(c *standin.Call) (string, error) {
	in, out := c.In(), c.Out()
	balancer := c.Find(LoadBalancerType, in.Str("loadBalancerArn"))
	for r := range c.Others() {
		if c.Cloud.Means(balancer, r.Inputs.Str("loadBalancerArn")) && r.Inputs.Integer("port") == in.Integer("port") {
			return "", c.Refusef("DuplicateListener", "A listener already exists on this port for this load balancer '%s'", balancer.ID)
		}
	}
	arn := strings.Replace(balancer.ID, ":loadbalancer/", ":listener/", 1) + "/" + account.RandomHex(16)
	out["arn"] = arn
	return arn, nil
}

// HasPublic reports whether a load balancer in a VPC has a public address.
func HasPublic(c *standin.Call, vpc string) bool {
	for balancer := range c.Cloud.Each(LoadBalancerType, c.Region) {
		if balancer.Outputs.Str("vpcId") == vpc && !balancer.Inputs.Boolean("internal") {
			return true
		}
	}
	return false
}

// Interfaces are one in each subnet of a load balancer. Source:
// https://docs.aws.amazon.com/elasticloadbalancing/latest/application/application-load-balancers.html
func Interfaces(c *standin.Call) (all []*standin.Record) {
	for balancer := range c.Cloud.Each(LoadBalancerType, c.Region) {
		kind := "interface"
		if balancer.Inputs.Str("loadBalancerType") == "network" {
			kind = "network_load_balancer"
		}
		for _, id := range balancerSubnets(balancer) {
			all = append(all, ec2.Implied(c, balancer, ec2.ImpliedInterface{
				ID: ec2.DerivedID(balancer.ID, id), Kind: kind, Description: "ELB " + balancer.Outputs.Str("arnSuffix"),
				Subnet: c.Find(ec2.SubnetType, id), Groups: balancer.Outputs["securityGroups"],
			}))
		}
	}
	return all
}
