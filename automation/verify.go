package automation

import (
	"context"
	"fmt"

	"tombolo/automation/fault"
	"tombolo/automation/health"
	"tombolo/automation/kube"
	"tombolo/config"
	"tombolo/stacks/handoff"
)

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
	s, err := d.site(ctx, c)
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
	s, err := d.site(ctx, c)
	if err != nil {
		return health.Look{Verification: health.Verification{Cluster: c.Name}}, err
	}
	return s.Look(ctx), nil
}

// site connects to the cluster, and to its hub when it is a spoke.
func (d *Driver) site(ctx context.Context, c *config.Cluster) (health.Site, error) {
	own, values, err := d.reach(ctx, c)
	if err != nil {
		return health.Site{}, err
	}
	s := health.Site{Cluster: c, Own: own, At: own, Values: values, Observer: d.opts.Observer}
	if !c.IsSpoke() {
		return s, nil
	}
	if c.HasExternalHub() {
		at, err := d.externalHub(ctx, c)
		s.At = kube.Cluster{Client: at.Client}
		return s, err
	}
	hub, err := d.hub(c)
	if err != nil {
		return health.Site{}, err
	}
	s.At, _, err = d.reach(ctx, hub)
	return s, err
}

// reach makes clients for a cluster, by its core's outputs.
func (d *Driver) reach(ctx context.Context, c *config.Cluster) (kube.Cluster, handoff.Values, error) {
	values, err := d.Outputs(ctx, c)
	if err != nil {
		return kube.Cluster{}, values, err
	}
	k, err := d.dial(values)
	if err != nil {
		return kube.Cluster{}, values, fmt.Errorf("connect to cluster %s: %w", c.Name, err)
	}
	return k, values, nil
}
