package apimodel

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/lab/standin"
)

// That the facts are what the models say is tested where the models are: in
// tools/awsmodels.
func TestFactsAreOfTheseCalls(t *testing.T) {
	facts := read()
	assert.Check(t, is.Equal(facts.Repository, "boto/botocore"))
	assert.Check(t, is.Equal(facts.Calls, fmt.Sprintf("sha256:%x", sha256.Sum256(callsData))), "calls.json has changed: run make aws-models")
}

func TestMappingsLeadSomewhere(t *testing.T) {
	for token := range read().types {
		c := newCheck(token)
		var sent []shape
		for _, path := range c.Sent {
			at := c.sent(path)
			assert.Check(t, is.Equal(at.Type, "structure"), "%s: nothing is at %s", token, path)
			sent = append(sent, at)
		}
		for input := range c.Names {
			if strings.Contains(input, ".") {
				continue // is found within what it is in
			}
			_, found := c.find(sent, input, input)
			assert.Check(t, found, "%s: %s leads nowhere", token, input)
		}
	}
}

func TestPatternsAreGos(t *testing.T) {
	patterns, ahead := 0, 0
	for _, s := range read().Services {
		for name, of := range s.Shapes {
			if of.Pattern == "" {
				continue
			}
			if patterns++; pattern(of.Pattern) == nil {
				ahead++
				assert.Check(t, strings.Contains(of.Pattern, "(?!"), "%s has the pattern %s", name, of.Pattern)
			}
		}
	}
	assert.Check(t, patterns > 40 && ahead < 5, "%d patterns, %d of them not checked", patterns, ahead)
}

func TestCheck(t *testing.T) {
	const nodes = "aws:eks/nodeGroup:NodeGroup"
	for want, in := range map[string]standin.Props{
		"":                                       {"scalingConfig": map[string]any{"minSize": 0.0, "maxSize": 1.0}, "labels": map[string]any{"a": "b"}, "version": standin.Unknown{}, "amiType": "AL2023_x86_64_NVIDIA"},
		"amiType: expected amiType to be one of": {"amiType": "AL3"},
		"scalingConfig.minSize: expected scalingConfig.minSize to be in the range (at least 0), got -1":                             {"scalingConfig": map[string]any{"minSize": -1.0}},
		"updateConfig.maxUnavailablePercentage: expected updateConfig.maxUnavailablePercentage to be in the range (1 - 100), got 0": {"updateConfig": map[string]any{"maxUnavailablePercentage": 0.0}},
		"taints[1].effect: expected taints[1].effect to be one of": {"taints": []any{
			map[string]any{"key": "a", "effect": "NO_EXECUTE"}, map[string]any{"key": "b", "effect": "NoExecute"},
		}},
	} {
		var got []string
		for _, p := range Check(nodes, in) {
			got = append(got, p.Path+": "+p.Reason)
		}
		if text := strings.Join(got, "\n"); want == "" && text != "" || !strings.HasPrefix(text, want) {
			t.Errorf("%v: got %q, expected %q", in, text, want)
		}
	}
	assert.DeepEqual(t, Unmapped(nodes, standin.Props{"clusterName": "demo", "size": 3.0, "tags": map[string]any{}}), []string{"size"})
}

func TestARNs(t *testing.T) {
	for arn, right := range map[string]bool{
		"arn:aws:iam::aws:policy/AmazonEKSClusterPolicy":             true,
		"arn:aws-cn:kms:cn-north-1:111122223333:key/1":               true,
		"arn:aws-us-gov:eks:us-gov-west-1:111122223333:cluster/demo": true,
		"arn:aws:s3:::bucket":                                        true,
		"demo":                                                       false,
		"arn:aws:iam::111122223333":                                  false,
		"arn:amazon:iam::111122223333:role/x":                        false,
		"arn:aws:iam::1111:role/x":                                   false,
		"arn:aws:kms:eu-central:111122223333:key/1":                  false,
		"arn:aws:kms:eu-central-1:111122223333:":                     false,
	} {
		problem := arnProblem(arn)
		assert.Check(t, (problem == "") == right, "%s: %q", arn, problem)
	}
}
