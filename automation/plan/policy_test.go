package plan

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config"
)

// TestPolicyOfBothEnvironments: a change that gives a cluster another environment is judged by the rules
// of the one that it had, and of the one that it gets.
func TestPolicyOfBothEnvironments(t *testing.T) {
	policy := &config.Policy{File: "tombolo.policy.yaml", Rules: []config.PolicyRule{{
		Name: "production", Decision: config.SecondApproval, Match: config.PolicyMatch{Clusters: "environment=prod"},
	}}}
	labels := func(environment string) map[string]string { return map[string]string{"environment": environment} }
	for name, test := range map[string]struct {
		before, now map[string]string
		unmet       int
	}{
		"as it was":       {labels("prod"), labels("prod"), 1},
		"out of it":       {labels("prod"), labels("dev"), 1},
		"into it":         {labels("dev"), labels("prod"), 1},
		"another":         {labels("dev"), labels("test"), 0},
		"new, of another": {nil, labels("dev"), 0},
	} {
		set := Set{Clusters: []Cluster{{Name: "demo", Labels: test.now, LabelsBefore: test.before, Stacks: []Stack{{Resources: []Resource{{}}}}}}}
		assert.NilError(t, set.Judge(policy, func(string) (int, error) { return 1, nil }))
		assert.Check(t, is.Len(set.Unmet(), test.unmet), name)
	}
}
