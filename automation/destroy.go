package automation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"

	"tombolo/config"
	"tombolo/stacks"
)

// DestroyOptions of a destroy.
type DestroyOptions struct {
	// Only this stack; both when empty. Core alone is refused while bootstrap
	// has resources.
	Only stacks.Kind
	// Remove the empty stacks from the backend too, with their history.
	Remove bool
	// Refresh the state from the cloud first.
	Refresh bool
	// Unreachable goes on without a Kubernetes API that does not answer: what is
	// on the cluster is given up with it. Without, a cluster with Argo CD that
	// does not answer is left as it is.
	Unreachable bool
	// Confirmed says that the cluster's name was given for its destruction. A
	// protected cluster is refused without.
	Confirmed bool
}

// Destroy takes the cluster down: bootstrap, then core. When bootstrap could
// not be destroyed, core is kept: what is left in the cluster would otherwise
// be lost with it, and what it made in the cloud left behind. Stacks that do
// not exist are left out of the result.
//
// With Argo CD the cluster's applications go first, while its API answers, and
// the hub forgets it. A hub is kept as long as spokes are registered with it.
func (d *Driver) Destroy(ctx context.Context, c *config.Cluster, o DestroyOptions) (Result, error) {
	if err := refuseProtected(c, o); err != nil {
		return Result{Cluster: c.Name}, err
	}
	kinds := stacks.Kinds()
	slices.Reverse(kinds)
	if o.Only != "" {
		kinds = []stacks.Kind{o.Only}
	}
	return d.each(c, kinds, func(k stacks.Kind) (StackResult, error) {
		if k == stacks.Core {
			if err := d.refuseWhileBootstrapped(ctx, c); err != nil {
				return StackResult{}, err
			}
		}
		var env map[string]string
		if k == stacks.Bootstrap {
			var err error
			if env, err = d.depart(ctx, c, o); err != nil {
				return StackResult{}, err
			}
		}
		result, err := d.destroyStack(ctx, c, k, o, env)
		if err != nil && k == stacks.Bootstrap && o.Only == "" {
			return result, keptCore(c, err)
		}
		return result, err
	})
}

// refuseProtected keeps a protected cluster alive as long as nobody names it.
func refuseProtected(c *config.Cluster, o DestroyOptions) error {
	if !c.Protect || o.Confirmed {
		return nil
	}
	return &PreconditionError{
		What:   fmt.Sprintf("destroy %s: it is protected by its cluster file", c.Name),
		Remedy: fmt.Sprintf("nothing was changed: give --yes-destroy %s, or take protect out of the file", c.Name),
	}
}

// keptCore says what a failed teardown of bootstrap left alone.
func keptCore(c *config.Cluster, err error) error {
	if command := new(CommandError); !errors.As(err, &command) {
		return err // nothing was started
	}
	return &DeploymentError{
		Cluster:     c.Name,
		Consequence: fmt.Sprintf("stack %s was kept", stacks.Name(c.Name, stacks.Core)),
		Err:         err,
	}
}

// refuseWhileBootstrapped keeps core alive as long as bootstrap has resources.
func (d *Driver) refuseWhileBootstrapped(ctx context.Context, c *config.Cluster) error {
	bootstrap := stacks.Name(c.Name, stacks.Bootstrap)
	st, err := d.state(ctx, bootstrap)
	if err != nil {
		return err
	}
	n := st.resources()
	if st != nil {
		n += len(st.deployment.PendingOperations)
	}
	if n == 0 {
		return nil
	}
	return &PreconditionError{
		What: fmt.Sprintf("stack %s cannot be destroyed: stack %s still has %s",
			stacks.Name(c.Name, stacks.Core), bootstrap, count(n, "resource", "resources")),
		Remedy: fmt.Sprintf("destroy both with `tombolo destroy %s`", c.Name),
	}
}

func (d *Driver) destroyStack(ctx context.Context, c *config.Cluster, k stacks.Kind, o DestroyOptions, env map[string]string) (StackResult, error) {
	st, err := d.recover(ctx, c, k, env)
	if err != nil || st == nil {
		return StackResult{}, err
	}
	s, err := d.open(ctx, c, k, stacks.Options{}, true)
	if err != nil {
		return StackResult{}, err
	}
	s.setEnv(env)
	result := StackResult{Stack: s.name, Kind: k, Operation: "destroy", Changes: Changes{}}
	if n := len(st.deployment.Resources); n > 0 {
		if err := s.unprotect(ctx, st); err != nil {
			return result, err
		}
		d.opts.Observer.StackPlanned(s.name, n)
		result, err = s.run(ctx, "destroy", func(ctx context.Context, ch chan<- events.EngineEvent) error {
			opts := []optdestroy.Option{optdestroy.EventStreams(ch), optdestroy.SuppressProgress()}
			if o.Refresh {
				opts = append(opts, optdestroy.Refresh())
			}
			_, err := s.stack.Destroy(ctx, opts...)
			return err
		})
	}
	if err != nil || !o.Remove {
		return result, err
	}
	if err := s.remove(ctx); err != nil {
		return result, err
	}
	result.Removed = true
	return result, nil
}

// unprotect has Pulumi forget the protection of resources: by here the cluster's
// name was given, or the file protects it no longer.
func (s *session) unprotect(ctx context.Context, st *state) error {
	edited, n, err := edit(st.raw, func(r map[string]json.RawMessage) bool {
		_, protected := r["protect"]
		delete(r, "protect")
		return protected
	})
	if err != nil {
		return fmt.Errorf("take the protection off stack %s: %w", s.name, err)
	}
	if n == 0 {
		return nil
	}
	if err := s.stack.Import(ctx, edited); err != nil {
		return s.driver.failure(ctx, failed{stack: s.name, operation: "take the protection off", err: err})
	}
	s.driver.opts.Observer.Note(s.name, fmt.Sprintf("the protection of %s was taken off", count(n, "resource", "resources")))
	return nil
}

// remove takes the empty stack out of the backend. Its settings file stays
// where it is the user's: secrets in it are needed when the cluster is made
// again.
func (s *session) remove(ctx context.Context) error {
	s.command.preserveConfig = true
	err := s.stack.Workspace().RemoveStack(ctx, s.name)
	if err != nil {
		return s.driver.failure(ctx, failed{stack: s.name, operation: "remove", err: err})
	}
	return nil
}
