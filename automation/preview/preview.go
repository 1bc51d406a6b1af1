package preview

import (
	"context"

	"tombolo/automation/connect"
	"tombolo/automation/operation"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// Stack previews a stack that exists or not, and tries that again.
func (p Previewer) Stack(ctx context.Context, c *config.Cluster, k stacks.Kind, o Options, so catalog.Options) (Preview, error) {
	name := stacks.Name(c.Name, k)
	st, err := p.Backend.State(ctx, name)
	if err != nil {
		return Preview{}, err
	}
	p.Runner.Recovery(c).NoteInterrupted(name, st)
	if st == nil && k == stacks.Bootstrap {
		if so, err = p.withOutputs(ctx, c, so); err != nil {
			return Preview{}, err
		}
	}
	so.WithoutSecrets = o.WithoutSecrets
	r, err := p.Runner.Retry(ctx, name, operation.Usual, func(string) (operation.StackResult, error) {
		if st == nil || o.WithoutSecrets {
			return p.aside(ctx, c, k, st, o, so)
		}
		return p.there(ctx, c, k, o, so, true)
	})
	if err == nil {
		err = p.Hubs.RefuseLoss(ctx, c, r.Events.Lost)
	}
	return Preview{Result: r, Outputs: st.Outputs()}, err
}

// Once previews a stack right before its up, and creates it if it does not exist.
func (p Previewer) Once(ctx context.Context, c *config.Cluster, k stacks.Kind, o Options, exists bool) (operation.StackResult, error) {
	r, err := p.there(ctx, c, k, o, catalog.Options{}, exists)
	if err == nil {
		err = p.Hubs.RefuseLoss(ctx, c, r.Events.Lost)
	}
	return r, err
}

// there previews a stack where its state is.
func (p Previewer) there(ctx context.Context, c *config.Cluster, k stacks.Kind, o Options, so catalog.Options, exists bool) (operation.StackResult, error) {
	s, err := p.Runner.Open(ctx, c, k, so, exists)
	if err != nil {
		return operation.StackResult{}, err
	}
	return p.run(ctx, s, o, so)
}

// withOutputs gives a bootstrap that is previewed in a backend of its own the outputs of other stacks, which
// it cannot ask for there.
func (p Previewer) withOutputs(ctx context.Context, c *config.Cluster, so catalog.Options) (catalog.Options, error) {
	var err error
	if so.ToldStacks == nil {
		so.ToldStacks, err = p.Connector.ReadValues(ctx, c)
	}
	if err != nil || so.Placeholders {
		return so, err
	}
	so.Told = true
	core, err := p.Backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	if err != nil {
		return so, err
	}
	if so.Predicted == nil {
		so.Predicted = withoutSecrets(core.Outputs())
	}
	if hub := connect.SourcesOf(c).Hub; hub != "" {
		core, err := p.Backend.State(ctx, hub)
		if err != nil {
			return so, err
		}
		so.PredictedHub = withoutSecrets(core.Outputs())
	}
	return so, nil
}
