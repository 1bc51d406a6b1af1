package aws

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/vpc"
)

const (
	securityGroupType = "aws:ec2/securityGroup:SecurityGroup"
	groupRuleType     = "aws:ec2/securityGroupRule:SecurityGroupRule"
	ingressRuleType   = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
	egressRuleType    = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
	defaultGroupType  = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"
)

func firewallTypes() map[string]*resourceType {
	return map[string]*resourceType{
		securityGroupType: {
			constructor: ec2.NewSecurityGroup,
			noun:        "Security Group",
			api:         api{service: "EC2", create: "CreateSecurityGroup", update: "AuthorizeSecurityGroupIngress", remove: "DeleteSecurityGroup"},
			// internal/service/ec2/vpc_security_group.go
			forceNew:   []string{"description", "name", "namePrefix", "vpcId"},
			autoname:   autoname{property: "name", max: 255},
			defaults:   props{"description": "Managed by Pulumi", "revokeRulesOnDelete": false},
			references: []reference{toVpc()},
			inUse:      refusal{code: "DependencyViolation", message: "resource %s has a dependent object"},
			validate:   validateGroup,
			create:     createGroup,
			clear:      revokeRules,
			takes:      timing{create: 2 * time.Second, remove: 2 * time.Second},
		},
		defaultGroupType: {
			constructor: ec2.NewDefaultSecurityGroup,
			noun:        "Default Security Group",
			adopted:     true,
			api:         api{service: "EC2", create: "DescribeSecurityGroups", update: "AuthorizeSecurityGroupIngress", remove: "DescribeSecurityGroups"},
			// internal/service/ec2/vpc_default_security_group.go
			forceNew:   []string{"vpcId"},
			references: []reference{{path: []string{"vpcId"}, to: vpcType, missing: missingVpc, cascade: true}},
			create:     adoptGroup,
		},
		groupRuleType: {
			constructor: ec2.NewSecurityGroupRule,
			noun:        "Security Group Rule",
			api:         api{service: "EC2", create: "AuthorizeSecurityGroupIngress", update: "UpdateSecurityGroupRuleDescriptionsIngress", remove: "RevokeSecurityGroupIngress"},
			// internal/service/ec2/vpc_security_group_rule.go
			forceNew: []string{
				"cidrBlocks", "fromPort", "ipv6CidrBlocks", "prefixListIds", "protocol",
				"securityGroupId", "self", "sourceSecurityGroupId", "toPort", "type",
			},
			defaults:   props{"self": false},
			references: append(ruleOf(), ruleFrom("sourceSecurityGroupId")),
			validate:   validateGroupRule,
			create: func(c *call) (string, error) {
				if err := checkRule(c); err != nil {
					return "", err
				}
				c.out()["securityGroupRuleId"] = newID("sgr")
				c.out().setDefault("sourceSecurityGroupId", "")
				return fmt.Sprintf("sgrule-%d", hashed(ruleKeys(c.r)...)), nil
			},
			identifies: func(r *record, id string) bool { return id == ruleImportID(r.Inputs) },
			takes:      timing{create: time.Second, remove: time.Second},
		},
		ingressRuleType: vpcRule(vpc.NewSecurityGroupIngressRule, "VPC Security Group Ingress Rule", "Ingress"),
		egressRuleType:  vpcRule(vpc.NewSecurityGroupEgressRule, "VPC Security Group Egress Rule", "Egress"),
	}
}

// ruleOf is a rule's reference to the group that it belongs to and goes with.
func ruleOf() []reference {
	return []reference{{path: []string{"securityGroupId"}, to: securityGroupType, cascade: true, missing: missingGroup()}}
}

// ruleFrom is a rule's reference to the group that it lets in.
func ruleFrom(property string) reference {
	return reference{path: []string{property}, to: securityGroupType, missing: missingGroup()}
}

func missingGroup() refusal {
	return refusal{code: "InvalidGroup.NotFound", message: "The security group '%s' does not exist"}
}

// revokeRules takes the rules away that a group has, or others have about it,
// where the state asks for that: AWS deletes no group that a rule lets in.
// internal/service/ec2/vpc_security_group.go
func revokeRules(c *Cloud, region, id string, known props) error {
	if !known.boolean("revokeRulesOnDelete") {
		return nil
	}
	for _, r := range c.store.all() {
		if r.Region != region || !slices.Contains([]string{groupRuleType, ingressRuleType, egressRuleType}, r.Type) {
			continue
		}
		groups := []string{r.Inputs.str("securityGroupId"), r.Inputs.str("sourceSecurityGroupId"), r.Inputs.str("referencedSecurityGroupId")}
		if !slices.Contains(groups, id) {
			continue
		}
		if err := c.store.remove(r); err != nil {
			return err
		}
	}
	return nil
}

func vpcRule(constructor any, noun, direction string) *resourceType {
	return &resourceType{
		constructor: constructor,
		noun:        noun,
		api: api{
			service: "EC2", create: "AuthorizeSecurityGroup" + direction,
			update: "ModifySecurityGroupRules", remove: "RevokeSecurityGroup" + direction,
		},
		// internal/service/ec2/vpc_security_group_ingress_rule.go
		forceNew:   []string{"securityGroupId"},
		references: append(ruleOf(), ruleFrom("referencedSecurityGroupId")),
		validate: func(in props) []problem {
			return exactlyOne(in, "cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId")
		},
		create: func(c *call) (string, error) {
			if err := checkRule(c); err != nil {
				return "", err
			}
			id := newID("sgr")
			c.out()["securityGroupRuleId"], c.out()["arn"] = id, c.arn("ec2", "security-group-rule/"+id)
			return id, nil
		},
		update: checkRule,
		takes:  timing{create: time.Second, remove: time.Second},
	}
}

func validateGroup(in props) []problem {
	var problems []problem
	if name := in.str("name"); strings.HasPrefix(name, "sg-") {
		problems = append(problems, problem{"name", "invalid value for name (cannot begin with sg-)"})
	}
	if len(in.str("name")) > 255 || len(in.str("description")) > 255 {
		problems = append(problems, problem{"name", "expected length of name and description to be in the range (0 - 255)"})
	}
	return problems
}

func createGroup(c *call) (string, error) {
	name, network := c.in().str("name"), c.in().str("vpcId")
	if network == "" {
		return "", c.refusef("VPCIdNotSpecified", "No default VPC for this user")
	}
	for r := range c.others() {
		if r.Inputs.str("vpcId") == network && r.Outputs.str("name") == name {
			return "", c.refuse(refusal{code: "InvalidGroup.Duplicate", message: "The security group '%s' already exists for VPC '%s'"}, name, network)
		}
	}
	id, out := newID("sg"), c.out()
	out["arn"], out["ownerId"] = c.arn("ec2", "security-group/"+id), c.cloud.options.Account
	out.setDefault("ingress", []any{})
	out.setDefault("egress", []any{})
	return id, nil
}

// adoptGroup takes over the group that EC2 made with the VPC, and drops the
// rules that are not given.
func adoptGroup(c *call) (string, error) {
	network := c.find(vpcType, c.in().str("vpcId"))
	if network == nil {
		return "", c.refusef("InvalidVpcID.NotFound", "The vpc ID '' does not exist")
	}
	id, out := network.Outputs.str("defaultSecurityGroupId"), c.out()
	out["name"], out["description"] = "default", "default VPC security group"
	out["arn"], out["ownerId"] = c.arn("ec2", "security-group/"+id), c.cloud.options.Account
	out.setDefault("ingress", []any{})
	out.setDefault("egress", []any{})
	return id, nil
}

func validateGroupRule(in props) []problem {
	var problems []problem
	if kind := in.str("type"); kind != "" && kind != "ingress" && kind != "egress" {
		problems = append(problems, problem{"type", fmt.Sprintf("expected type to be one of [\"ingress\" \"egress\"], got %s", kind)})
	}
	sources := 0
	for _, key := range []string{"cidrBlocks", "ipv6CidrBlocks", "prefixListIds", "sourceSecurityGroupId"} {
		if in.has(key) {
			sources++
		}
	}
	if sources == 0 && !in.boolean("self") {
		problems = append(problems, problem{"cidrBlocks", "One of ['cidr_blocks', 'ipv6_cidr_blocks', 'self', 'source_security_group_id', 'prefix_list_ids'] must be set to create an AWS Security Group Rule"})
	}
	if in.has("sourceSecurityGroupId") && (in.has("cidrBlocks") || in.boolean("self")) {
		problems = append(problems, problem{"sourceSecurityGroupId", "Conflicting configuration arguments. \"sourceSecurityGroupId\": conflicts with cidrBlocks and self"})
	}
	return problems
}

// checkRule refuses bad blocks and ports, and what another rule says already.
func checkRule(c *call) error {
	in := c.in()
	for _, block := range append(in.list("cidrBlocks"), in.list("cidrIpv4")...) {
		if prefix, err := netip.ParsePrefix(block); err != nil || prefix != prefix.Masked() {
			return c.refusef("InvalidParameterValue", "CIDR block %s is malformed", block)
		}
	}
	if in.has("fromPort") && in.integer("fromPort") > in.integer("toPort") && in.integer("toPort") >= 0 {
		return c.refusef("InvalidParameterValue", "Invalid TCP port range: from port %d, to port %d", in.integer("fromPort"), in.integer("toPort"))
	}
	mine := ruleKeys(c.r)
	for _, typ := range []string{groupRuleType, ingressRuleType, egressRuleType} {
		for r := range c.cloud.each(typ, c.region) {
			if r.key() == c.r.key() {
				continue
			}
			for _, key := range ruleKeys(r) {
				if slices.Contains(mine, key) {
					return c.refuse(refusal{code: "InvalidPermission.Duplicate", message: `the specified rule "%s" already exists`}, ruleText(key))
				}
			}
		}
	}
	return nil
}

// ruleKeys says what a rule allows, one key for each peer, in the same way for
// all types of rules.
func ruleKeys(r *record) []string {
	in := r.Inputs
	direction := in.str("type")
	switch r.Type {
	case ingressRuleType:
		direction = "ingress"
	case egressRuleType:
		direction = "egress"
	}
	peers := slices.Concat(in.list("cidrBlocks"), in.list("ipv6CidrBlocks"), in.list("prefixListIds"), in.list("sourceSecurityGroupId"),
		in.list("cidrIpv4"), in.list("cidrIpv6"), in.list("prefixListId"), in.list("referencedSecurityGroupId"))
	if in.boolean("self") {
		peers = append(peers, in.str("securityGroupId"))
	}
	protocol := strings.ToLower(in.str("protocol") + in.str("ipProtocol"))
	ports := fmt.Sprintf("%d|%d", in.integer("fromPort"), in.integer("toPort"))
	if protocol == "-1" || protocol == "all" {
		protocol, ports = "all", "0|0"
	}
	var keys []string
	for _, peer := range peers {
		keys = append(keys, strings.Join([]string{in.str("securityGroupId"), direction, peer, protocol, ports}, "|"))
	}
	return keys
}

// ruleImportID is how the provider's import names a rule.
func ruleImportID(in props) string {
	protocol := in.str("protocol")
	if protocol == "-1" {
		protocol = "all"
	}
	peers := slices.Concat(in.list("cidrBlocks"), in.list("sourceSecurityGroupId"))
	if in.boolean("self") {
		peers = []string{"self"}
	}
	return fmt.Sprintf("%s_%s_%s_%d_%d_%s", in.str("securityGroupId"), in.str("type"), protocol,
		in.integer("fromPort"), in.integer("toPort"), strings.Join(peers, "_"))
}

func ruleText(key string) string {
	p := strings.Split(key, "|")
	return fmt.Sprintf("peer: %s, %s, from port: %s, to port: %s, ALLOW", p[2], strings.ToUpper(p[3]), p[4], p[5])
}
