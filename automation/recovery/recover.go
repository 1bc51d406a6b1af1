package recovery

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/internal/sleep"
	"tombolo/internal/wording"
	"tombolo/stacks"
)

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
	if len(st.Deployment.PendingOperations) > 0 {
		if err := r.settlePending(ctx, c, k, st, 0, env); err != nil {
			return nil, err
		}
		if st, err = r.Backend.State(ctx, stack); err != nil {
			return nil, err
		}
	}
	return r.Protect(ctx, c, k, st)
}

// Protect puts back the protection that a destruction has taken off which did not come
// to its end, and returns the state. An import forgets what is pending: as long as
// something is, the protection waits for its recovery.
func (r Recoverer) Protect(ctx context.Context, c *config.Cluster, k stacks.Kind, st *backend.State) (*backend.State, error) {
	if !st.ListsUnprotected() || len(st.Deployment.PendingOperations) > 0 {
		return st, nil
	}
	edited, err := st.Protected()
	if err != nil {
		return nil, fmt.Errorf("protect what is left of stack %s: %w", stacks.Name(c.Name, k), err)
	}
	s, err := r.open(ctx, c, k, nil)
	if err != nil {
		return nil, err
	}
	if err := s.Import(ctx, st, edited); err != nil {
		return nil, err
	}
	if n := len(st.Unprotected()); n > 0 {
		r.Note(s.name, "recovered: "+wording.Plural(n, "resource is", "resources are")+" protected again, as the destruction did not come to its end")
	}
	return r.Backend.State(ctx, s.name)
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
	if p.owner == "" {
		return &fault.Error{
			What:   fmt.Sprintf("recover %s: a creation was interrupted, and the state has no identity by which its resources are known", c.Name),
			Remedy: "run the command that was interrupted again with the tombolo that ran it; this one gives the cluster its identity afterwards",
		}
	}
	for tries := 0; ; tries++ {
		found, err := r.Cloud.Lookup(ctx, c, p.owner, p.queries())
		if err != nil {
			var command *pulumicli.Error
			if errors.As(err, &command) && ctx.Err() == nil {
				command.Remedy = "allow " + r.Cloud.LookupRight() + " to the credentials in use, and run the same command again"
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

// verifyAdopted asks the cloud for what an earlier command has adopted without an
// answer, and says what became of it.
func (r Recoverer) verifyAdopted(ctx context.Context, c *config.Cluster, k stacks.Kind, st *backend.State, env map[string]string) error {
	urns := st.Unverified()
	s, err := r.open(ctx, c, k, env)
	if err != nil {
		return err
	}
	after, err := s.refreshSettled(ctx, urns)
	if err != nil {
		return err
	}
	if err := s.confirm(ctx, after); err != nil {
		return err
	}
	var p plan
	for _, u := range urns {
		p.others = append(p.others, resource.URN(u))
	}
	r.Note(s.name, p.report(after))
	return nil
}

// AdoptUnanswered finds out, after a failed up, whether creations without an
// answer happened, and puts what exists into the state, so that the next up
// does not make it twice. It goes the way of creations that an interruption
// left pending. A failure is a note: the up has failed for a reason of its own.
func (r Recoverer) AdoptUnanswered(ctx context.Context, c *config.Cluster, k stacks.Kind, creations []apitype.StepEventMetadata) {
	if len(creations) == 0 || ctx.Err() != nil {
		return
	}
	stack := stacks.Name(c.Name, k)
	st, err := r.Backend.State(ctx, stack)
	if err == nil && st != nil && len(st.Raw.Deployment) > 0 {
		unanswered := 0
		if st, unanswered, err = withUnanswered(st, creations); err == nil && unanswered > 0 {
			err = r.settlePending(ctx, c, k, st, unanswered, nil)
		}
	}
	if err != nil {
		made := make([]string, len(creations))
		for i, m := range creations {
			made[i] = pulumicli.ResourceName(m.URN)
		}
		r.Note(stack, fmt.Sprintf("it is not known whether %s was made: %v; look for it before the next up, which would make another",
			strings.Join(made, ", "), err))
	}
}
