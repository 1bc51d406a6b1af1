package automation

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/config"
	"tombolo/config/strict"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
	"tombolo/stacks/core/live"
)

// This file finds out what an operation needs to know before it begins. It changes nothing of the cluster.

// prepare finds out before anything starts what will be missing: the CLI, and
// what the programs need besides the cluster file.
func (d *Driver) prepare(ctx context.Context, c *config.Cluster) error {
	if _, err := d.pulumi.Program(ctx); err != nil {
		return err
	}
	if err := d.deps.preflight(ctx, c, catalog.Options{Env: d.opts.Env}); err != nil {
		return &fault.Error{
			What:   fmt.Sprintf("up %s: %s", c.Name, strings.ReplaceAll(err.Error(), "\n", "; ")),
			Remedy: "nothing was started: make it available and run the command again", Err: err,
		}
	}
	return d.requireValues(ctx, c)
}

// requireValues refuses an up of a cluster whose file takes values from stacks that do
// not have them, or have them as secrets: core takes a quarter of an hour in a cloud, and
// bootstrap would then refuse them.
func (d *Driver) requireValues(ctx context.Context, c *config.Cluster) error {
	outputs, err := d.connector().ReadValues(ctx, c)
	if err != nil || len(c.References()) == 0 {
		return err
	}
	err = d.opts.Programs.CheckValues(c, outputs)
	if problems := (strict.Problems)(nil); errors.As(err, &problems) {
		return &fault.Error{
			What:   fmt.Sprintf("up %s: read the values of other stacks: %s", c.Name, strings.ReplaceAll(err.Error(), "\n", "; ")),
			Remedy: "nothing was started: correct it and run the command again", Err: err,
		}
	}
	return err
}

// mend makes room for the states of stacks, and puts those together that were cut short.
func (d *Driver) mend(ctx context.Context, names []string) error {
	return errors.Join(d.backend.RequireSpace(), d.backend.Mend(ctx, names...))
}

// snapshot is what the states tell of a cluster.
type snapshot struct {
	// core and bootstrap are the states; nil of a stack that does not exist.
	core, bootstrap *backend.State
	// changes are the keys in which the cluster file differs from what the live cluster was made from, each
	// with its effect. There are none when no cluster lives.
	changes config.Changes
}

// takeSnapshot reads what is deployed. The error is strict.Problems when a change is refused.
func (d *Driver) takeSnapshot(ctx context.Context, c *config.Cluster) (snapshot, error) {
	var found snapshot
	var err error
	if found.core, err = d.backend.State(ctx, stacks.Name(c.Name, stacks.Core)); err != nil {
		return found, err
	}
	if found.bootstrap, err = d.backend.State(ctx, stacks.Name(c.Name, stacks.Bootstrap)); err != nil {
		return found, err
	}
	found.changes = config.Compare(d.liveIn(found.core, c), c)
	return found, found.changes.Problems(c).Err()
}

// FileChanges are the keys in which the file differs from what the live cluster was made
// from, each with its effect. There are none when no cluster lives.
func (d *Driver) FileChanges(ctx context.Context, c *config.Cluster) (config.Changes, error) {
	found, err := d.live(ctx, c)
	return config.Compare(found, c), err
}

// live is what the live cluster was made from, as the state of its core tells; nil when no
// cluster lives.
func (d *Driver) live(ctx context.Context, c *config.Cluster) (*config.Live, error) {
	st, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	if err != nil {
		return nil, err
	}
	return d.liveIn(st, c), nil
}

// liveIn is live by a state of the core that was read already.
func (d *Driver) liveIn(st *backend.State, c *config.Cluster) *config.Live {
	var all live.Resources
	for _, r := range st.All() {
		if !r.Delete { // else it was replaced, and only its deletion failed
			all = append(all, live.New(string(r.URN), string(r.Type), r.Outputs))
		}
	}
	return d.opts.Programs.Live(c, all)
}

// refuseImpossible reports what is refused of all clusters together. A state that cannot be read
// is left to the cluster's own up, which mends one that is cut short.
func (d *Driver) refuseImpossible(ctx context.Context, clusters []*config.Cluster) error {
	var all strict.Problems
	for _, c := range clusters {
		changes, err := d.FileChanges(ctx, c)
		if err != nil {
			continue
		}
		all = append(all, changes.Problems(c)...)
	}
	return all.InOrder().Err()
}
