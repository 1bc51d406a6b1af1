package automation

import (
	"context"
	"fmt"

	"tombolo/automation/fault"
	"tombolo/automation/handover"
	"tombolo/automation/health"
	"tombolo/config"
)

// PushOptions of a push.
type PushOptions = handover.PushOptions

// PushResult is what a push did.
type PushResult = handover.PushResult

// Push commits the engine's own manifests to the repository that the cluster follows: see handover.Handover.Push.
func (d *Driver) Push(ctx context.Context, c *config.Cluster, o PushOptions) (PushResult, error) {
	return d.handover().Push(ctx, c, o)
}

// DeployKey is the public half of the SSH key in gitops.auth: see handover.Handover.DeployKey.
func (d *Driver) DeployKey(ctx context.Context, c *config.Cluster) (string, error) {
	return d.handover().DeployKey(ctx, c)
}

// Verify asks the engine to look at the repository now, and waits until the
// hand-over has arrived and everything that the engine has for the cluster is
// ready. If that does not happen in time it returns what it found with a
// *health.Error that names the first cause.
func (d *Driver) Verify(ctx context.Context, c *config.Cluster, o health.Options) (health.Verification, error) {
	if c.HasExternalHub() && o.Revision != "" {
		return health.Verification{Cluster: c.Name}, &fault.Error{
			What:   fmt.Sprintf("verify %s: what revision hub %s is at cannot be asked: others run it", c.Name, c.Hub()),
			Remedy: "leave --revision out",
		}
	}
	s, err := d.hubs().Site(ctx, c)
	if err != nil {
		return health.Verification{Cluster: c.Name}, err
	}
	if c.HasExternalHub() {
		d.opts.Observer.Note(c.Name, fmt.Sprintf("verified are what bootstrap published and the registration; the applications on hub %s are its owners'", c.Hub()))
	}
	return s.Verify(ctx, o)
}

// Look looks once at what Verify waits for, and changes nothing. What is not
// ready is part of what was found and no error. The error says why the cluster
// could not be looked at: the backend does not answer, or core has no outputs.
func (d *Driver) Look(ctx context.Context, c *config.Cluster) (health.Look, error) {
	s, err := d.hubs().Site(ctx, c)
	if err != nil {
		return health.Look{Verification: health.Verification{Cluster: c.Name}}, err
	}
	return s.Look(ctx), nil
}
