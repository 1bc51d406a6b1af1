package automation

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"tombolo/automation/approval"
	"tombolo/automation/fault"
	"tombolo/automation/own"
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
	first, err := d.own().Of(c)
	if err != nil {
		return Result{Cluster: c.Name}, err
	}
	p := &previewing{run: d.newRun(c), own: first, next: map[string]map[string]any{}}
	p.options = preview.Options{Refresh: o.Refresh, WithoutSecrets: o.WithoutSecrets, States: o.Plan}
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
	// own are the own stacks of the cluster, ownSeen what their previews have found, and next the outputs that
	// these tell, by the stacks' whole names.
	own     []config.OwnStack
	ownSeen []preview.Preview
	next    map[string]map[string]any
	// told are the outputs of stacks as bootstrap will find them.
	told map[string]map[string]any
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
	steps = append(steps, p.ownSteps(config.BeforeCore)...)
	steps = append(steps, step.Step{Name: string(stacks.Core), Part: true, Do: p.previewCore})
	steps = append(steps, p.ownSteps(config.AfterCore)...)
	steps = append(steps, step.Step{Name: string(stacks.Bootstrap), Part: true, Do: p.previewBootstrap})
	steps = append(steps, p.ownSteps(config.AfterBootstrap)...)
	if o.Plan {
		steps = append(steps, step.Step{Name: "end the plan", Do: p.endPlan})
	}
	return steps
}

func (p *previewing) read(ctx context.Context) error {
	var err error
	p.snapshot, err = p.driver.takeSnapshot(ctx, p.cluster)
	p.driver.addons().NoteTurnedOff(p.cluster, p.snapshot.bootstrap)
	p.driver.noteGitIdentity(p.cluster, p.snapshot.core)
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
	o := approval.PlanOptions{WithoutSecrets: p.options.WithoutSecrets}
	for _, of := range p.own {
		o.Own = append(o.Own, inPlan(p.cluster, of))
	}
	if p.plan, err = p.driver.approver().Begin(ctx, p.cluster, o); err != nil {
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

func (p *previewing) ownSteps(at config.StackOrder) []step.Step {
	var out []step.Step
	for _, o := range own.In(p.own, at) {
		out = append(out, step.Step{Name: o.Name, Part: true, Do: func(ctx context.Context) error { return p.previewOwn(ctx, o) }})
	}
	return out
}

// previewOwn previews an own stack on the outputs that core has now. One that is not previewed is named.
func (p *previewing) previewOwn(ctx context.Context, o config.OwnStack) error {
	seen, omitted, err := p.driver.own().Preview(ctx, p.cluster, o, p.options)
	p.add(seen.Result)
	switch {
	case err != nil:
		return err
	case omitted != "" && p.plan != nil:
		return unplanned(p.cluster, o, omitted)
	case omitted != "":
		p.unseen(o, own.Omitted(p.cluster, o, omitted))
		return nil
	case o.Order != config.BeforeCore && p.core.NextOutputs() != nil:
		p.unseen(o, "own stack "+o.Stack(p.cluster.Name)+" is previewed on the outputs that core has now, and core's would change")
	}
	p.ownSeen = append(p.ownSeen, seen)
	if told := seen.Result.Events.RootOutputs; told != nil {
		p.next[o.Whole(p.cluster.Name)] = told
	}
	return nil
}

func (p *previewing) unseen(o config.OwnStack, line string) {
	p.result.Unseen = append(p.result.Unseen, line)
	p.driver.opts.Observer.Note(o.Stack(p.cluster.Name), line)
}

// unplanned refuses a plan, and an up of one, that cannot say what an own stack would become.
func unplanned(c *config.Cluster, o config.OwnStack, why string) error {
	return &fault.Error{
		What:   own.Omitted(c, o, why),
		Remedy: fmt.Sprintf("nothing was changed: a plan has all stacks of a cluster; run `tombolo up %s` without a plan, or make the plan where it can be previewed", c.Name),
	}
}

// inPlan is an own stack for a plan.
func inPlan(c *config.Cluster, o config.OwnStack) approval.Own {
	return approval.Own{Kind: own.Kind(o), Name: o.Stack(c.Name), InBackend: o.Whole(c.Name)}
}

func (p *previewing) previewBootstrap(ctx context.Context) error {
	p.bootstrapOn.Predicted = p.core.NextOutputs()
	if len(p.core.Outputs) == 0 {
		p.bootstrapOn.Placeholders = true
	}
	if len(own.In(p.own, config.BeforeCore, config.AfterCore)) > 0 {
		now, err := p.driver.connector().ReadValues(ctx, p.cluster)
		if err != nil {
			return err
		}
		if p.told = own.Told(p.cluster, p.own, now, p.next); !reflect.DeepEqual(p.told, now) {
			p.bootstrapOn.ToldStacks = p.told
		}
	}
	var err error
	p.bootstrap, err = p.driver.previewer().Stack(ctx, p.cluster, stacks.Bootstrap, p.options, p.bootstrapOn)
	p.add(p.bootstrap.Result)
	return err
}

func (p *previewing) endPlan(context.Context) error {
	var err error
	p.result.Plan, err = p.plan.End(p.core, p.bootstrap, p.ownSeen, own.Unknown(p.cluster, p.own, p.told))
	return err
}
