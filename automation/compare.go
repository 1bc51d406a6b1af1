package automation

import (
	"context"
	"errors"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/backend"
	"tombolo/automation/drift"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/stacks"
)

// clusterType is the resource without which nothing in bootstrap can be asked for.
const clusterType = "aws:eks/cluster:Cluster"

// Drift compares both stacks with the cloud and the cluster, and looks for
// cloud resources that carry the cluster's tag and are in neither. It only
// reads: it takes no lock, and writes neither to the cloud nor to a state.
//
// The report holds what was found, with an error too: a stack that could not be
// compared does not keep the other from being.
func (d *Driver) Drift(ctx context.Context, c *config.Cluster) (drift.Report, error) {
	start := d.now()
	report := drift.Report{Cluster: c.Name, At: start.UTC(), Differences: []drift.Difference{}}
	err := d.compare(ctx, c, &report)
	report.Seconds = d.now().Sub(start).Seconds()
	if err != nil {
		err = classify(c, err)
		report.Error = err.Error()
	}
	return report, err
}

func (d *Driver) compare(ctx context.Context, c *config.Cluster, report *drift.Report) error {
	var first error
	var known [][]apitype.ResourceV3
	for _, k := range stacks.Kinds() {
		st, err := d.compareStack(ctx, c, k, report)
		if st != nil {
			known = append(known, st.Deployment.Resources)
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			return first
		}
	}
	// What a state has cannot be told from what it lacks unless it was read.
	if first != nil {
		return first
	}
	return d.findUnexpected(ctx, c, drift.Know(known...), report)
}

// compareStack adds to the report what differs in a stack, and returns its
// state; nil when it does not exist.
func (d *Driver) compareStack(ctx context.Context, c *config.Cluster, k stacks.Kind, report *drift.Report) (st *backend.State, err error) {
	part := drift.Stack{Stack: stacks.Name(c.Name, k)}
	defer func() {
		if err != nil {
			part.Skipped = err.Error()
		}
		report.Stacks = append(report.Stacks, part)
	}()
	if st, err = d.backend.State(ctx, part.Stack); err != nil {
		return nil, err
	}
	if st.Resources() == 0 {
		part.Skipped = "it was not deployed"
		return st, nil
	}
	if part.Busy, err = d.busy(part.Stack, st); err != nil {
		return st, err
	}
	if k == stacks.Bootstrap && lacksCluster(report.Differences) {
		part.Skipped = "the cluster that it is on is gone"
		return st, nil
	}
	reader := &drift.Reader{Stack: part.Stack}
	err = d.previewRefresh(ctx, c, k, reader)
	part.Resources = reader.Compared()
	report.Add(reader.Differences()...)
	return st, err
}

// busy says why what differs in a stack may be in the making; "" when it is
// not. An owner that cannot be judged is named all the same.
func (d *Driver) busy(stack string, st *backend.State) (string, error) {
	owners, err := d.backend.Owners(stack)
	if err != nil {
		return "", err
	}
	if len(owners) > 0 {
		return fmt.Sprintf("it is locked by %s", owners[0]), nil
	}
	if n := st.Interrupted(); n > 0 {
		return count(n, "operation on it was", "operations on it were") + " interrupted", nil
	}
	return "", nil
}

// lacksCluster says whether the managed cluster itself is missing.
func lacksCluster(found []drift.Difference) bool {
	for _, f := range found {
		if f.Class == drift.Missing && f.Type == clusterType {
			return true
		}
	}
	return false
}

// previewRefresh reads every resource of a stack again. The stack exists, so
// that opening it creates none.
func (d *Driver) previewRefresh(ctx context.Context, c *config.Cluster, k stacks.Kind, reader *drift.Reader) error {
	const operation = "preview refresh"
	s, err := d.open(ctx, c, k, stacks.Options{}, true)
	if err != nil {
		return err
	}
	observer := d.opts.Observer
	observer.StackStarted(s.name, operation)
	rec := &pulumicli.Recorder{}
	err = pulumicli.Observed(func(e events.EngineEvent) {
		reader.Read(e)
		rec.Record(e)
		observer.EngineEvent(s.name, e)
	}, func(ch chan<- events.EngineEvent) error {
		_, err := s.stack.PreviewRefresh(ctx, optrefresh.EventStreams(ch), optrefresh.SuppressProgress())
		return err
	})
	if err != nil {
		err = d.pulumi.Failure(ctx, pulumicli.Failed{Stack: s.name, Operation: operation, Err: err, Record: rec})
	}
	observer.StackFinished(s.name, tally(reader), err)
	return err
}

// tally counts what was compared, in the words of drift: the engine's own are
// of what a refresh would do to the state.
func tally(r *drift.Reader) map[string]int {
	out := map[string]int{string(apitype.OpSame): r.Compared() - len(r.Differences())}
	for _, f := range r.Differences() {
		out[string(f.Class)]++
	}
	return out
}

// findUnexpected asks the cloud for everything with the cluster's tag.
func (d *Driver) findUnexpected(ctx context.Context, c *config.Cluster, known drift.Known, report *drift.Report) error {
	found, err := d.lookup(ctx, c, nil)
	if err != nil {
		var command *pulumicli.Error
		if errors.As(err, &command) && ctx.Err() == nil {
			command.Operation = "look for unexpected resources of"
			command.Remedy = "allow tag:GetResources to the credentials in use, and run the same command again"
		}
		return err
	}
	seen := make([]drift.Sighting, 0, len(found))
	for _, f := range found {
		seen = append(seen, drift.Sighting{ARN: f.ARN, Tags: f.Tags})
	}
	unexpected, left := drift.Sort(seen, known)
	report.Add(unexpected...)
	report.LeftOut = left
	return nil
}
