package operation

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tombolo/automation/pulumicli"
	"tombolo/automation/recovery"
	"tombolo/internal/sleep"
)

// transient are causes that go away by themselves: the cloud asks to slow down,
// fails, does not answer, does not find yet what it has just made, or works on what is
// to change. Sources of Azure's codes:
// https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling
// (status 429, whose code may be TooManyRequests, SubscriptionRequestsThrottled or a service's
// own), https://github.com/pulumi/pulumi-azure-native/issues/903
// (AnotherOperationInProgress), https://github.com/cilium/cilium/issues/25944 and
// https://github.com/Azure/azure-cli-extensions/pull/9855 (OperationNotAllowed in AKS's older and
// newer words; it is a lasting refusal for other reasons), https://github.com/pulumi/pulumi-azure-native/issues/4343
// (federated credentials), and
// https://learn.microsoft.com/azure/role-based-access-control/troubleshooting (PrincipalNotFound,
// of an identity that was made a moment ago).
var transient = regexp.MustCompile(recovery.NoAnswer.String() + `|StatusCode: 429\b|\b(?:Status=|RESPONSE )429\b|` +
	`\b(Throttling|ThrottlingException|ThrottledException|RequestLimitExceeded|TooManyRequestsException|RequestThrottled|SlowDown)\b|` +
	`couldn't find resource \(\d+ retries\)|etcdserver: (request timed out|leader changed)|server is currently unable to handle the request|` +
	`\b(TooManyRequests|AnotherOperationInProgress|ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity|PrincipalNotFound|RetryableError)\b|` +
	`(?s:\bOperationNotAllowed\b.{0,600}(?:\b[Aa]nother\b.{0,120}\boperation\b.{0,120}\bin progress|\ban in progress\b.{0,120}\boperation\b))`)

// notReached is how an API is reported that cannot be reached. It goes away by itself only
// where the API was made a moment ago.
var notReached = regexp.MustCompile(`connect: connection refused|configured Kubernetes cluster is unreachable|due to unreachable cluster`)

// Tolerance says which failures pass by themselves.
type Tolerance int

const (
	// Usual tolerates what a cloud does now and then: it throttles, or does not answer.
	Usual Tolerance = iota
	// RightAfterCreation tolerates a Kubernetes API that is not reached, too: the cluster was made in
	// the same run.
	RightAfterCreation
)

// Passes says whether all causes of a failed up or preview, or of the refresh before it, go away
// by themselves.
func (r StackResult) Passes(err error, t Tolerance) bool {
	causes := slices.DeleteFunc(causesOf(r, err), pulumicli.Followed)
	return !errors.Is(err, context.Canceled) && len(causes) > 0 && !slices.ContainsFunc(causes, func(cause string) bool {
		return !transient.MatchString(cause) && !r.Events.arrives(cause) && (t != RightAfterCreation || !notReached.MatchString(cause))
	})
}

// lacksRole is how Azure refuses what needs a role, and of what kind the scope of the role is; "" where
// the refusal names the scope. In lower case. Sources:
// https://learn.microsoft.com/azure/aks/use-managed-identity,
// https://learn.microsoft.com/troubleshoot/azure/azure-kubernetes/error-codes/customprivatednszonemissingpermissions-error
var lacksRole = map[string]string{
	"authorizationfailed":                    "",
	"customkubeletidentitymissingpermission": "/userassignedidentities/",
	"customprivatednszonemissingpermission":  "/privatednszones/",
	"customroutetablemissingpermission":      "/routetables/",
}

// arrives says that a cause is the want of a role that the operation itself has assigned: it counts
// within seconds mostly, and within ten minutes. Source:
// https://learn.microsoft.com/azure/role-based-access-control/troubleshooting
func (e Events) arrives(cause string) bool {
	cause = strings.ToLower(cause)
	for code, kind := range lacksRole {
		given := func(scope string) bool {
			scope = strings.ToLower(scope)
			return kind != "" && strings.Contains(scope, kind) || kind == "" && strings.Contains(cause, scope)
		}
		if strings.Contains(cause, code) && slices.ContainsFunc(e.Granted, given) {
			return true
		}
	}
	return false
}

// causesOf are the engine's errors in an operation that may be tried again.
func causesOf(r StackResult, err error) []string {
	if r.Operation == "up" || r.Operation == "preview" {
		return slices.Clone(r.Events.Causes)
	}
	if command := new(pulumicli.Error); errors.As(err, &command) && command.Operation == "refresh" {
		return slices.Clone(command.Causes)
	}
	return nil
}

// Retry tries something a few times more while all causes of its failure pass. try gets the
// operation that has failed before, if one has.
func (r *Runner) Retry(ctx context.Context, stack string, t Tolerance, try func(failed string) (StackResult, error)) (StackResult, error) {
	result, err := try("")
	for i, pause := range r.Pauses {
		if err == nil || !result.Passes(err, t) {
			break
		}
		r.Note(stack, fmt.Sprintf("%s; trying again in %s, %d of %d",
			pulumicli.Reason(causesOf(result, err)[0]), pause, i+1, len(r.Pauses)))
		if waited := sleep.For(ctx, pause); waited != nil {
			return result, errors.Join(err, waited)
		}
		var next StackResult
		next, err = try(result.Operation)
		result = next.After(result)
	}
	return result, err
}
