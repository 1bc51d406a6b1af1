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
