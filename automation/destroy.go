package automation

import (
	"context"
	"slices"

	"tombolo/automation/destroy"
	"tombolo/automation/own"
	"tombolo/automation/step"
	"tombolo/config"
	"tombolo/stacks"
)

// Destroy takes the cluster down: bootstrap, then core. When bootstrap could
// not be destroyed, core is kept: what is left in the cluster would otherwise
// be lost with it, and what it made in the cloud left behind. Stacks that do
// not exist are left out of the result. Own stacks go in the reverse of their places.
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
	ours := d.destroyer().Steps(c, o, r.add)
	if o.Only != "" || c.Rebuild != "" { // a part of the cluster, or one that is made again
		return r.end(step.Run(ctx, append(steps, ours...), o.Began))
	}
	first, err := d.own().Of(c)
	if err != nil {
		return r.result, err
	}
	if o.KeepData {
		steps = slices.Insert(steps, 1, step.Step{Name: "refuse what is in core's way", Do: func(ctx context.Context) error {
			return d.own().RefuseInTheWay(ctx, c, "destroy --keep-data")
		}})
	}
	core := slices.IndexFunc(ours, func(s step.Step) bool { return s.Name == string(stacks.Core) })
	steps = slices.Concat(steps, r.ownRemovals(first, o, config.AfterBootstrap), ours[:core],
		r.ownRemovals(first, o, config.AfterCore), ours[core:], r.ownRemovals(first, o, config.BeforeCore))
	return r.end(step.Run(ctx, steps, o.Began))
}

// ownRemovals destroy the own stacks of one place, in the reverse of their order. With data that is kept they stay.
func (r *run) ownRemovals(first []config.OwnStack, o DestroyOptions, at config.StackOrder) []step.Step {
	var out []step.Step
	for _, s := range slices.Backward(own.In(first, at)) {
		out = append(out, step.Step{Name: s.Name, Part: true, Do: func(ctx context.Context) error {
			if o.KeepData {
				r.driver.opts.Observer.Note(s.Stack(r.cluster.Name), "stays as it is, with its data: the program is in "+s.Program)
				return nil
			}
			result, err := r.driver.own().Destroy(ctx, r.cluster, s, own.Removal{Refresh: o.Refresh, Remove: o.Remove})
			r.add(result)
			return err
		}})
	}
	return out
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
