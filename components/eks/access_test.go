package eks

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/components/recorder"
)

const (
	accessEntry       = "aws:eks/accessEntry:AccessEntry"
	policyAssociation = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
)

func TestAccessOfOthers(t *testing.T) {
	r := built(t, func(a *ClusterArgs) {
		a.Access = []Access{
			{Name: "auditors", PrincipalARN: "arn:aws:iam::111122223333:role/auditor", Policy: "AmazonEKSViewPolicy"},
			{Name: "team-a", PrincipalARN: "arn:aws:iam::111122223333:role/team-a", Policy: "AmazonEKSEditPolicy", Namespaces: []string{"team-a"}, Groups: []string{"team-a"}},
			{Name: "grouped", PrincipalARN: "arn:aws:iam::111122223333:role/grouped", Groups: []string{"x"}},
		}
	})
	named := func(token, name string) recorder.Resource {
		found, ok := r.Named(token, "demo-access-"+name)
		assert.Assert(t, ok, "%s %s", token, name)
		return found
	}
	named(accessEntry, "auditors").Expect(t, map[string]string{"principalArn": "arn:aws:iam::111122223333:role/auditor", "type": "STANDARD", "kubernetesGroups": ""})
	named(accessEntry, "team-a").Expect(t, map[string]string{"kubernetesGroups[0]": "team-a"})
	named(accessEntry, "grouped").Expect(t, map[string]string{"kubernetesGroups[0]": "x"})
	named(policyAssociation, "auditors").Expect(t, map[string]string{
		"policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy", "accessScope.type": "cluster", "accessScope.namespaces": "",
	})
	scoped := named(policyAssociation, "team-a")
	scoped.Expect(t, map[string]string{
		"policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSEditPolicy", "accessScope.type": "namespace", "accessScope.namespaces[0]": "team-a",
	})
	assert.Check(t, scoped.DeleteBeforeReplace, "the deletion of the old scope would take the new one along")
	_, ok := r.Named(policyAssociation, "demo-access-grouped")
	assert.Check(t, !ok, "groups alone came with a policy")
	r.Probed().ExpectAfter(t, "endpoint", "demo-access-auditors", "demo-access-grouped")
}

func TestAccessWithoutRights(t *testing.T) {
	a := clusterArgs()
	a.Access = []Access{{Name: "devs", PrincipalARN: "arn:x"}, {Name: "devs", PrincipalARN: "arn:y", Policy: "AmazonEKSViewPolicy"}}
	err := a.validate()
	assert.Check(t, is.ErrorContains(err, `access "devs" has neither a policy nor groups`))
	assert.Check(t, is.ErrorContains(err, `access "devs" is given twice`))
}
