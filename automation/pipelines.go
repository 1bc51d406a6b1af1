package automation

import (
	"context"

	"tombolo/automation/destroy"
	"tombolo/automation/preview"
	"tombolo/automation/step"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// UpPipelines makes the roles of an account's pipelines what its file says, as Up does
// a cluster: with recovery before, and further tries after what goes away by itself.
func (d *Driver) UpPipelines(ctx context.Context, a *config.Account, o UpOptions) (Result, error) {
	c := a.Cluster()
	r := d.newRun(c)
	r.begin()
	s := &stackUp{driver: d, cluster: c, kind: stacks.Pipelines, options: o}
	return r.end(step.Run(ctx, []step.Step{
		{Name: "find the Pulumi CLI", Do: func(ctx context.Context) error { _, err := d.pulumi.Program(ctx); return err }},
		{Name: "mend the state", Do: func(ctx context.Context) error { return d.mend(ctx, []string{s.name()}) }},
		{Name: string(stacks.Pipelines), Part: true, Do: func(ctx context.Context) error {
			result, err := s.do(ctx)
			r.add(result)
			return err
		}},
	}, nil))
}

// PreviewPipelines shows what UpPipelines would do, and writes nothing.
func (d *Driver) PreviewPipelines(ctx context.Context, a *config.Account, o PreviewOptions) (Result, error) {
	r := d.newRun(a.Cluster())
	r.begin()
	seen, err := d.previewer().Stack(ctx, r.cluster, stacks.Pipelines, preview.Options{Refresh: o.Refresh, WithoutSecrets: o.WithoutSecrets, States: o.Plan}, catalog.Options{})
	r.add(seen.Result)
	return r.end(err)
}

// DestroyPipelines deletes the roles. A stack that does not exist is left out of the
// result. Only the options that are about every stack count.
func (d *Driver) DestroyPipelines(ctx context.Context, a *config.Account, o DestroyOptions) (Result, error) {
	c := a.Cluster()
	r := d.newRun(c)
	r.begin()
	return r.end(step.Run(ctx, []step.Step{
		{Name: "refuse a protected account", Do: func(context.Context) error { return destroy.RefuseProtected(c, o) }},
		{Name: "mend the state", Do: func(ctx context.Context) error { return d.mend(ctx, []string{stacks.Name(c.Name, stacks.Pipelines)}) }},
		{Name: string(stacks.Pipelines), Part: true, Do: func(ctx context.Context) error {
			result, err := d.destroyer().Pipelines(ctx, c, o)
			r.add(result)
			return err
		}},
	}, nil))
}

// PipelinesOutputs are the ARNs of the roles. It is a fault.Error when they were not
// made yet.
func (d *Driver) PipelinesOutputs(ctx context.Context, a *config.Account) (map[string]Output, error) {
	return d.StackOutputs(ctx, a.Cluster(), stacks.Pipelines)
}
