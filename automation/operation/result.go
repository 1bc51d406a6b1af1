package operation

import (
	"maps"
	"slices"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/approved"
	"tombolo/automation/teardown"
	"tombolo/stacks"
)

// StackResult is what an operation on one stack did.
type StackResult struct {
	// Stack is the stack's name, such as demo-core.
	Stack string `json:"stack"`
	// Kind of the stack.
	Kind stacks.Kind `json:"kind"`
	// Operation: up, preview or destroy.
	Operation string `json:"operation"`
	// Changes counts the stack's resources by what happened to them.
	Changes Changes `json:"changes"`
	// Duration of the engine's operation.
	Duration time.Duration `json:"duration"`
	// Outputs of the stack after up; secrets are shown as "[secret]".
	Outputs map[string]any `json:"outputs,omitempty"`
	// Placeholders says that a preview ran with typed unknowns in the place
	// of core's outputs.
	Placeholders bool `json:"placeholders,omitempty"`
	// Removed says that the stack itself was removed from the backend.
	Removed bool `json:"removed,omitempty"`
	// Kept are the cloud resources that a destroy left in the cloud on purpose.
	Kept []teardown.Kept `json:"kept,omitempty"`
	// Leftovers are the cloud resources that a destroy found besides and deleted, each
	// with its proof.
	Leftovers []teardown.Leftover `json:"leftovers,omitempty"`
	// Events are what the Pulumi engine has told of the operation.
	Events Events `json:"-"`
}

// Events are what the Pulumi engine has told of an operation.
type Events struct {
	// Lost are the objects that a plan would take away from under Applications.
	Lost []string
	// Causes are all errors that the engine reported.
	Causes []string
	// Unanswered are creations that failed and may have happened.
	Unanswered []apitype.StepEventMetadata
	// Granted are the scopes of the roles of Azure that the operation has assigned.
	Granted []string
	// RootOutputs are the stack's outputs as events told them, with secrets masked; nil when
	// they did not.
	RootOutputs map[string]any
	// Differs says that something did not stay, or would not.
	Differs bool
	// Unseen are the URNs of resources of which a preview did not see all inputs.
	Unseen []string
	// Preview is what a preview has told, for a plan.
	Preview approved.Preview
}

// Changes counts resources by operation, with the Pulumi engine's words:
// create, update, delete, replace, same and so on.
type Changes map[string]int

// Total is the number of resources that changed, or would change.
func (c Changes) Total() int {
	n := 0
	for op, count := range c {
		if op != "same" && op != "read" && op != "discard" { // a read that is left out changes nothing
			n += count
		}
	}
	return n
}

// After is a result of a second try together with that of the first: what the
// first changed is nothing that was the same. A preview changes nothing.
func (r StackResult) After(first StackResult) StackResult {
	r.Duration += first.Duration
	if first.Operation == "preview" {
		return r
	}
	r.Events.Granted = slices.Concat(first.Events.Granted, r.Events.Granted)
	r.Events.Differs = r.Events.Differs || first.Events.Differs
	if r.Changes == nil || first.Changes.Total() == 0 {
		return r
	}
	changes := maps.Clone(r.Changes)
	for operation, n := range first.Changes {
		if operation == "same" || operation == "read" {
			continue
		}
		changes[operation] += n
		if operation != "delete" {
			changes["same"] = max(changes["same"]-n, 0)
		}
	}
	r.Changes = changes
	return r
}
