package recovery

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"

	"tombolo/automation/backend"
	"tombolo/automation/pulumicli"
	"tombolo/internal/names"
)

// NoAnswer is how providers report a request when it is not known whether it
// worked: no answer came, or the answer was an error of the server's own.
// Azure's provider writes the status as "Status=503", or as "RESPONSE 503":
// https://github.com/Azure/azure-sdk-for-go/blob/main/sdk/internal/exported/exported.go
var NoAnswer = regexp.MustCompile(`StatusCode: (0|5\d\d)\b|\bStatus=5\d\d\b|\bRESPONSE 5\d\d\b|request send failed|timeout awaiting|i/o timeout|Client\.Timeout|` +
	`TLS handshake timeout|connection reset by peer|client connection lost|server sent GOAWAY|connection timed out|\bEOF\b|` +
	`code = Unavailable|(Get|Post|Put|Patch|Delete) "[^"]*": context deadline exceeded`)

// Unanswered are the creations among what failed that may have happened all the
// same. The engine forgets them: nothing of them is in the state.
func Unanswered(r *pulumicli.Recorder) []apitype.StepEventMetadata {
	var out []apitype.StepEventMetadata
	for _, m := range r.FailedCreations {
		if slices.ContainsFunc(r.Causes[m.URN], NoAnswer.MatchString) {
			out = append(out, m)
		}
	}
	return out
}

// withUnanswered is the state with creations as an interruption would have left
// them, and how many these are. They depend on all that is there: nothing in the
// state can depend on them, so that a destruction in any order is right, and the
// next up writes down what they really depend on. Creations with secret inputs are left
// out: the engine's events do not tell those.
func withUnanswered(s *backend.State, creations []apitype.StepEventMetadata) (*backend.State, int, error) {
	var existing []resource.URN
	for _, r := range s.Deployment.Resources {
		if external(r) && !r.Delete {
			existing = append(existing, r.URN)
		}
	}
	var resources []apitype.ResourceV3
	for _, m := range creations {
		if r, ok := created(m); ok {
			r.Dependencies = existing
			resources = append(resources, r)
		}
	}
	out, err := withPending(s, resources)
	return out, len(resources), err
}

// withPending is the state with pending creations.
func withPending(s *backend.State, resources []apitype.ResourceV3) (*backend.State, error) {
	copied := *s
	out := &copied
	pending := slices.Clone(s.Deployment.PendingOperations)
	for _, r := range resources {
		pending = append(pending, apitype.OperationV2{Resource: r, Type: apitype.OperationTypeCreating})
	}
	out.Deployment.PendingOperations = pending
	var deployment map[string]json.RawMessage
	if err := json.Unmarshal(s.Raw.Deployment, &deployment); err != nil {
		return nil, fmt.Errorf("read deployment: %w", err)
	}
	deployment["pending_operations"] = backend.Encode(pending)
	out.Raw.Deployment = backend.Encode(deployment)
	return out, nil
}

// created is the resource of a creation; false when its inputs are not known.
func created(m apitype.StepEventMetadata) (apitype.ResourceV3, bool) {
	if m.New == nil || strings.Contains(string(backend.Encode(m.New.Inputs)), names.Secret) {
		return apitype.ResourceV3{}, false
	}
	return apitype.ResourceV3{
		URN: resource.URN(m.URN), Type: tokens.Type(m.Type), Custom: m.New.Custom, Inputs: m.New.Inputs,
		Parent: resource.URN(m.New.Parent), Provider: m.New.Provider, Protect: m.New.Protect,
	}, true
}
