package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"tombolo/config/strict"
)

func policyOf(t *testing.T, text string) (*Policy, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile(PolicyFile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return LoadPolicy(PolicyFile)
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
	if err != nil {
		t.Fatal(err)
	}
	want := &Policy{Version: 1, File: PolicyFile, Rules: []PolicyRule{
		{Name: "network", Match: PolicyMatch{Dangers: []string{"cluster", "network"}, Clusters: "environment=prod"}, Decision: Deny, Reason: "it takes the cluster down"},
		{Name: "buckets", Match: PolicyMatch{Types: []string{"aws:s3/*"}, Operations: []string{"delete"}}, Decision: SecondApproval},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
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
	if !errors.As(err, &problems) {
		t.Fatalf("error %v", err)
	}
	for _, want := range []string{
		PolicyFile + ":1:10: version: ",
		PolicyFile + ":4:13: rules[0].match.danger: is not a known key; did you mean \"dangers\"?",
		PolicyFile + `:4:38: rules[0].match.dangers[0]: "vpc" is not a danger`,
		PolicyFile + `:5:15: rules[0].decision: "ask" is not a decision; use second-approval or deny`,
		PolicyFile + `:6:11: rules[1].name: "a" is already the name of a rule; give each rule its own name`,
		PolicyFile + `:7:5: rules[1].match: matches everything`,
		PolicyFile + `:10:23: rules[2].match.clusters: "a==b==c" is not a selector`,
		`:9:5: rules[2].decision: is required and missing`,
	} {
		if !strings.Contains(problems.Error(), want) {
			t.Errorf("%q is not reported in\n%v", want, problems)
		}
	}
}

func TestNoPolicy(t *testing.T) {
	if _, err := LoadPolicy(filepath.Join(t.TempDir(), PolicyFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// TestPolicyIsARegularFile: finding 9. Reading a pipe or a device may never end.
func TestPolicyIsARegularFile(t *testing.T) {
	_, err := LoadPolicy(os.DevNull)
	assert.ErrorContains(t, err, os.DevNull+" is not a regular file")
}
