package operation

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"tombolo/automation/fault"
	"tombolo/automation/pulumicli"
)

func TestPasses(t *testing.T) {
	const throttled = "exceeded maximum number of attempts, 4, https response error StatusCode: 503, RequestID: x, api error RequestLimitExceeded: Request limit exceeded."
	const away = `dial tcp 127.0.0.1:6443: connect: connection refused`
	failed := &pulumicli.Error{Operation: "up"}
	for _, test := range []struct {
		name      string
		causes    []string
		err       error
		tolerance Tolerance
		want      bool
	}{
		{"throttled", []string{throttled}, failed, Usual, true},
		{"IAM throttles", []string{"https response error StatusCode: 400, RequestID: x, api error Throttling: Rate exceeded"}, failed, Usual, true},
		{"no answer", []string{"https response error StatusCode: 0, RequestID: , request send failed"}, failed, Usual, true},
		{"the API server does not answer in time", []string{`Failed to fetch OpenAPI schema from the API server: Get "https://127.0.0.1:6443/openapi/v2?timeout=32s": context deadline exceeded`}, failed, Usual, true},
		{"the wait for an object ends", []string{"the Kubernetes API server reported that the object is not ready: context deadline exceeded"}, failed, Usual, false},
		{"not found yet", []string{"waiting for EC2 VPC (vpc-1) create: couldn't find resource (21 retries)"}, failed, Usual, true},
		{"a component hung up on", []string{throttled, "grpc: the client connection is closing"}, failed, Usual, true},
		{"a new cluster's API", []string{away}, failed, RightAfterCreation, true},
		{"an old cluster's API", []string{away}, failed, Usual, false},
		{"quota", []string{"StatusCode: 400, RequestID: x, api error VpcLimitExceeded: no"}, failed, Usual, false},
		{"one of two", []string{throttled, "StatusCode: 403, RequestID: x, api error AccessDenied: no"}, failed, Usual, false},
		{"Azure slows down", []string{`Status=429 Code="TooManyRequests" Message="The request is being throttled"`}, failed, Usual, true},
		{"a subscription is throttled", []string{`Status=429 Code="SubscriptionRequestsThrottled" Message="Number of 'write' requests exceeded"`}, failed, Usual, true},
		{"Azure fails", []string{"RESPONSE 503: 503 Service Unavailable\nERROR CODE: ServiceUnavailable"}, failed, Usual, true},
		{"AKS is at work", []string{"RESPONSE 409: 409 Conflict\nERROR CODE: OperationNotAllowed\n" +
			`{"message": "Operation is not allowed: Another agentpool operation (system - Creating) is in progress, please wait"}`}, failed, Usual, true},
		{"AKS is at work, in newer words", []string{`Status=409 Code="OperationNotAllowed" Message="Operation is not allowed because there's an in progress update managed cluster operation ` +
			`(operation ID: 1) on the managed cluster started on UTC 2026-05-22T07:19:23Z. Please wait for it to finish before starting a new operation."`}, failed, Usual, true},
		{"AKS does not allow it", []string{`Status=409 Code="OperationNotAllowed" Message="The system pool cannot be deleted"`}, failed, Usual, false},
		{"a network is at work", []string{`Status=429 Code="AnotherOperationInProgress" Message="Another operation on this resource is in progress"`}, failed, Usual, true},
		{"credentials at the same time", []string{`Status=409 Code="ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity" Message="Too many"`}, failed, Usual, true},
		{"an identity that Entra does not know yet", []string{`Status=400 Code="PrincipalNotFound" Message="Principal x does not exist in the directory y"`}, failed, Usual, true},
		{"Azure's quota", []string{`Status=400 Code="QuotaExceeded" Message="exceeding approved standardDSv5Family Cores quota"`}, failed, Usual, false},
		{"nothing said", nil, failed, Usual, false},
		{"interrupted", []string{throttled}, &pulumicli.Error{Operation: "up", Err: context.Canceled}, Usual, false},
		{"the program got no answer", []string{"list namespaces: TLS handshake timeout"}, &fault.Error{What: "no"}, Usual, true},
		{"not started", nil, &fault.Error{What: "no"}, Usual, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := (StackResult{Operation: "up", Events: Events{Causes: test.causes}}).Passes(test.err, test.tolerance)
			assert.Check(t, got == test.want, "it passes: %t, want %t", got, test.want)
		})
	}
}

// TestRolesArrive: a role that the operation has assigned counts later. One that somebody else has to
// give does not come by itself.
func TestRolesArrive(t *testing.T) {
	const subnet = "/subscriptions/1/resourceGroups/demo/providers/Microsoft.Network/virtualNetworks/demo/subnets/nodes"
	const refused = `Status=403 Code="LinkedAuthorizationFailed" Message="it does not have permission on the linked scope(s) '` + subnet + `' or the linked scope(s) are invalid."`
	given := apitype.StepEventMetadata{
		Op: apitype.OpCreate, Type: "azure-native:authorization/v20220401:RoleAssignment",
		New: &apitype.StepEventStateMetadata{Inputs: map[string]any{"scope": strings.ToUpper(subnet)}},
	}
	const ofKubelet = `Status=400 Code="CustomKubeletIdentityMissingPermissionError" Message="The cluster using user-assigned managed identity must be granted 'Managed Identity Operator' role."`
	kubelet := StackResult{Operation: "up", Events: Events{Causes: []string{ofKubelet}, Granted: []string{subnet}}}
	assert.Check(t, !kubelet.Passes(&pulumicli.Error{}, Usual))
	kubelet.Events.Granted = []string{"/subscriptions/1/resourceGroups/demo/providers/Microsoft.ManagedIdentity/userAssignedIdentities/demo-kubelet"}
	assert.Check(t, kubelet.Passes(&pulumicli.Error{}, Usual))
	other := given
	other.Op = apitype.OpSame
	for want, m := range map[bool]apitype.StepEventMetadata{true: given, false: other} {
		rec := &recorded{}
		rec.step(m)
		first := StackResult{Operation: "up", Events: Events{Causes: []string{refused}, Granted: rec.granted}}
		again := StackResult{Operation: "up", Events: Events{Causes: []string{refused}}}.After(first)
		for _, r := range []StackResult{first, again} {
			assert.Check(t, is.Equal(r.Passes(&pulumicli.Error{}, Usual), want))
		}
	}
}

// TestPassingOperations: what only looks is tried again as well, and what takes
// away is not.
func TestPassingOperations(t *testing.T) {
	const lost = "http2: client connection lost"
	failed := &pulumicli.Error{}
	for operation, want := range map[string]bool{"up": true, "preview": true, "destroy": false, "": false} {
		got := (StackResult{Operation: operation, Events: Events{Causes: []string{lost}}}).Passes(failed, Usual)
		assert.Check(t, got == want, "%q passes: %t", operation, got)
	}
	refresh := &pulumicli.Error{Operation: "refresh", Causes: []string{lost}}
	assert.Check(t, (StackResult{}).Passes(refresh, Usual), "the refresh before an up does not pass")
}

func TestChangesOfTwoTries(t *testing.T) {
	first := StackResult{Duration: time.Second, Changes: Changes{"create": 3, "same": 1, "delete": 1}}
	second := StackResult{Duration: time.Second, Changes: Changes{"create": 2, "same": 4}}
	got := second.After(first)
	diff := cmp.Diff(Changes{"create": 5, "same": 1, "delete": 1}, got.Changes)
	assert.Check(t, diff == "" && got.Duration == 2*time.Second, "%s %s", got.Duration, diff)
	assert.Check(t, second.Changes["create"] == 2, "the second result was changed in place")
}
