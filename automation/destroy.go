package automation

import (
	"context"

	"tombolo/automation/destroy"
	"tombolo/automation/step"
	"tombolo/config"
	"tombolo/stacks"
)

// Destroy takes the cluster down: bootstrap, then core. When bootstrap could
// not be destroyed, core is kept: what is left in the cluster would otherwise
// be lost with it, and what it made in the cloud left behind. Stacks that do
// not exist are left out of the result.
//
// The cluster is emptied before bootstrap. With Argo CD its applications go
// first, while its API answers, and the hub forgets it; Flux is suspended. Then
// what controllers have made cloud resources for is deleted, and they give those
// back. A hub is kept as long as spokes are registered with it.
//
// The cloud is searched for what is left over before core, and again after it:
// then nothing may be found but what is kept on purpose. What is found otherwise
// is a teardown.LeftoversError.
func (d *Driver) Destroy(ctx context.Context, c *config.Cluster, o DestroyOptions) (Result, error) {
	r := d.newRun(c)
	steps := []step.Step{
		{Name: "refuse a protected cluster", Do: func(context.Context) error { return destroy.RefuseProtected(c, o) }},
		{Name: "mend the states", Do: func(ctx context.Context) error { return d.mend(ctx, stacks.Names(c.Name)) }},
		{Name: "forget the last up", Do: func(ctx context.Context) error { return d.records().Forget(ctx, c) }},
		{Name: "begin", Do: func(context.Context) error { r.begin(); return nil }},
	}
	steps = append(steps, d.destroyer().Steps(c, o, r.add)...)
	return r.end(step.Run(ctx, steps, o.Began))
}

// Remains is what the states have of a cluster.
type Remains = destroy.Remains

// Remains tells what the states of a cluster's stacks have. It asks neither the cloud nor
// the cluster.
func (d *Driver) Remains(ctx context.Context, c *config.Cluster) (Remains, error) {
	return d.destroyer().Remains(ctx, c)
}

func (d *Driver) destroyer() destroy.Destroyer {
	return destroy.Destroyer{Backend: d.backend, Runner: d.runner(), Connector: d.connector(), Hubs: d.hubs(), Live: d.live}
}
