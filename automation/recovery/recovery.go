// Package recovery makes a stack ready for an operation after one that did not come
// to its end: it finds out what became of operations that were interrupted, and of
// creations that got no answer, and brings the state in line.
//
// Creations that may have happened are put into the state under the id that they
// have in that case, and a refresh of just these drops the ones that do not exist.
// `pulumi refresh --import-pending-creates` would be the CLI's own way, but it only
// relabels the operation in the state, and the engine of v3.250.0 then forgets it:
// the resource is neither read nor kept.
package recovery

import (
	"context"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/backend"
	"tombolo/config"
	"tombolo/stacks"
)

// Recoverer recovers stacks. All fields are required.
type Recoverer struct {
	// Backend has the states.
	Backend Backend
	// Cloud is asked for what may have been made.
	Cloud Cloud
	// Open opens a stack that exists, with variables added to its environment.
	Open func(ctx context.Context, c *config.Cluster, k stacks.Kind, env map[string]string) (Stack, error)
	// Note says what was recovered.
	Note func(stack, message string)
	// Now is the time.
	Now func() time.Time
	// Pauses before each further look at a cloud that does not list yet what it
	// has just made.
	Pauses []time.Duration
}

// Backend has the states of stacks.
type Backend interface {
	// ReleaseLocks releases those locks of a stack whose owner is gone.
	ReleaseLocks(ctx context.Context, stack string) error
	// State of a stack; nil when it does not exist.
	State(ctx context.Context, stack string) (*backend.State, error)
}

// Stack is a stack that was opened.
type Stack interface {
	// Import replaces its state, which is still as it was read. A failure is one of
	// the operation "recover".
	Import(ctx context.Context, read *backend.State, edited apitype.UntypedDeployment) error
	// Refresh compares the resources with the cloud.
	Refresh(ctx context.Context, urns []string) error
}
