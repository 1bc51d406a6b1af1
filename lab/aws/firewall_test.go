package aws

import (
	"net/netip"
	"testing"

	"gotest.tools/v3/assert"

	"tombolo/lab/aws/ec2"
)

// TestDeleteAGroupThatOthersLetIn needs the rules of others to go first, which
// the provider sees to where it is asked to.
func TestDeleteAGroupThatOthersLetIn(t *testing.T) {
	w := newNetwork(t)
	balancer := w.Make(ec2.SecurityGroupType, "balancer", props{"vpcId": w.vpc.ID})
	nodes := w.Make(ec2.SecurityGroupType, "nodes", props{"vpcId": w.vpc.ID})
	w.Make(ec2.IngressRuleType, "in", props{
		"securityGroupId": nodes.ID, "referencedSecurityGroupId": balancer.ID, "ipProtocol": "tcp", "fromPort": 80.0, "toPort": 80.0,
	})
	refuses(t, w.Delete(balancer), "api error DependencyViolation: resource "+balancer.ID+" has a dependent object")
	balancer.Out["revokeRulesOnDelete"] = true
	assert.NilError(t, w.Delete(balancer))
	if err := w.Delete(nodes); err != nil {
		t.Errorf("the rule is still there: %v", err)
	}
}

// TestAGroupOfAnotherNetwork is let in to none: the lab peers no networks.
func TestAGroupOfAnotherNetwork(t *testing.T) {
	w := newNetwork(t)
	other := w.Make(ec2.VPCType, "other", props{"cidrBlock": "10.9.0.0/16"})
	runners := w.Make(ec2.SecurityGroupType, "runners", props{"vpcId": other.ID})
	nodes := w.Make(ec2.SecurityGroupType, "nodes", props{"vpcId": w.vpc.ID})
	rule := func(id string) props {
		return props{"securityGroupId": nodes.ID, "referencedSecurityGroupId": id, "ipProtocol": "tcp", "fromPort": 443.0, "toPort": 443.0}
	}
	w.denied(ec2.IngressRuleType, rule(runners.ID), "api error InvalidGroup.NotFound: You have specified two resources that belong to different networks.")
	w.denied(ec2.IngressRuleType, rule("sg-0a1b2c3d"), "api error InvalidGroup.NotFound: The security group 'sg-0a1b2c3d' does not exist")
	w.Make(ec2.IngressRuleType, "self", rule(nodes.ID))
}

// TestAdmits: addresses are let in by the rules of their blocks, and by nothing else.
func TestAdmits(t *testing.T) {
	w := newNetwork(t)
	group := w.Make(ec2.SecurityGroupType, "cluster", props{"vpcId": w.vpc.ID})
	w.Make(ec2.IngressRuleType, "self", props{"securityGroupId": group.ID, "referencedSecurityGroupId": group.ID, "ipProtocol": "-1"})
	w.Make(ec2.IngressRuleType, "vpn", props{"securityGroupId": group.ID, "cidrIpv4": "10.8.0.0/16", "ipProtocol": "tcp", "fromPort": 443.0, "toPort": 443.0})
	w.Make(ec2.GroupRuleType, "out", props{"securityGroupId": group.ID, "type": "egress", "cidrBlocks": []any{"0.0.0.0/0"}, "protocol": "-1", "fromPort": 0.0, "toPort": 0.0})
	for _, test := range []struct {
		from string
		port int
		want bool
	}{{"10.8.0.10", 443, true}, {"10.9.0.10", 443, false}, {"10.8.0.10", 22, false}} {
		if got := ec2.Admits(w.Cloud, "eu-central-1", group.ID, netip.MustParseAddr(test.from), test.port); got != test.want {
			t.Errorf("%s at port %d: %v", test.from, test.port, got)
		}
	}
	assert.Check(t, !ec2.Admits(w.Cloud, "eu-west-1", group.ID, netip.MustParseAddr("10.8.0.10"), 443))
}
