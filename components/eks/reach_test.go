package eks

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

const ingressRule = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"

// TestPrivateAccess: each block and each group is let in by a rule of its own, at the port
// of the API, and the cluster counts as complete when they are there.
func TestPrivateAccess(t *testing.T) {
	r := built(t, func(a *ClusterArgs) {
		a.PrivateCIDRs, a.PrivateGroups = []string{"10.8.0.0/16", "10.9.0.0/16"}, []string{"sg-0a1b2c3d"}
	})
	assert.Assert(t, is.Len(r.OfType(ingressRule), 3))
	for name, want := range map[string]map[string]string{
		"demo-api-from-10.8.0.0-16": {"cidrIpv4": "10.8.0.0/16", "description": "Kubernetes API from 10.8.0.0/16"},
		"demo-api-from-10.9.0.0-16": {"cidrIpv4": "10.9.0.0/16"},
		"demo-api-from-sg-0a1b2c3d": {"referencedSecurityGroupId": "sg-0a1b2c3d"},
	} {
		rule, ok := r.Named(ingressRule, name)
		assert.Assert(t, ok, "there is no %s", name)
		want["securityGroupId"], want["ipProtocol"], want["fromPort"], want["toPort"] = "sg-1", "tcp", "443", "443"
		rule.Expect(t, want)
		r.Probed().ExpectAfter(t, "endpoint", name)
	}
	assert.Check(t, is.Len(built(t, nil).OfType(ingressRule), 0))
}

func TestPrivateAccessNeedsThePrivateEndpoint(t *testing.T) {
	args := clusterArgs()
	args.PrivateEndpoint, args.PrivateCIDRs = false, []string{"10.8.0.0/16"}
	_, err := run(t, args)
	assert.ErrorContains(t, err, "there is no private endpoint for those that are let in to it")
}
