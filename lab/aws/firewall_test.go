package aws

import (
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
