package automation

import (
	"context"
	"slices"

	"tombolo/automation/approval"
	"tombolo/automation/preflight"
	"tombolo/automation/preview"
	"tombolo/automation/step"
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
	p := &previewing{run: d.newRun(c), options: preview.Options{Refresh: o.Refresh, WithoutSecrets: o.WithoutSecrets, States: o.Plan}}
	p.begin()
	return p.end(step.Run(ctx, p.steps(o), nil))
}

// previewing is a preview under way.
type previewing struct {
	*run
	options  preview.Options
	snapshot snapshot
	// bootstrapOn is what bootstrap is previewed on.
	bootstrapOn     catalog.Options
	core, bootstrap preview.Preview
	plan            *approval.Plan
}

func (p *previewing) steps(o PreviewOptions) []step.Step {
	steps := []step.Step{
		{Name: "read what is deployed", Do: p.read},
		{Name: "say from where the Kubernetes API is reachable", Do: p.noteReach},
		{Name: "look for the hub", Do: p.findHub},
	}
	if o.Plan {
		steps = append(steps, step.Step{Name: "begin the plan", Do: p.beginPlan})
	}
	steps = append(steps,
		step.Step{Name: string(stacks.Core), Part: true, Do: p.previewCore},
		step.Step{Name: string(stacks.Bootstrap), Part: true, Do: p.previewBootstrap},
	)
	if o.Plan {
		steps = append(steps, step.Step{Name: "end the plan", Do: p.endPlan})
	}
	return steps
}

func (p *previewing) read(ctx context.Context) error {
	var err error
	p.snapshot, err = p.driver.takeSnapshot(ctx, p.cluster)
	p.driver.addons().NoteTurnedOff(p.cluster, p.snapshot.bootstrap)
	p.result.FileChanges = p.snapshot.changes
	return err
}

func (p *previewing) noteReach(ctx context.Context) error {
	return p.driver.reach().Report(ctx, p.cluster, p.snapshot.core)
}

func (p *previewing) findHub(ctx context.Context) error {
	there, err := p.driver.hubs().HasOutputs(ctx, p.cluster)
	p.bootstrapOn.Placeholders = !there
	return err
}

func (p *previewing) beginPlan(ctx context.Context) error {
	var err error
	if p.plan, err = p.driver.approver().Begin(ctx, p.cluster, approval.PlanOptions{WithoutSecrets: p.options.WithoutSecrets}); err != nil {
		return err
	}
	p.options.ShowSecrets = p.plan.Keyed()
	return nil
}

// previewCore asks the cloud meanwhile about what the cluster file names. What is wrong with the file is
// refused; what is wrong with the account is left to doctor and up.
func (p *previewing) previewCore(ctx context.Context) error {
	ask := &asking{driver: p.driver, cluster: p.cluster}
	if p.driver.hasToAsk(p.cluster, p.snapshot.core, p.snapshot.changes) {
		ask.begin(ctx, p.snapshot.core)
	}
	var err error
	p.core, err = p.driver.previewer().Stack(ctx, p.cluster, stacks.Core, p.options, catalog.Options{})
	p.add(p.core.Result)
	ask.work.Wait()
	ask.note()
	ofFile := slices.DeleteFunc(ask.report.Of(preflight.Fail), func(f preflight.Finding) bool { return f.Key == "" })
	if refused := ask.refusal("preview", ofFile); refused != nil {
		return refused
	}
	return err
}

func (p *previewing) previewBootstrap(ctx context.Context) error {
	p.bootstrapOn.Predicted = p.core.NextOutputs()
	if len(p.core.Outputs) == 0 {
		p.bootstrapOn.Placeholders = true
	}
	var err error
	p.bootstrap, err = p.driver.previewer().Stack(ctx, p.cluster, stacks.Bootstrap, p.options, p.bootstrapOn)
	p.add(p.bootstrap.Result)
	return err
}

func (p *previewing) endPlan(context.Context) error {
	var err error
	p.result.Plan, err = p.plan.End(p.core, p.bootstrap)
	return err
}
