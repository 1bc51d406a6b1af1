package ec2

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/ec2"
	"github.com/pulumi/pulumi-aws/sdk/v6/go/aws/vpc"

	"tombolo/lab/aws/account"
	"tombolo/lab/standin"
)

func firewallTypes() map[string]*standin.Type {
	return map[string]*standin.Type{
		SecurityGroupType: {
			Constructor:   ec2.NewSecurityGroup,
			Noun:          "Security Group",
			LimitExceeded: standin.Refusal{Code: "SecurityGroupLimitExceeded", Message: "The maximum number of security groups has been reached."},
			API:           standin.API{Service: "EC2", Create: "CreateSecurityGroup", Update: "AuthorizeSecurityGroupIngress", Remove: "DeleteSecurityGroup"},
			// internal/service/ec2/vpc_security_group.go
			ForceNew:   []string{"description", "name", "namePrefix", "vpcId"},
			Autoname:   standin.Autoname{Property: "name", Max: 255},
			Defaults:   standin.Props{"description": "Managed by Pulumi", "revokeRulesOnDelete": false},
			References: []standin.Reference{toVpc()},
			InUse:      standin.Refusal{Code: "DependencyViolation", Message: "resource %s has a dependent object"},
			Validate:   validateGroup,
			Create:     createGroup,
			Clear:      revokeRules,
			Takes:      standin.Timing{Create: 2 * time.Second, Remove: 2 * time.Second},
		},
		DefaultGroupType: {
			Constructor: ec2.NewDefaultSecurityGroup,
			Noun:        "Default Security Group",
			Adopted:     true,
			API:         standin.API{Service: "EC2", Create: "DescribeSecurityGroups", Update: "AuthorizeSecurityGroupIngress", Remove: "DescribeSecurityGroups"},
			// internal/service/ec2/vpc_default_security_group.go
			ForceNew:   []string{"vpcId"},
			References: []standin.Reference{{Path: []string{"vpcId"}, To: VPCType, Missing: MissingVPC, Cascade: true}},
			Create:     adoptGroup,
		},
		GroupRuleType: {
			Constructor: ec2.NewSecurityGroupRule,
			Noun:        "Security Group Rule",
			API:         standin.API{Service: "EC2", Create: "AuthorizeSecurityGroupIngress", Update: "UpdateSecurityGroupRuleDescriptionsIngress", Remove: "RevokeSecurityGroupIngress"},
			// internal/service/ec2/vpc_security_group_rule.go
			ForceNew: []string{
				"cidrBlocks", "fromPort", "ipv6CidrBlocks", "prefixListIds", "protocol",
				"securityGroupId", "self", "sourceSecurityGroupId", "toPort", "type",
			},
			Defaults:   standin.Props{"self": false},
			References: append(ruleOf(), ruleFrom("sourceSecurityGroupId")),
			Validate:   validateGroupRule,
			Put:        checkRule,
			Create: func(c *standin.Call) (string, error) {
				c.Out()["securityGroupRuleId"] = account.NewID("sgr")
				c.Out().SetDefault("sourceSecurityGroupId", "")
				return fmt.Sprintf("sgrule-%d", account.Hashed(ruleKeys(c.Record)...)), nil
			},
			Identifies: func(r *standin.Record, id string) bool { return id == ruleImportID(r.Inputs) },
			Takes:      standin.Timing{Create: time.Second, Remove: time.Second},
		},
		IngressRuleType: vpcRule(vpc.NewSecurityGroupIngressRule, "VPC Security Group Ingress Rule", "Ingress"),
		EgressRuleType:  vpcRule(vpc.NewSecurityGroupEgressRule, "VPC Security Group Egress Rule", "Egress"),
	}
}

// ruleOf is a rule's reference to the group that it belongs to and goes with.
func ruleOf() []standin.Reference {
	return []standin.Reference{{Path: []string{"securityGroupId"}, To: SecurityGroupType, Cascade: true, Missing: missingGroup()}}
}

// ruleFrom is a rule's reference to the group that it lets in.
func ruleFrom(property string) standin.Reference {
	return standin.Reference{Path: []string{property}, To: SecurityGroupType, Missing: missingGroup()}
}

func missingGroup() standin.Refusal {
	return standin.Refusal{Code: "InvalidGroup.NotFound", Message: "The security group '%s' does not exist"}
}

// revokeRules takes the rules away that a group has, or others have about it,
// where the state asks for that: AWS deletes no group that a rule lets in.
// internal/service/ec2/vpc_security_group.go
func revokeRules(c *standin.Cloud, region, id string, known standin.Props) error {
	if !known.Boolean("revokeRulesOnDelete") {
		return nil
	}
	for _, r := range c.All() {
		if r.Region != region || !slices.Contains([]string{GroupRuleType, IngressRuleType, EgressRuleType}, r.Type) {
			continue
		}
		groups := []string{r.Inputs.Str("securityGroupId"), r.Inputs.Str("sourceSecurityGroupId"), r.Inputs.Str("referencedSecurityGroupId")}
		if !slices.Contains(groups, id) {
			continue
		}
		if err := c.Forget(r); err != nil {
			return err
		}
	}
	return nil
}

func vpcRule(constructor any, noun, direction string) *standin.Type {
	return &standin.Type{
		Constructor: constructor,
		Noun:        noun,
		API: standin.API{
			Service: "EC2", Create: "AuthorizeSecurityGroup" + direction,
			Update: "ModifySecurityGroupRules", Remove: "RevokeSecurityGroup" + direction,
		},
		// internal/service/ec2/vpc_security_group_ingress_rule.go
		ForceNew:   []string{"securityGroupId"},
		References: append(ruleOf(), ruleFrom("referencedSecurityGroupId")),
		Validate: func(in standin.Props) []standin.Problem {
			return standin.ExactlyOne(in, "cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId")
		},
		Put: checkRule,
		Create: func(c *standin.Call) (string, error) {
			id := account.NewID("sgr")
			c.Out()["securityGroupRuleId"], c.Out()["arn"] = id, account.ARN(c, "ec2", "security-group-rule/"+id)
			return id, nil
		},
		Takes: standin.Timing{Create: time.Second, Remove: time.Second},
	}
}

func validateGroup(in standin.Props) []standin.Problem {
	var problems []standin.Problem
	if name := in.Str("name"); strings.HasPrefix(name, "sg-") {
		problems = append(problems, standin.Problem{Path: "name", Reason: "invalid value for name (cannot begin with sg-)"})
	}
	if len(in.Str("name")) > 255 || len(in.Str("description")) > 255 {
		problems = append(problems, standin.Problem{Path: "name", Reason: "expected length of name and description to be in the range (0 - 255)"})
	}
	return problems
}

func createGroup(c *standin.Call) (string, error) {
	name, network := c.In().Str("name"), c.In().Str("vpcId")
	if network == "" {
		return "", c.Refusef("VPCIdNotSpecified", "No default VPC for this user")
	}
	for r := range c.Others() {
		if r.Inputs.Str("vpcId") == network && r.Outputs.Str("name") == name {
			return "", c.Refuse(standin.Refusal{Code: "InvalidGroup.Duplicate", Message: "The security group '%s' already exists for VPC '%s'"}, name, network)
		}
	}
	id, out := account.NewID("sg"), c.Out()
	out["arn"], out["ownerId"] = account.ARN(c, "ec2", "security-group/"+id), c.Cloud.Account
	out.SetDefaults(standin.Props{"ingress": []any{}, "egress": []any{}})
	return id, nil
}

// adoptGroup takes over the group that EC2 made with the VPC, and drops the
// rules that are not given.
func adoptGroup(c *standin.Call) (string, error) {
	network := c.Find(VPCType, c.In().Str("vpcId"))
	if network == nil {
		return "", c.Refusef("InvalidVpcID.NotFound", "The vpc ID '' does not exist")
	}
	id, out := network.Outputs.Str("defaultSecurityGroupId"), c.Out()
	out["name"], out["description"] = "default", "default VPC security group"
	out["arn"], out["ownerId"] = account.ARN(c, "ec2", "security-group/"+id), c.Cloud.Account
	out.SetDefaults(standin.Props{"ingress": []any{}, "egress": []any{}})
	return id, nil
}

func validateGroupRule(in standin.Props) []standin.Problem {
	problems := standin.OneOf(in, "type", "ingress", "egress")
	sources := 0
	for _, key := range []string{"cidrBlocks", "ipv6CidrBlocks", "prefixListIds", "sourceSecurityGroupId"} {
		if in.Has(key) {
			sources++
		}
	}
	if sources == 0 && !in.Boolean("self") {
		problems = append(problems, standin.Problem{Path: "cidrBlocks", Reason: "One of ['cidr_blocks', 'ipv6_cidr_blocks', 'self', 'source_security_group_id', 'prefix_list_ids'] must be set to create an AWS Security Group Rule"})
	}
	if in.Has("sourceSecurityGroupId") && (in.Has("cidrBlocks") || in.Boolean("self")) {
		problems = append(problems, standin.Problem{Path: "sourceSecurityGroupId", Reason: "Conflicting configuration arguments. \"sourceSecurityGroupId\": conflicts with cidrBlocks and self"})
	}
	return problems
}

// checkRule refuses bad blocks and ports, and what another rule says already.
func checkRule(c *standin.Call) error {
	in := c.In()
	for _, block := range append(in.List("cidrBlocks"), in.List("cidrIpv4")...) {
		if prefix, err := netip.ParsePrefix(block); err != nil || prefix != prefix.Masked() {
			return c.Refusef("InvalidParameterValue", "CIDR block %s is malformed", block)
		}
	}
	if in.Has("fromPort") && in.Integer("fromPort") > in.Integer("toPort") && in.Integer("toPort") >= 0 {
		return c.Refusef("InvalidParameterValue", "Invalid TCP port range: from port %d, to port %d", in.Integer("fromPort"), in.Integer("toPort"))
	}
	if err := checkPeers(c); err != nil {
		return err
	}
	mine := ruleKeys(c.Record)
	for _, typ := range []string{GroupRuleType, IngressRuleType, EgressRuleType} {
		for r := range c.Cloud.Each(typ, c.Region) {
			if r.Key() == c.Record.Key() {
				continue
			}
			for _, key := range ruleKeys(r) {
				if slices.Contains(mine, key) {
					return c.Refuse(standin.Refusal{Code: "InvalidPermission.Duplicate", Message: `the specified rule "%s" already exists`}, ruleText(key))
				}
			}
		}
	}
	return nil
}

// checkPeers refuses a group of another network, as the lab peers none:
// https://docs.aws.amazon.com/vpc/latest/peering/vpc-peering-security-groups.html. The
// message is as users have it in https://github.com/hashicorp/terraform/issues/2857.
func checkPeers(c *standin.Call) error {
	in := c.In()
	own := c.Find(SecurityGroupType, in.Str("securityGroupId"))
	for _, id := range append(in.List("sourceSecurityGroupId"), in.List("referencedSecurityGroupId")...) {
		peer := c.Find(SecurityGroupType, id)
		if own != nil && peer != nil && own.Inputs.Str("vpcId") != peer.Inputs.Str("vpcId") {
			return c.Refusef("InvalidGroup.NotFound", "You have specified two resources that belong to different networks.")
		}
	}
	return nil
}

// ruleKeys says what a rule allows, one key for each peer, in the same way for
// all types of rules.
func ruleKeys(r *standin.Record) []string {
	in := r.Inputs
	direction := in.Str("type")
	switch r.Type {
	case IngressRuleType:
		direction = "ingress"
	case EgressRuleType:
		direction = "egress"
	}
	peers := slices.Concat(in.List("cidrBlocks"), in.List("ipv6CidrBlocks"), in.List("prefixListIds"), in.List("sourceSecurityGroupId"),
		in.List("cidrIpv4"), in.List("cidrIpv6"), in.List("prefixListId"), in.List("referencedSecurityGroupId"))
	if in.Boolean("self") {
		peers = append(peers, in.Str("securityGroupId"))
	}
	protocol := strings.ToLower(in.Str("protocol") + in.Str("ipProtocol"))
	ports := fmt.Sprintf("%d|%d", in.Integer("fromPort"), in.Integer("toPort"))
	if protocol == "-1" || protocol == "all" {
		protocol, ports = "all", "0|0"
	}
	var keys []string
	for _, peer := range peers {
		keys = append(keys, strings.Join([]string{in.Str("securityGroupId"), direction, peer, protocol, ports}, "|"))
	}
	return keys
}

// ruleImportID is how the provider's import names a rule.
func ruleImportID(in standin.Props) string {
	protocol := in.Str("protocol")
	if protocol == "-1" {
		protocol = "all"
	}
	peers := slices.Concat(in.List("cidrBlocks"), in.List("sourceSecurityGroupId"))
	if in.Boolean("self") {
		peers = []string{"self"}
	}
	return fmt.Sprintf("%s_%s_%s_%d_%d_%s", in.Str("securityGroupId"), in.Str("type"), protocol,
		in.Integer("fromPort"), in.Integer("toPort"), strings.Join(peers, "_"))
}

func ruleText(key string) string {
	p := strings.Split(key, "|")
	return fmt.Sprintf("peer: %s, %s, from port: %s, to port: %s, ALLOW", p[2], strings.ToUpper(p[3]), p[4], p[5])
}

// Admits says whether a rule of a security group lets an address in at a port of TCP. Rules
// for members of groups let no address in.
func Admits(c *standin.Cloud, region, group string, from netip.Addr, port int) bool {
	for _, r := range slices.Concat(c.Snapshot(GroupRuleType), c.Snapshot(IngressRuleType)) {
		if r.Region == region && r.Inputs.Str("securityGroupId") == group && admits(r, from, port) {
			return true
		}
	}
	return false
}

func admits(r *standin.Record, from netip.Addr, port int) bool {
	in := r.Inputs
	if r.Type == GroupRuleType && in.Str("type") != "ingress" {
		return false
	}
	switch strings.ToLower(in.Str("protocol") + in.Str("ipProtocol")) {
	case "-1", "all":
	case "tcp", "6":
		if port < in.Integer("fromPort") || port > in.Integer("toPort") {
			return false
		}
	default:
		return false
	}
	return slices.ContainsFunc(append(in.List("cidrBlocks"), in.List("cidrIpv4")...), func(text string) bool {
		block, err := netip.ParsePrefix(text)
		return err == nil && block.Contains(from)
	})
}
