package lastup

import (
	"context"
	"fmt"
	"time"

	"tombolo/automation/backend"
	"tombolo/automation/operation"
	"tombolo/automation/unchanged"
	"tombolo/config"
	"tombolo/stacks"
)

// Record is an up under way that is to be recorded.
type Record struct {
	records Records
	cluster *config.Cluster
	// inputs as they were before the up; nil when they cannot be proved, or the up is not recorded.
	inputs *inputs
	// states as the up has left them, by the stacks' names.
	states map[string]string
	// first says that no up of the cluster has ended well before.
	first bool
}

// Begin forgets the record of the last up, and takes the inputs of this one, as they were compared
// or else as they are now. bootstrap is the state before the up.
func (r Records) Begin(ctx context.Context, c *config.Cluster, bootstrap *backend.State, d Diff) (*Record, error) {
	record := &Record{records: r, cluster: c, states: map[string]string{}, first: len(bootstrap.Outputs()) == 0}
	if record.inputs = d.inputs; record.inputs == nil {
		record.inputs, _ = r.inputs(c) // an up whose inputs cannot be proved is not recorded
	}
	if record.first {
		return record, nil
	}
	return record, r.Forget(ctx, c)
}

// MadeAtOnce notes whether bootstrap made all it has in one run. A first up in which it did not, and one that
// takes an engine over, is not recorded: the next one hands the engine's objects over, so it has something to do with
// the same inputs.
func (r *Record) MadeAtOnce(atOnce bool) {
	if r.first && (!atOnce || r.cluster.GitOps.TakeOver) {
		r.inputs = nil
	}
}

// Forget takes away the record of the last up, before an operation changes anything that no
// state tells of, such as what a hub or a GitOps engine has: whatever becomes of the operation,
// the next up looks at the cluster.
func (r Records) Forget(ctx context.Context, c *config.Cluster) error {
	stack := stacks.Name(c.Name, stacks.Bootstrap)
	text, err := r.Backend.Tag(ctx, stack, unchanged.Tag)
	if err != nil || text == "" {
		return nil //nolint:nilerr // what cannot be read is no record, and of a stack that is not there there is none
	}
	return r.Backend.SetTag(ctx, stack, unchanged.Tag, "")
}

// Made notes the state that an up has left, right after it.
func (r *Record) Made(ctx context.Context, s operation.StackResult) {
	if r.inputs == nil {
		return
	}
	st, err := r.records.Backend.State(ctx, s.Stack)
	if err != nil {
		return // without its state the up is not recorded
	}
	r.states[s.Stack] = StateDigest(st)
}

// Left notes the state of a stack that was left alone: that which was read before it was previewed,
// as another one may have been written meanwhile.
func (r *Record) Left(s operation.StackResult, digest string) { r.states[s.Stack] = digest }

// End records the up. Without a record the next up starts the Pulumi engine, so an error is only noted.
func (r *Record) End(ctx context.Context) {
	if r.inputs == nil {
		return
	}
	if err := r.records.write(ctx, r.cluster, r.inputs, r.states); err != nil {
		r.records.Note(stacks.Name(r.cluster.Name, stacks.Bootstrap), "the next up will look at everything again: "+err.Error())
	}
}

// write records the inputs of an up, as far as they can be proved.
func (r Records) write(ctx context.Context, c *config.Cluster, in *inputs, states map[string]string) error {
	record, _ := r.digests(ctx, c, in, states) // what cannot be proved is left out
	if record.Digest == "" && record.Core == "" {
		return nil
	}
	record.At, record.By = r.Now().UTC().Truncate(time.Second), r.Who()
	return r.Backend.SetTag(ctx, stacks.Name(c.Name, stacks.Bootstrap), unchanged.Tag, record.String())
}

// Write has the states of a cluster count as what an up has left, without one.
func (r Records) Write(ctx context.Context, c *config.Cluster) error {
	in, err := r.inputs(c)
	if err != nil {
		return fmt.Errorf("record an up of %s: %w", c.Name, err)
	}
	states := map[string]string{}
	for _, k := range stacks.Kinds() {
		st, err := r.Backend.State(ctx, stacks.Name(c.Name, k))
		if err != nil {
			return fmt.Errorf("record an up of %s: %w", c.Name, err)
		}
		states[stacks.Name(c.Name, k)] = StateDigest(st)
	}
	return r.write(ctx, c, in, states)
}
