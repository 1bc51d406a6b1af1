package drift

import (
	"context"
	"slices"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/config"
	"tombolo/internal/wording"
	"tombolo/stacks"
)

// State is what a comparison needs of a stack's state.
type State struct {
	// Resources of the state.
	Resources []apitype.ResourceV3
	// Managed says how many of them are more than the stack itself and providers.
	Managed int
	// Interrupted counts the operations that were interrupted.
	Interrupted int
}

// Source is what a comparison asks: states, the engine and the cloud.
type Source interface {
	// State of a stack; empty when it does not exist.
	State(ctx context.Context, stack string) (State, error)
	// Holders say for each lock of the stack whose it is, such as "locked by ada".
	Holders(stack string) ([]string, error)
	// PreviewRefresh has the reader told what a refresh of the stack would find.
	PreviewRefresh(ctx context.Context, c *config.Cluster, k stacks.Kind, reader *Reader) error
	// Tagged are the cloud resources with the cluster's ownership tag.
	Tagged(ctx context.Context, c *config.Cluster) ([]Sighting, error)
}

// Compare compares both stacks with the cloud and the cluster, and looks for
// cloud resources that carry the cluster's tag and are in neither. It only
// reads: it takes no lock, and writes neither to the cloud nor to a state.
//
// The report holds what was found, with an error too: a stack that could not be
// compared does not keep the other from being.
func Compare(ctx context.Context, c *config.Cluster, cloud Cloud, s Source) (Report, error) {
	start := time.Now()
	x := comparison{Source: s, cloud: cloud, cluster: c, report: Report{Cluster: c.Name, At: start.UTC(), Differences: []Difference{}}}
	err := x.run(ctx)
	x.report.Seconds = time.Since(start).Seconds()
	if err != nil {
		x.report.Error = err.Error()
	}
	return x.report, err
}

// comparison of a cluster under way.
type comparison struct {
	Source
	cloud   Cloud
	cluster *config.Cluster
	report  Report
}

func (x *comparison) run(ctx context.Context) error {
	var first error
	var known [][]apitype.ResourceV3
	for _, k := range stacks.Kinds() {
		st, err := x.compare(ctx, k)
		known = append(known, st.Resources)
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
	return x.findUnexpected(ctx, Know(known...))
}

// compare adds to the report what differs in a stack, and returns its state.
func (x *comparison) compare(ctx context.Context, k stacks.Kind) (st State, err error) {
	part := Stack{Stack: stacks.Name(x.cluster.Name, k)}
	defer func() {
		if err != nil {
			part.Skipped = err.Error()
		}
		x.report.Stacks = append(x.report.Stacks, part)
	}()
	if st, err = x.State(ctx, part.Stack); err != nil {
		return State{}, err
	}
	if st.Managed == 0 {
		part.Skipped = "it was not deployed"
		return st, nil
	}
	if part.Busy, err = x.busy(part.Stack, st); err != nil {
		return st, err
	}
	if k == stacks.Bootstrap && x.lacksCluster() {
		part.Skipped = "the cluster that it is on is gone"
		return st, nil
	}
	reader := &Reader{Stack: part.Stack, SetByOthers: x.cloud.SetByOthers}
	err = x.PreviewRefresh(ctx, x.cluster, k, reader)
	part.Resources = reader.Compared()
	x.report.Add(reader.Differences()...)
	return st, err
}

// busy says why what differs in a stack may be temporary; "" when it is
// not. An owner that cannot be judged is named all the same.
func (x *comparison) busy(stack string, st State) (string, error) {
	holders, err := x.Holders(stack)
	if err != nil {
		return "", err
	}
	if len(holders) > 0 {
		return "it is " + holders[0], nil
	}
	if st.Interrupted > 0 {
		return wording.Plural(st.Interrupted, "operation on it was", "operations on it were") + " interrupted", nil
	}
	return "", nil
}

// lacksCluster says whether the managed cluster itself is missing.
func (x *comparison) lacksCluster() bool {
	return slices.ContainsFunc(x.report.Differences, func(d Difference) bool {
		return d.Class == Missing && d.Type == x.cloud.ClusterType()
	})
}

// findUnexpected asks the cloud for everything with the cluster's tag.
func (x *comparison) findUnexpected(ctx context.Context, known Known) error {
	seen, err := x.Tagged(ctx, x.cluster)
	if err != nil {
		return err
	}
	unexpected, left := Sort(x.cloud, seen, known)
	x.report.Add(unexpected...)
	x.report.LeftOut = left
	return nil
}

// Tally counts what was compared, in the words of drift: the engine's own are
// of what a refresh would do to the state.
func (r *Reader) Tally() map[string]int {
	out := map[string]int{string(apitype.OpSame): r.Compared() - len(r.Differences())}
	for _, f := range r.Differences() {
		out[string(f.Class)]++
	}
	return out
}
