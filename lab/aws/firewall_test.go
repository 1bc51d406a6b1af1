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
	balancer := w.make(ec2.SecurityGroupType, "balancer", props{"vpcId": w.vpc.id})
	nodes := w.make(ec2.SecurityGroupType, "nodes", props{"vpcId": w.vpc.id})
	w.make(ec2.IngressRuleType, "in", props{
		"securityGroupId": nodes.id, "referencedSecurityGroupId": balancer.id, "ipProtocol": "tcp", "fromPort": 80.0, "toPort": 80.0,
	})
	refuses(t, w.delete(balancer), "api error DependencyViolation: resource "+balancer.id+" has a dependent object")
	balancer.out["revokeRulesOnDelete"] = true
	assert.NilError(t, w.delete(balancer))
	if err := w.delete(nodes); err != nil {
		t.Errorf("the rule is still there: %v", err)
	}
}

// TestAGroupOfAnotherNetwork is let in to none: the lab peers no networks.
func TestAGroupOfAnotherNetwork(t *testing.T) {
	w := newNetwork(t)
	other := w.make(ec2.VPCType, "other", props{"cidrBlock": "10.9.0.0/16"})
	runners := w.make(ec2.SecurityGroupType, "runners", props{"vpcId": other.id})
	nodes := w.make(ec2.SecurityGroupType, "nodes", props{"vpcId": w.vpc.id})
	rule := func(id string) props {
		return props{"securityGroupId": nodes.id, "referencedSecurityGroupId": id, "ipProtocol": "tcp", "fromPort": 443.0, "toPort": 443.0}
	}
	w.denied(ec2.IngressRuleType, rule(runners.id), "api error InvalidGroup.NotFound: You have specified two resources that belong to different networks.")
	w.denied(ec2.IngressRuleType, rule("sg-0a1b2c3d"), "api error InvalidGroup.NotFound: The security group 'sg-0a1b2c3d' does not exist")
	w.make(ec2.IngressRuleType, "self", rule(nodes.id))
}

// TestAdmits: addresses are let in by the rules of their blocks, and by nothing else.
func TestAdmits(t *testing.T) {
	w := newNetwork(t)
	group := w.make(ec2.SecurityGroupType, "cluster", props{"vpcId": w.vpc.id})
	w.make(ec2.IngressRuleType, "self", props{"securityGroupId": group.id, "referencedSecurityGroupId": group.id, "ipProtocol": "-1"})
	w.make(ec2.IngressRuleType, "vpn", props{"securityGroupId": group.id, "cidrIpv4": "10.8.0.0/16", "ipProtocol": "tcp", "fromPort": 443.0, "toPort": 443.0})
	w.make(ec2.GroupRuleType, "out", props{"securityGroupId": group.id, "type": "egress", "cidrBlocks": []any{"0.0.0.0/0"}, "protocol": "-1", "fromPort": 0.0, "toPort": 0.0})
	for _, test := range []struct {
		from string
		port int
		want bool
	}{{"10.8.0.10", 443, true}, {"10.9.0.10", 443, false}, {"10.8.0.10", 22, false}} {
		if got := ec2.Admits(w.cloud, "eu-central-1", group.id, netip.MustParseAddr(test.from), test.port); got != test.want {
			t.Errorf("%s at port %d: %v", test.from, test.port, got)
		}
	}
	assert.Check(t, !ec2.Admits(w.cloud, "eu-west-1", group.id, netip.MustParseAddr("10.8.0.10"), 443))
}
