package automation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"tombolo/automation/backend"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/stacks"
)

// recover makes a stack ready for an operation: it releases a dead process's
// lock, finds out what became of operations that were interrupted, and
// returns the state; nil when the stack does not exist. env is added to the
// environment of what that takes.
func (d *Driver) recover(ctx context.Context, c *config.Cluster, k stacks.Kind, env map[string]string) (*backend.State, error) {
	if err := d.backend.ReleaseLocks(ctx, stacks.Name(c.Name, k)); err != nil {
		return nil, err
	}
	st, err := d.backend.State(ctx, stacks.Name(c.Name, k))
	if err != nil || st == nil {
		return st, err
	}
	if len(st.Unverified()) > 0 {
		if err := d.verifyAdopted(ctx, c, k, st, env); err != nil {
			return nil, err
		}
		if st, err = d.backend.State(ctx, stacks.Name(c.Name, k)); err != nil {
			return nil, err
		}
	}
	if len(st.Deployment.PendingOperations) == 0 {
		return st, nil
	}
	if err := d.settlePending(ctx, c, k, st, 0, env); err != nil {
		return nil, err
	}
	return d.backend.State(ctx, stacks.Name(c.Name, k))
}

// noteInterrupted says before a preview what the next up will look into.
func (d *Driver) noteInterrupted(c *config.Cluster, k stacks.Kind, st *backend.State) {
	n := st.Interrupted()
	if n == 0 {
		return
	}
	d.opts.Observer.Note(stacks.Name(c.Name, k),
		count(n, "operation was", "operations were")+" interrupted: the next up finds out what became of that")
}

// settlePending finds out what became of the operations that an interrupted
// run left behind, and brings the state in line.
//
// Creations that may have happened are put into the state under the id that
// they have in that case, and a refresh of just these drops the ones that do
// not exist. `pulumi refresh --import-pending-creates` would be the CLI's own
// way, but it only relabels the operation in the state, and the engine of
// v3.250.0 then forgets it: the resource is neither read nor kept.
func (d *Driver) settlePending(ctx context.Context, c *config.Cluster, k stacks.Kind, st *backend.State, unanswered int,
	env map[string]string,
) error {
	plan := planRecovery(st, scopeOf(c), unanswered)
	if err := d.findCreations(ctx, c, &plan); err != nil {
		return err
	}
	s, err := d.open(ctx, c, k, stacks.Options{}, true)
	if err != nil {
		return err
	}
	s.setEnv(env)
	after, err := s.settle(ctx, st, &plan)
	if err != nil {
		return err
	}
	d.opts.Observer.Note(s.name, plan.report(after))
	return nil
}

// settleTimeout bounds the wait for an adopted resource that the cloud is
// still making; the slowest, an EKS control plane, takes 10 to 15 minutes.
const settleTimeout = 30 * time.Minute

// settlePoll is how often such a resource is looked at.
const settlePoll = 5 * time.Second

// refreshSettled refreshes the resources, again as long as the cloud is still
// working on one of them, and returns the state.
func (s *session) refreshSettled(ctx context.Context, urns []string) (*backend.State, error) {
	deadline := s.driver.now().Add(settleTimeout)
	tick := time.NewTicker(settlePoll)
	defer tick.Stop()
	for {
		if len(urns) > 0 {
			if err := s.refresh(ctx, urns); err != nil {
				return nil, err
			}
		}
		st, err := s.driver.backend.State(ctx, s.name)
		if err != nil {
			return nil, err
		}
		busy := unsettled(st, urns)
		if busy == "" {
			return st, nil
		}
		if s.driver.now().After(deadline) {
			return nil, &pulumicli.Error{
				Stack: s.name, Operation: "recover",
				Reasons: []string{fmt.Sprintf("%s is still being made after %s", busy, settleTimeout)},
				Remedy:  "look at it in the cloud's console and run the same command again",
			}
		}
		select {
		case <-ctx.Done():
			return nil, pulumicli.Interrupted(pulumicli.Failed{Stack: s.name, Operation: "recover"}, ctx.Err())
		case <-tick.C:
		}
	}
}

func (s *session) refresh(ctx context.Context, urns []string) error {
	_, err := s.run(ctx, "refresh", func(ctx context.Context, ch chan<- events.EngineEvent) error {
		_, err := s.stack.Refresh(ctx,
			optrefresh.Target(urns), optrefresh.EventStreams(ch), optrefresh.SuppressProgress())
		return err
	})
	return err
}

// unsettled names the first of the resources that the cloud is still making
// or deleting; empty when there is none.
func unsettled(s *backend.State, urns []string) string {
	if s == nil {
		return ""
	}
	for _, u := range urns {
		r, ok := s.Find(resource.URN(u))
		if !ok {
			continue
		}
		for _, key := range []string{"status", "state"} {
			switch status, _ := r.Outputs[key].(string); strings.ToUpper(status) {
			case "CREATING", "PENDING", "DELETING":
				return pulumicli.ResourceName(u)
			}
		}
	}
	return ""
}

// findCreations looks for the resources of the plan whose ids the cloud chose. The
// cloud may list what it has just made a little later: creations that failed a moment
// ago without an answer are looked for again before they count as not happened.
func (d *Driver) findCreations(ctx context.Context, c *config.Cluster, plan *recovery) error {
	if !plan.needsLookup() {
		return nil
	}
	for tries := 0; ; tries++ {
		found, err := d.lookup(ctx, c, plan.interfaces())
		if err != nil {
			var command *pulumicli.Error
			if errors.As(err, &command) && ctx.Err() == nil {
				command.Remedy = "allow tag:GetResources to the credentials in use, and run the same command again"
			}
			return err
		}
		plan.match(found)
		if plan.unanswered == 0 || !plan.misses() || tries == len(d.pauses) {
			return nil
		}
		if err := linger(ctx, d.pauses[tries]); err != nil {
			return pulumicli.Interrupted(pulumicli.Failed{Stack: c.Name, Operation: "look up interrupted creations of"}, err)
		}
	}
}
