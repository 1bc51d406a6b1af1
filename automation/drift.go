package automation

import (
	"context"
	"errors"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"

	"tombolo/automation/drift"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// Drift compares both stacks with the cloud and the cluster, and changes
// nothing: see drift.Compare.
func (d *Driver) Drift(ctx context.Context, c *config.Cluster) (drift.Report, error) {
	report, err := drift.Compare(ctx, c, d.cloud(c), host{d})
	return report, err
}

func (h host) State(ctx context.Context, stack string) (drift.State, error) {
	st, err := h.driver.backend.State(ctx, stack)
	return drift.State{Resources: st.All(), Managed: st.Resources(), Interrupted: st.Interrupted()}, err
}

// PreviewRefresh reads every resource of a stack again. The stack exists, so
// that opening it creates none.
func (h host) PreviewRefresh(ctx context.Context, c *config.Cluster, k stacks.Kind, reader *drift.Reader) error {
	const operation = "preview refresh"
	s, err := h.driver.open(ctx, c, k, catalog.Options{}, true)
	if err != nil {
		return err
	}
	observer := h.driver.opts.Observer
	observer.StackStarted(s.name, operation)
	traced := h.driver.opts.Trace.Operation(c, s.name, operation)
	rec := &pulumicli.Recorder{}
	err = pulumicli.Observed(func(e events.EngineEvent) {
		reader.Read(e)
		rec.Record(e)
		observer.EngineEvent(s.name, e)
		traced.Event(e)
	}, func(ch chan<- events.EngineEvent) error {
		_, err := s.stack.PreviewRefresh(ctx, optrefresh.EventStreams(ch), optrefresh.SuppressProgress())
		return err
	})
	if err != nil {
		err = h.driver.pulumi.Failure(ctx, pulumicli.Failed{Stack: s.name, Operation: operation, Err: err, Record: rec})
	}
	observer.StackFinished(s.name, reader.Tally(), err)
	traced.End(reader.Tally(), err)
	return err
}

func (h host) Tagged(ctx context.Context, c *config.Cluster) ([]drift.Sighting, error) {
	core, err := h.driver.backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	if err != nil || core.Owner() == "" {
		return nil, err // a cluster without an identity has nothing that could be told apart
	}
	found, err := h.driver.cloud(c).Lookup(ctx, c, core.Owner(), nil)
	if command := new(pulumicli.Error); errors.As(err, &command) && ctx.Err() == nil {
		command.Operation = "look for unexpected resources of"
		command.Remedy = "allow " + h.driver.cloud(c).LookupRight() + " to the credentials in use, and run the same command again"
	}
	seen := make([]drift.Sighting, 0, len(found))
	for _, f := range found {
		seen = append(seen, drift.Sighting{CloudID: f.CloudID, Tags: f.Tags})
	}
	return seen, err
}
