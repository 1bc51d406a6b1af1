package automation

import (
	"context"
	"errors"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"

	"tombolo/automation/drift"
	"tombolo/automation/operation"
	"tombolo/automation/preview"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// DriftOptions of a comparison.
type DriftOptions struct {
	// WithoutSecrets decrypts nothing. What has a secret is not compared where it would have
	// to be read: Kubernetes' Secrets, and what is on a hub that is reached by a token.
	WithoutSecrets bool
}

// Drift compares both stacks with the cloud and the cluster, and changes
// nothing: see drift.Compare.
func (d *Driver) Drift(ctx context.Context, c *config.Cluster, o DriftOptions) (drift.Report, error) {
	first, err := d.own().Of(c)
	if err != nil {
		return drift.Report{}, err
	}
	for _, s := range first {
		d.opts.Observer.Note(s.Stack(c.Name), "own stack, not compared: `pulumi preview --refresh` in "+s.Program+" does")
	}
	return drift.Compare(ctx, c, d.deps.cloud(c), comparer{host{d}, o})
}

// comparer is what drift.Compare asks of a driver.
type comparer struct {
	host
	DriftOptions
}

func (h host) State(ctx context.Context, stack string) (drift.State, error) {
	st, err := h.driver.backend.State(ctx, stack)
	return drift.State{Resources: st.All(), Managed: st.Resources(), Interrupted: st.Interrupted()}, err
}

// PreviewRefresh reads every resource of a stack again. The stack exists, so
// that opening it creates none.
func (h comparer) PreviewRefresh(ctx context.Context, c *config.Cluster, k stacks.Kind, reader *drift.Reader) error {
	const operation = "preview refresh"
	s, end, err := h.open(ctx, c, k)
	if err != nil {
		return err
	}
	defer end()
	var unreadable []string
	if s.Copied != nil {
		unreadable = s.Copied.Unreadable
		preview.NoteUnreadable(s)
	}
	observer := h.driver.opts.Observer
	observer.StackStarted(s.Name, operation)
	traced := h.driver.opts.Trace.Operation(c, s.Name, operation)
	rec := &pulumicli.Recorder{}
	err = pulumicli.Observed(func(e events.EngineEvent) {
		reader.Read(e)
		rec.Record(e)
		observer.EngineEvent(s.Name, e)
		traced.Event(e)
	}, func(ch chan<- events.EngineEvent) error {
		_, err := s.Stack.PreviewRefresh(ctx, optrefresh.EventStreams(ch), optrefresh.SuppressProgress(), optrefresh.Exclude(unreadable))
		return err
	})
	if err != nil {
		err = h.driver.pulumi.Failure(ctx, pulumicli.Failed{Stack: s.Name, Operation: operation, Err: err, Record: rec})
	}
	observer.StackFinished(s.Name, reader.Tally(), err)
	traced.End(reader.Tally(), err)
	return err
}

// open opens a stack that exists, or a copy of it; end throws the copy away.
func (h comparer) open(ctx context.Context, c *config.Cluster, k stacks.Kind) (s *operation.Session, end func(), err error) {
	if !h.WithoutSecrets {
		s, err = h.driver.runner().Open(ctx, c, k, catalog.Options{}, true)
		return s, func() {}, err
	}
	st, err := h.driver.backend.State(ctx, stacks.Name(c.Name, k))
	if err != nil {
		return nil, nil, err
	}
	return h.driver.previewer().Aside(ctx, c, k, st, catalog.Options{WithoutSecrets: true})
}

func (h host) Tagged(ctx context.Context, c *config.Cluster) ([]drift.Sighting, error) {
	core, err := h.driver.backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	if err != nil || core.Owner() == "" {
		return nil, err // a cluster without an identity has nothing that could be told apart
	}
	found, err := h.driver.deps.cloud(c).Lookup(ctx, c, core.Owner(), nil)
	if command := new(pulumicli.Error); errors.As(err, &command) && ctx.Err() == nil {
		command.Operation = "look for unexpected resources of"
		command.Remedy = "allow " + h.driver.deps.cloud(c).LookupRight() + " to the credentials in use, and run the same command again"
	}
	seen := make([]drift.Sighting, 0, len(found))
	for _, f := range found {
		seen = append(seen, drift.Sighting{CloudID: f.CloudID, Tags: f.Tags})
	}
	return seen, err
}
