package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/config/policy"
	"tombolo/config/strict"
)

func policyOf(t *testing.T, text string) (*policy.Policy, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	assert.NilError(t, os.WriteFile(policy.File, []byte(text), 0o600))
	return policy.Load(policy.File)
}

func TestLoadPolicy(t *testing.T) {
	got, err := policyOf(t, `version: 1
rules:
  - name: network
    match: {dangers: [cluster, network], clusters: environment=prod}
    decision: deny
    reason: it takes the cluster down
  - name: buckets
    match: {types: ["aws:s3/*"], operations: [delete]}
    decision: second-approval
`)
	assert.NilError(t, err)
	want := &policy.Policy{Version: 1, File: policy.File, Rules: []policy.PolicyRule{
		{Name: "network", Match: policy.PolicyMatch{Dangers: []string{"cluster", "network"}, Clusters: "environment=prod"}, Decision: policy.Deny, Reason: "it takes the cluster down"},
		{Name: "buckets", Match: policy.PolicyMatch{Types: []string{"aws:s3/*"}, Operations: []string{"delete"}}, Decision: policy.SecondApproval},
	}}
	assert.Check(t, is.DeepEqual(got, want))
}

// All that is wrong is reported together, each where it is.
func TestLoadBadPolicy(t *testing.T) {
	_, err := policyOf(t, `version: 2
rules:
  - name: a
    match: {danger: [any], dangers: [vpc]}
    decision: ask
  - name: a
    match: {}
    decision: deny
  - name: b
    match: {clusters: "a==b==c", types: ["["]}
`)
	var problems strict.Problems
	assert.Assert(t, errors.As(err, &problems), "error %v", err)
	for _, want := range []string{
		policy.File + ":1:10: version: ",
		policy.File + ":4:13: rules[0].match.danger: is not a known key; did you mean \"dangers\"?",
		policy.File + `:4:38: rules[0].match.dangers[0]: "vpc" is not a danger`,
		policy.File + `:5:15: rules[0].decision: "ask" is not a decision; use second-approval or deny`,
		policy.File + `:6:11: rules[1].name: "a" is already the name of a rule; give each rule its own name`,
		policy.File + `:7:5: rules[1].match: matches everything`,
		policy.File + `:10:23: rules[2].match.clusters: "a==b==c" is not a selector`,
		`:9:5: rules[2].decision: is required and missing`,
	} {
		assert.Check(t, strings.Contains(problems.Error(), want), "%q is not reported in\n%v", want, problems)
	}
}

func TestNoPolicy(t *testing.T) {
	if _, err := policy.Load(filepath.Join(t.TempDir(), policy.File)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// TestPolicyIsARegularFile: finding 9. Reading a pipe or a device may never end.
func TestPolicyIsARegularFile(t *testing.T) {
	_, err := policy.Load(os.DevNull)
	assert.ErrorContains(t, err, os.DevNull+" is not a regular file")
}
