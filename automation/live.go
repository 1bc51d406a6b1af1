package automation

import (
	"context"
	"errors"

	"tombolo/automation/backend"
	"tombolo/config"
	"tombolo/config/strict"
	"tombolo/stacks"
	"tombolo/stacks/core/live"
)

// This file compares a cluster file with what the live cluster was made from, as the
// state of its core tells. See config.Compare.

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

// possible is FileChanges, with the state of the core; its error is strict.Problems when one
// of them is refused.
func (d *Driver) possible(ctx context.Context, c *config.Cluster) (config.Changes, *backend.State, error) {
	st, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	if err != nil {
		return nil, nil, err
	}
	changes := config.Compare(d.liveIn(st, c), c)
	return changes, st, changes.Problems(c).Err()
}

// allPossible reports what is refused of all clusters together. A state that cannot be read
// is left to the cluster's own up, which mends one that is cut short.
func (d *Driver) allPossible(ctx context.Context, clusters []*config.Cluster) error {
	var all strict.Problems
	for _, c := range clusters {
		_, _, err := d.possible(ctx, c)
		var refused strict.Problems
		if errors.As(err, &refused) {
			all = append(all, refused...)
		}
	}
	return all.InOrder().Err()
}

// noteEffects says which keys do more to the cluster than to change it in place.
func (d *Driver) noteEffects(c *config.Cluster, changes config.Changes) {
	for _, change := range changes {
		if change.Effect != config.InPlace {
			d.opts.Observer.Note(stacks.Name(c.Name, stacks.Core), change.String())
		}
	}
}
