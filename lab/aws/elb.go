package aws

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/lb"
)

const (
	loadBalancerType = "aws:lb/loadBalancer:LoadBalancer"
	targetGroupType  = "aws:lb/targetGroup:TargetGroup"
	listenerType     = "aws:lb/listener:Listener"
)

// elbService is how AWS's SDK prints the service.
const elbService = "Elastic Load Balancing v2"

// elbName of a load balancer or a target group: 1 to 32 letters, digits and
// hyphens, none of which is at an end.
var elbName = regexp.MustCompile(`^[0-9A-Za-z]([0-9A-Za-z-]{0,30}[0-9A-Za-z])?$`)

func loadBalancingTypes() map[string]*resourceType {
	return map[string]*resourceType{
		loadBalancerType: {
			constructor: lb.NewLoadBalancer,
			noun:        "ELBv2 Load Balancer",
			api:         api{service: elbService, create: "CreateLoadBalancer", update: "ModifyLoadBalancerAttributes", remove: "DeleteLoadBalancer"},
			// internal/service/elbv2/load_balancer.go
			forceNew: []string{"customerOwnedIpv4Pool", "internal", "loadBalancerType", "name", "namePrefix"},
			autoname: autoname{property: "name", max: 32},
			defaults: props{
				"loadBalancerType": "application", "enableDeletionProtection": false, "enableZonalShift": false,
				"xffHeaderProcessingMode": "append", "preserveHostHeader": false, "idleTimeout": 60.0, "clientKeepAlive": 3600.0,
			},
			// Its network interfaces keep subnets and groups from being deleted.
			references: []reference{
				{path: []string{"subnets"}, to: subnetType, missing: missingELBSubnet()},
				{path: []string{"subnetMappings", "subnetId"}, to: subnetType, missing: missingELBSubnet()},
				{path: []string{"securityGroups"}, to: securityGroupType, missing: refusal{
					code: "InvalidSecurityGroup", message: "The security group '%s' does not exist",
				}},
			},
			validate: validateLoadBalancer,
			create:   createLoadBalancer,
			update:   checkBalancerNetwork,
			remove:   removeLoadBalancer,
			// Users of the AWS provider report two to three minutes for
			// creation; deletion waits for the network interfaces.
			takes: timing{create: 150 * time.Second, update: 10 * time.Second, remove: 40 * time.Second},
		},
		targetGroupType: {
			constructor: lb.NewTargetGroup,
			noun:        "ELBv2 Target Group",
			api:         api{service: elbService, create: "CreateTargetGroup", update: "ModifyTargetGroup", remove: "DeleteTargetGroup"},
			// internal/service/elbv2/target_group.go
			forceNew:   []string{"ipAddressType", "name", "namePrefix", "port", "protocol", "protocolVersion", "targetType", "vpcId"},
			autoname:   autoname{property: "name", max: 32},
			defaults:   props{"targetType": "instance", "deregistrationDelay": 300.0, "slowStart": 0.0, "proxyProtocolV2": false},
			references: []reference{{path: []string{"vpcId"}, to: vpcType, weak: true, missing: refusal{code: "ValidationError", message: "The VPC ID '%s' is not found"}}},
			inUse:      refusal{code: "ResourceInUse", message: "Target group '%s' is currently in use by a listener or a rule"},
			validate:   validateTargetGroup,
			create:     createTargetGroup,
			takes:      timing{create: time.Second, remove: time.Second},
		},
		listenerType: {
			constructor: lb.NewListener,
			noun:        "ELBv2 Listener",
			api:         api{service: elbService, create: "CreateListener", update: "ModifyListener", remove: "DeleteListener"},
			// internal/service/elbv2/listener.go
			forceNew: []string{"loadBalancerArn"},
			references: []reference{
				{path: []string{"loadBalancerArn"}, to: loadBalancerType, cascade: true, missing: refusal{
					code: "LoadBalancerNotFound", message: "One or more load balancers not found: %s",
				}},
				{path: []string{"defaultActions", "targetGroupArn"}, to: targetGroupType, missing: refusal{
					code: "TargetGroupNotFound", message: "One or more target groups not found: %s",
				}},
			},
			validate: func(in props) []problem {
				return oneOf(in, "protocol", "HTTP", "HTTPS", "TCP", "TLS", "UDP", "TCP_UDP", "GENEVE")
			},
			create: createListener,
			takes:  timing{create: time.Second, remove: time.Second},
		},
	}
}

func missingELBSubnet() refusal {
	return refusal{code: "SubnetNotFound", message: "The subnet ID '%s' does not exist"}
}

func badELBName(in props) []problem {
	if name := in.str("name"); name != "" && !elbName.MatchString(name) {
		return []problem{{"name", "only alphanumeric characters and hyphens allowed in \"name\", up to 32, and no hyphen at its begin or end: " + name}}
	}
	return nil
}

func validateLoadBalancer(in props) []problem {
	problems := append(badELBName(in), oneOf(in, "loadBalancerType", "application", "network", "gateway")...)
	if strings.HasPrefix(in.str("name"), "internal-") {
		problems = append(problems, problem{"name", `"name" cannot begin with "internal-"`})
	}
	return problems
}

func createLoadBalancer(c *call) (string, error) {
	in, out := c.in(), c.out()
	name := in.str("name")
	for r := range c.others() {
		if r.Outputs.str("name") == name {
			return "", c.refusef("DuplicateLoadBalancerName", "A load balancer with the same name '%s' exists, but with different settings", name)
		}
	}
	if err := checkBalancerNetwork(c); err != nil {
		return "", err
	}
	kind := map[string]string{"application": "app", "network": "net", "gateway": "gwy"}[in.str("loadBalancerType")]
	suffix := kind + "/" + name + "/" + randomHex(16)
	arn := c.arn("elasticloadbalancing", "loadbalancer/"+suffix)
	out["arn"], out["arnSuffix"] = arn, suffix
	out["dnsName"], out["zoneId"] = balancerHost(c, name, suffix), "Z"+strings.ToUpper(randomHex(13))
	out.setDefault("internal", false)
	out.setDefault("ipAddressType", "ipv4")
	for _, key := range []string{"securityGroups", "subnets", "subnetMappings"} {
		out.setDefault(key, []any{})
	}
	return arn, nil
}

// balancerHost is the DNS name of a load balancer. Source:
// https://docs.aws.amazon.com/elasticloadbalancing/latest/network/network-load-balancers.html
func balancerHost(c *call, name, suffix string) string {
	if c.in().str("loadBalancerType") == "network" {
		return fmt.Sprintf("%s-%s.elb.%s.%s", name, suffix[strings.LastIndex(suffix, "/")+1:], c.region, dnsSuffix(c.region))
	}
	host := fmt.Sprintf("%s-%d.%s.elb.%s", name, hashed(suffix), c.region, dnsSuffix(c.region))
	if c.in().boolean("internal") {
		return "internal-" + host
	}
	return host
}

// balancerSubnets are the subnets of a load balancer, in whichever way given.
func balancerSubnets(r *record) []string {
	return slices.Concat(r.Inputs.list("subnets"), r.Inputs.at("subnetMappings", "subnetId"))
}

// checkBalancerNetwork refuses subnets that a load balancer cannot be in, and
// security groups of another network.
func checkBalancerNetwork(c *call) error {
	ids, network, zones := balancerSubnets(c.r), "", map[string]bool{}
	for _, id := range ids {
		subnet := c.find(subnetType, id)
		zone := subnet.Outputs.str("availabilityZone")
		switch {
		case network != "" && subnet.Inputs.str("vpcId") != network:
			return c.refusef("InvalidConfigurationRequest", "All subnets must belong to the same VPC: '%s'", network)
		case zones[zone]:
			return c.refusef("InvalidConfigurationRequest", "A load balancer cannot be attached to multiple subnets in the same Availability Zone")
		case !c.in().boolean("internal") && hasGateway(c, subnet) != nil:
			return c.refusef("InvalidSubnet", "VPC %s has no internet gateway", subnet.Inputs.str("vpcId"))
		}
		network, zones[zone] = subnet.Inputs.str("vpcId"), true
	}
	if len(ids) == 0 {
		return c.refusef("ValidationError", "At least one subnet must be specified")
	}
	if len(ids) < 2 && c.in().str("loadBalancerType") == "application" {
		return c.refusef("ValidationError", "At least two subnets in two different Availability Zones must be specified")
	}
	for _, id := range c.in().list("securityGroups") {
		if c.find(securityGroupType, id).Inputs.str("vpcId") != network {
			return c.refusef("InvalidConfigurationRequest", "One or more security groups are invalid")
		}
	}
	c.out()["vpcId"] = network
	return nil
}

func removeLoadBalancer(c *call) error {
	if c.r.Inputs.boolean("enableDeletionProtection") {
		return c.refusef("OperationNotPermitted", "Load balancer '%s' cannot be deleted because deletion protection is enabled", c.r.ID)
	}
	return nil
}

func validateTargetGroup(in props) []problem {
	problems := append(badELBName(in), oneOf(in, "targetType", "instance", "ip", "lambda", "alb")...)
	for _, key := range []string{"port", "protocol", "vpcId"} {
		if in.str("targetType") != "lambda" && !in.has(key) {
			problems = append(problems, missing(key, key))
		}
	}
	return append(problems, oneOf(in, "protocol", "HTTP", "HTTPS", "TCP", "TLS", "UDP", "TCP_UDP", "GENEVE")...)
}

func createTargetGroup(c *call) (string, error) {
	in, out := c.in(), c.out()
	name := in.str("name")
	for r := range c.others() {
		if r.Outputs.str("name") == name {
			return "", c.refusef("DuplicateTargetGroupName", "A target group with the same name '%s' exists, but with different settings", name)
		}
	}
	suffix := "targetgroup/" + name + "/" + randomHex(16)
	arn := c.arn("elasticloadbalancing", suffix)
	out["arn"], out["arnSuffix"], out["loadBalancerArns"] = arn, suffix, []any{}
	out.setDefault("ipAddressType", "ipv4")
	return arn, nil
}

func createListener(c *call) (string, error) {
	in, out := c.in(), c.out()
	balancer := c.find(loadBalancerType, in.str("loadBalancerArn"))
	for r := range c.others() {
		if balancer.means(r.Inputs.str("loadBalancerArn")) && r.Inputs.integer("port") == in.integer("port") {
			return "", c.refusef("DuplicateListener", "A listener already exists on this port for this load balancer '%s'", balancer.ID)
		}
	}
	arn := strings.Replace(balancer.ID, ":loadbalancer/", ":listener/", 1) + "/" + randomHex(16)
	out["arn"] = arn
	return arn, nil
}

func loadBalancingFunctions() map[string]*function {
	return map[string]*function{
		"aws:lb/getLbs:getLbs": {sdk: lb.GetLbs, run: func(q *query) (props, error) {
			arns := []any{}
			for r := range q.cloud.each(loadBalancerType, q.region) {
				if q.matches(r) {
					arns = append(arns, r.ID)
				}
			}
			return props{"id": q.region, "arns": arns}, nil
		}},
		"aws:lb/getLoadBalancer:getLoadBalancer": {sdk: lb.LookupLoadBalancer, run: func(q *query) (props, error) {
			return q.lookedUp(loadBalancerType, "ELBv2 Load Balancer")
		}},
		"aws:lb/getTargetGroup:getTargetGroup": {sdk: lb.LookupTargetGroup, run: func(q *query) (props, error) {
			return q.lookedUp(targetGroupType, "ELBv2 Target Group")
		}},
	}
}

// lookedUp is the only match, as a lookup of one thing tells of it.
func (q *query) lookedUp(typ, noun string) (props, error) {
	r, err := q.one(typ, noun)
	if err != nil {
		return nil, err
	}
	return withID(r), nil
}
