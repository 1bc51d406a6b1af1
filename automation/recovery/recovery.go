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
	"errors"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/backend"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/internal/sleep"
	"tombolo/internal/wording"
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
	// Import replaces its state. A failure is one of the operation "recover".
	Import(ctx context.Context, edited apitype.UntypedDeployment) error
	// Refresh compares the resources with the cloud.
	Refresh(ctx context.Context, urns []string) error
}

// Recover makes a stack ready for an operation: it releases a dead process's
// lock, finds out what became of operations that were interrupted, and
// returns the state; nil when the stack does not exist. env is added to the
// environment of what that takes.
func (r Recoverer) Recover(ctx context.Context, c *config.Cluster, k stacks.Kind, env map[string]string) (*backend.State, error) {
	stack := stacks.Name(c.Name, k)
	if err := r.Backend.ReleaseLocks(ctx, stack); err != nil {
		return nil, err
	}
	st, err := r.Backend.State(ctx, stack)
	if err != nil || st == nil {
		return st, err
	}
	if len(st.Unverified()) > 0 {
		if err := r.verifyAdopted(ctx, c, k, st, env); err != nil {
			return nil, err
		}
		if st, err = r.Backend.State(ctx, stack); err != nil {
			return nil, err
		}
	}
	if len(st.Deployment.PendingOperations) == 0 {
		return st, nil
	}
	if err := r.settlePending(ctx, c, k, st, 0, env); err != nil {
		return nil, err
	}
	return r.Backend.State(ctx, stack)
}

// NoteInterrupted says before a preview what the next up will look into.
func (r Recoverer) NoteInterrupted(stack string, st *backend.State) {
	if n := st.Interrupted(); n > 0 {
		r.Note(stack, wording.Plural(n, "operation was", "operations were")+" interrupted: the next up finds out what became of that")
	}
}

// settlePending finds out what became of the operations that an interrupted
// run left behind, and brings the state in line.
func (r Recoverer) settlePending(ctx context.Context, c *config.Cluster, k stacks.Kind, st *backend.State, unanswered int,
	env map[string]string,
) error {
	p := newPlan(r.Cloud, c, st, unanswered)
	if err := r.findCreations(ctx, c, &p); err != nil {
		return err
	}
	s, err := r.open(ctx, c, k, env)
	if err != nil {
		return err
	}
	after, err := s.settle(ctx, st, &p)
	if err != nil {
		return err
	}
	r.Note(s.name, p.report(after))
	return nil
}

// findCreations looks for the resources of the plan whose ids the cloud chose. The
// cloud may list what it has just made a little later: creations that failed a moment
// ago without an answer are looked for again before they count as not happened.
func (r Recoverer) findCreations(ctx context.Context, c *config.Cluster, p *plan) error {
	if !p.needsLookup() {
		return nil
	}
	for tries := 0; ; tries++ {
		found, err := r.Cloud.Lookup(ctx, c, p.queries())
		if err != nil {
			var command *pulumicli.Error
			if errors.As(err, &command) && ctx.Err() == nil {
				command.Remedy = "allow tag:GetResources to the credentials in use, and run the same command again"
			}
			return err
		}
		p.match(found)
		if p.unanswered == 0 || !p.misses() || tries == len(r.Pauses) {
			return nil
		}
		if err := sleep.For(ctx, r.Pauses[tries]); err != nil {
			return pulumicli.Interrupted(pulumicli.Failed{Stack: c.Name, Operation: "look up interrupted creations of"}, err)
		}
	}
}
