package automation

import (
	"context"

	"tombolo/automation/backend"
	"tombolo/config"
	"tombolo/stacks"
)

// Locks returns the locks on a cluster's stacks, on one of them when only is given.
func (d *Driver) Locks(ctx context.Context, c *config.Cluster, only stacks.Kind) ([]backend.Lock, error) {
	if only != "" {
		return d.backend.Locks(ctx, stacks.Name(c.Name, only))
	}
	return d.backend.Locks(ctx, stackNames(c)...)
}

// Unlock removes a lock that Locks returned, as backend.Backend.Unlock does.
func (d *Driver) Unlock(ctx context.Context, l backend.Lock, ownerIsGone bool) error {
	return d.backend.Unlock(ctx, l, ownerIsGone)
}
