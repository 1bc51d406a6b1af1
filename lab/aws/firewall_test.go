package aws

import "testing"

// TestDeleteAGroupThatOthersLetIn needs the rules of others to go first, which
// the provider sees to where it is asked to.
func TestDeleteAGroupThatOthersLetIn(t *testing.T) {
	w := newNetwork(t)
	balancer := w.make(securityGroupType, "balancer", props{"vpcId": w.vpc.id})
	nodes := w.make(securityGroupType, "nodes", props{"vpcId": w.vpc.id})
	w.make(ingressRuleType, "in", props{
		"securityGroupId": nodes.id, "referencedSecurityGroupId": balancer.id, "ipProtocol": "tcp", "fromPort": 80.0, "toPort": 80.0,
	})
	refuses(t, w.delete(balancer), "api error DependencyViolation: resource "+balancer.id+" has a dependent object")
	balancer.out["revokeRulesOnDelete"] = true
	if err := w.delete(balancer); err != nil {
		t.Fatal(err)
	}
	if err := w.delete(nodes); err != nil {
		t.Errorf("the rule is still there: %v", err)
	}
}
