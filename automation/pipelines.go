package automation

import (
	"context"
	"errors"

	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// UpPipelines makes the roles of an account's pipelines what its file says, as Up does
// a cluster: with recovery before, and further tries after what goes away by itself.
func (d *Driver) UpPipelines(ctx context.Context, a *config.Account, o UpOptions) (Result, error) {
	c := a.Cluster()
	run := d.begin(c)
	if _, err := d.pulumi.Program(ctx); err != nil {
		return run.end(err)
	}
	if err := errors.Join(d.backend.RequireSpace(), d.backend.Mend(ctx, pipelinesStack(a))); err != nil {
		return run.end(err)
	}
	r, err := d.upStack(ctx, c, stacks.Pipelines, o, predictions{}, false)
	run.add(r)
	return run.end(err)
}

// PreviewPipelines shows what UpPipelines would do, and writes nothing.
func (d *Driver) PreviewPipelines(ctx context.Context, a *config.Account, o PreviewOptions) (Result, error) {
	c := a.Cluster()
	run := d.begin(c)
	r, _, err := d.previewAny(ctx, c, stacks.Pipelines, o, catalog.Options{})
	run.add(r)
	return run.end(err)
}

// DestroyPipelines deletes the roles. A stack that does not exist is left out of the
// result. Of the options, those count that are about every stack.
func (d *Driver) DestroyPipelines(ctx context.Context, a *config.Account, o DestroyOptions) (Result, error) {
	c := a.Cluster()
	run := d.begin(c)
	if err := refuseProtected(c, o); err != nil {
		return run.end(err)
	}
	if err := errors.Join(d.backend.RequireSpace(), d.backend.Mend(ctx, pipelinesStack(a))); err != nil {
		return run.end(err)
	}
	s, r, err := d.destroyStack(ctx, c, stacks.Pipelines, o, nil)
	if err == nil && s != nil {
		// No controller has made anything that could be left over.
		if err = s.forget(ctx); err == nil {
			r, err = s.removed(ctx, r, o)
		}
	}
	run.add(r)
	return run.end(err)
}

// PipelinesOutputs are the ARNs of the roles. It is a fault.Error when they were not
// made yet.
func (d *Driver) PipelinesOutputs(ctx context.Context, a *config.Account) (map[string]Output, error) {
	return d.StackOutputs(ctx, a.Cluster(), stacks.Pipelines)
}

func pipelinesStack(a *config.Account) string { return stacks.Name(a.Name, stacks.Pipelines) }
