package automation

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"

	"tombolo/automation/fault"
	"tombolo/automation/pulumicli"
)

func TestRepeatable(t *testing.T) {
	const throttled = "exceeded maximum number of attempts, 4, https response error StatusCode: 503, RequestID: x, api error RequestLimitExceeded: Request limit exceeded."
	const away = `dial tcp 127.0.0.1:6443: connect: connection refused`
	failed := &pulumicli.Error{Operation: "up"}
	for _, test := range []struct {
		name   string
		causes []string
		err    error
		young  bool
		want   bool
	}{
		{"throttled", []string{throttled}, failed, false, true},
		{"IAM throttles", []string{"https response error StatusCode: 400, RequestID: x, api error Throttling: Rate exceeded"}, failed, false, true},
		{"no answer", []string{"https response error StatusCode: 0, RequestID: , request send failed"}, failed, false, true},
		{"the API server does not answer in time", []string{`Failed to fetch OpenAPI schema from the API server: Get "https://127.0.0.1:6443/openapi/v2?timeout=32s": context deadline exceeded`}, failed, false, true},
		{"the wait for an object ends", []string{"the Kubernetes API server reported that the object is not ready: context deadline exceeded"}, failed, false, false},
		{"not found yet", []string{"waiting for EC2 VPC (vpc-1) create: couldn't find resource (21 retries)"}, failed, false, true},
		{"a component hung up on", []string{throttled, "grpc: the client connection is closing"}, failed, false, true},
		{"a new cluster's API", []string{away}, failed, true, true},
		{"an old cluster's API", []string{away}, failed, false, false},
		{"quota", []string{"StatusCode: 400, RequestID: x, api error VpcLimitExceeded: no"}, failed, false, false},
		{"one of two", []string{throttled, "StatusCode: 403, RequestID: x, api error AccessDenied: no"}, failed, false, false},
		{"Azure slows down", []string{`Status=429 Code="TooManyRequests" Message="The request is being throttled"`}, failed, false, true},
		{"a subscription is throttled", []string{`Status=429 Code="SubscriptionRequestsThrottled" Message="Number of 'write' requests exceeded"`}, failed, false, true},
		{"Azure fails", []string{"RESPONSE 503: 503 Service Unavailable\nERROR CODE: ServiceUnavailable"}, failed, false, true},
		{"AKS is at work", []string{"RESPONSE 409: 409 Conflict\nERROR CODE: OperationNotAllowed\n" +
			`{"message": "Operation is not allowed: Another agentpool operation (system - Creating) is in progress, please wait"}`}, failed, false, true},
		{"AKS is at work, in newer words", []string{`Status=409 Code="OperationNotAllowed" Message="Operation is not allowed because there's an in progress update managed cluster operation ` +
			`(operation ID: 1) on the managed cluster started on UTC 2026-05-22T07:19:23Z. Please wait for it to finish before starting a new operation."`}, failed, false, true},
		{"AKS does not allow it", []string{`Status=409 Code="OperationNotAllowed" Message="The system pool cannot be deleted"`}, failed, false, false},
		{"a network is at work", []string{`Status=429 Code="AnotherOperationInProgress" Message="Another operation on this resource is in progress"`}, failed, false, true},
		{"credentials at the same time", []string{`Status=409 Code="ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity" Message="Too many"`}, failed, false, true},
		{"an identity that Entra does not know yet", []string{`Status=400 Code="PrincipalNotFound" Message="Principal x does not exist in the directory y"`}, failed, false, true},
		{"Azure's quota", []string{`Status=400 Code="QuotaExceeded" Message="exceeding approved standardDSv5Family Cores quota"`}, failed, false, false},
		{"nothing said", nil, failed, false, false},
		{"interrupted", []string{throttled}, &pulumicli.Error{Operation: "up", Err: context.Canceled}, false, false},
		{"the program got no answer", []string{"list namespaces: TLS handshake timeout"}, &fault.Error{What: "no"}, false, true},
		{"not started", nil, &fault.Error{What: "no"}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := repeatable(StackResult{Operation: "up", causes: test.causes}, test.err, test.young); got != test.want {
				t.Errorf("repeatable is %t, want %t", got, test.want)
			}
		})
	}
}

func TestUpTriesAgain(t *testing.T) {
	b := newBench(t)
	b.pauses = []time.Duration{time.Millisecond, time.Millisecond}
	b.cli.fail["up demo-core"] = failure{once: true, diagnostics: []apitype.DiagnosticEvent{{
		URN: "urn:pulumi:s::tombolo::aws:ec2/vpc:Vpc::v", Severity: "error", Message: "api error RequestLimitExceeded: Request limit exceeded.",
	}}}
	result, err := b.Up(t.Context(), demo(), UpOptions{})
	if err != nil || len(result.Stacks) != 2 || result.Stacks[0].Changes.Total() != 2 {
		t.Errorf("result %+v, error %v", result, err)
	}
	want := []string{"note demo-core: aws:ec2/vpc:Vpc v: api error RequestLimitExceeded: Request limit exceeded.; trying again in 1ms, 1 of 2"}
	assert.DeepEqual(t, b.seen.notes(), want)
}

// TestRepeatableOperations: what only looks is tried again as well, and what takes
// away is not.
func TestRepeatableOperations(t *testing.T) {
	const lost = "http2: client connection lost"
	failed := &pulumicli.Error{}
	for operation, want := range map[string]bool{"up": true, "preview": true, "destroy": false, "": false} {
		if got := repeatable(StackResult{Operation: operation, causes: []string{lost}}, failed, false); got != want {
			t.Errorf("%q is repeatable: %t", operation, got)
		}
	}
	refresh := &pulumicli.Error{Operation: "refresh", Causes: []string{lost}}
	if !repeatable(StackResult{}, refresh, false) {
		t.Error("the refresh before an up is not repeatable")
	}
}

func TestUpGivesUp(t *testing.T) {
	b := newBench(t)
	b.pauses = []time.Duration{time.Millisecond, time.Millisecond}
	b.cli.fail["up demo-core"] = failure{diagnostics: []apitype.DiagnosticEvent{{
		URN: "urn:pulumi:s::tombolo::aws:ec2/vpc:Vpc::v", Severity: "error", Message: "api error RequestLimitExceeded: Request limit exceeded.",
	}}}
	_, err := b.Up(t.Context(), demo(), UpOptions{})
	want := "up demo-core: aws:ec2/vpc:Vpc v: api error RequestLimitExceeded: Request limit exceeded.; " + throttledRemedy
	assert.Error(t, err, want)
	assert.DeepEqual(t, b.cli.operations(), []string{"up demo-core", "up demo-core", "up demo-core"})
}

func TestChangesOfTwoTries(t *testing.T) {
	first := StackResult{Duration: time.Second, Changes: Changes{"create": 3, "same": 1, "delete": 1}}
	second := StackResult{Duration: time.Second, Changes: Changes{"create": 2, "same": 4}}
	got := second.after(first)
	if diff := cmp.Diff(Changes{"create": 5, "same": 1, "delete": 1}, got.Changes); diff != "" || got.Duration != 2*time.Second {
		t.Errorf("%s %s", got.Duration, diff)
	}
	if second.Changes["create"] != 2 {
		t.Error("the second result was changed in place")
	}
}
