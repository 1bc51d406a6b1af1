package automation

import (
	"context"
	"maps"
	"reflect"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"

	"tombolo/automation/backend"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// Preview shows what Up would do. Without the outputs of core, and of its hub's,
// bootstrap runs on typed unknowns, which no Up accepts. Where core would change,
// bootstrap runs on what core's preview says that its outputs will be.
// It changes no resource, and writes nothing into the backend: a role that may only
// read the state may preview.
func (d *Driver) Preview(ctx context.Context, c *config.Cluster, o PreviewOptions) (Result, error) {
	if err := d.noteTurnedOff(ctx, c); err != nil {
		return Result{Cluster: c.Name}, err
	}
	run := d.begin(c)
	changes, st, err := d.possible(ctx, c)
	if run.result.FileChanges = changes; err != nil {
		return run.end(err)
	}
	if err := d.tellReach(ctx, c, st); err != nil {
		return run.end(err)
	}
	hasHub, err := d.hasHub(ctx, c)
	if err != nil {
		return run.end(err)
	}
	var to *planner
	if o.Plan {
		if to, err = d.newPlanner(ctx, c, o.WithoutSecrets); err != nil {
			return run.end(err)
		}
		o.secrets = to.key.Keyed()
	}
	core, had, err := d.previewAny(ctx, c, stacks.Core, o, catalog.Options{})
	if run.add(core); err != nil {
		return run.end(err)
	}
	bootstrap, has, err := d.previewAny(ctx, c, stacks.Bootstrap, o, catalog.Options{
		Predicted: predictedOutputs(had, core.rootOutputs), Placeholders: len(had) == 0 || !hasHub,
	})
	if run.add(bootstrap); err != nil || !o.Plan {
		return run.end(err)
	}
	run.result.Plan, err = to.plan(core, bootstrap, had, has)
	return run.end(err)
}

// previewAny previews a stack that exists or not, and tries that again. It returns
// the outputs that the stack has, too.
func (d *Driver) previewAny(ctx context.Context, c *config.Cluster, k stacks.Kind, o PreviewOptions, so catalog.Options,
) (r StackResult, has map[string]any, err error) {
	name := stacks.Name(c.Name, k)
	st, err := d.backend.State(ctx, name)
	if err != nil {
		return r, nil, err
	}
	d.recovery(c).NoteInterrupted(name, st)
	if st == nil && k == stacks.Bootstrap {
		if so.ToldStacks, err = d.toldStacks(ctx, c); err != nil {
			return r, nil, err
		}
	}
	if st == nil && k == stacks.Bootstrap && !so.Placeholders {
		if so, err = d.told(ctx, c, so); err != nil {
			return r, nil, err
		}
	}
	so.WithoutSecrets = o.WithoutSecrets
	r, err = d.retry(ctx, name, false, func(string) (StackResult, error) {
		if st == nil || o.WithoutSecrets {
			return d.previewAside(ctx, c, k, st, o, so)
		}
		return d.previewStack(ctx, c, k, o, so, true)
	})
	return r, st.Outputs(), err
}

// predictedOutputs are the outputs that a preview of core has told, without secrets; nil
// when they are those that core has.
func predictedOutputs(has, told map[string]any) map[string]any {
	if told == nil || reflect.DeepEqual(backend.Masked(has), any(told)) {
		return nil
	}
	return withoutSecrets(told)
}

func withoutSecrets(outputs map[string]any) map[string]any {
	out := maps.Clone(outputs)
	maps.DeleteFunc(out, func(_ string, v any) bool { return backend.HoldsSecret(v) })
	return out
}

// told gives a bootstrap that is previewed aside the outputs of core, and of the hub's,
// which it cannot ask for there.
func (d *Driver) told(ctx context.Context, c *config.Cluster, so catalog.Options) (catalog.Options, error) {
	so.Told = true
	core, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	if err != nil {
		return so, err
	}
	if so.Predicted == nil {
		so.Predicted = withoutSecrets(core.Outputs())
	}
	if c.HasHubFile() {
		hub, err := d.backend.State(ctx, stacks.Name(c.Hub(), stacks.Core))
		if err != nil {
			return so, err
		}
		so.PredictedHub = withoutSecrets(hub.Outputs())
	}
	return so, nil
}

func (d *Driver) previewStack(ctx context.Context, c *config.Cluster, k stacks.Kind,
	o PreviewOptions, so catalog.Options, exists bool,
) (StackResult, error) {
	s, err := d.open(ctx, c, k, so, exists)
	if err != nil {
		return StackResult{}, err
	}
	return s.preview(ctx, o, so)
}

func (s *session) preview(ctx context.Context, o PreviewOptions, so catalog.Options) (StackResult, error) {
	d, c := s.driver, s.cluster
	if so.Placeholders {
		what := "core has no outputs yet"
		if c.HasHubFile() {
			what = "core, or that of hub " + c.Hub() + ", has no outputs yet"
		}
		d.opts.Observer.Note(s.name, what+": what depends on them is shown as unknown")
	}
	s.command.States, s.command.ShowSecrets = o.Plan, o.secrets && !o.WithoutSecrets
	var document string
	result, err := s.run(ctx, "preview", func(ctx context.Context, ch chan<- events.EngineEvent) error {
		opts := []optpreview.Option{optpreview.EventStreams(ch), optpreview.SuppressProgress()}
		if o.Refresh && s.copied == nil {
			opts = append(opts, optpreview.Refresh())
		}
		res, err := s.stack.Preview(ctx, opts...)
		document = res.StdOut
		return err
	})
	result.Placeholders, result.told.Document = so.Placeholders, document
	if err == nil {
		err = d.refuseLoss(ctx, c, result)
	}
	return result, err
}
