package render

import (
	"slices"
	"strings"
	"time"

	"tombolo/automation/rollout"
)

// runState is what is known of a run.
type runState struct {
	rollout.Plan
	now      func() time.Time
	started  time.Time
	clusters []*clusterState
	byName   map[string]*clusterState
	// waves in the order in which they are processed.
	waves []int
	gate  *gateState
}

// gateState is a wait for a wave's clusters.
type gateState struct {
	wave     int
	clusters []string
	started  time.Time
}

// clusterState is what is known of one of a run's clusters.
type clusterState struct {
	rollout.Job
	// begun says that its operation has started, end is how it ended.
	begun   bool
	started time.Time
	end     *rollout.End
	// op is the last operation on one of its stacks.
	op *operation
}

func newRunState(p rollout.Plan, now func() time.Time) *runState {
	s := &runState{Plan: p, now: now, started: now(), byName: map[string]*clusterState{}}
	for _, c := range p.Clusters {
		state := &clusterState{Job: c}
		s.clusters = append(s.clusters, state)
		s.byName[c.Cluster] = state
		if !slices.Contains(s.waves, c.Wave) {
			s.waves = append(s.waves, c.Wave)
		}
	}
	return s
}

func (r *runState) cluster(name string) *clusterState { return r.byName[name] }

func (r *runState) start(c *clusterState) {
	c.begun, c.started, c.end, c.op = true, r.now(), nil, nil
}

func (r *runState) finish(c *clusterState, end rollout.End) {
	end.Wave = c.Wave
	if end.Duration == 0 && c.begun {
		end.Duration = r.now().Sub(c.started)
	}
	c.end = &end
}

// attach notes that an operation belongs to one of the run's clusters. Its
// stacks are called by the cluster and the stack's kind; a verification is of
// the cluster itself.
func (r *runState) attach(op *operation) {
	name := op.stack
	if op.name != verification {
		name, _ = splitStack(op.stack)
	}
	if c := r.byName[name]; c != nil {
		c.op = op
	}
}

// splitStack divides a stack's name into its cluster's and its kind.
func splitStack(stack string) (cluster, kind string) {
	for _, kind := range []string{"core", "bootstrap"} {
		if name, ok := strings.CutSuffix(stack, "-"+kind); ok {
			return name, kind
		}
	}
	return stack, ""
}

// phase is the step in progress: the kind of stack, or verify.
func (c *clusterState) phase() string {
	if c.op == nil {
		return ""
	}
	if c.op.name == verification {
		return verification
	}
	_, kind := splitStack(c.op.stack)
	return kind
}

// result is how its operation has ended.
func (c *clusterState) result() result { return resultOf(*c.end) }

// running says whether the operation on the cluster is in progress.
func (c *clusterState) running() bool { return c.begun && c.end == nil }

// verifying says whether the gate still waits for the cluster.
func (c *clusterState) verifying() bool { return c.op != nil && !c.op.over && c.op.waiting != "" }

// tally counts the clusters that have ended by how, and those that are worked
// on.
func (r *runState) tally() (ended map[result]int, running int) {
	ended = map[result]int{}
	for _, c := range r.clusters {
		switch {
		case c.end != nil:
			ended[c.result()]++
		case c.begun:
			running++
		}
	}
	return ended, running
}

// looks says whether the run's operation changes nothing.
func (r *runState) looks() bool { return strings.HasPrefix(r.Operation, "preview") }

// owns says whether an operation belongs to one of the run's clusters.
func (r *runState) owns(op *operation) bool {
	return slices.ContainsFunc(r.clusters, func(c *clusterState) bool { return c.op == op })
}

// good is the number of clusters that are as they were to be.
func (r *runState) good() int {
	ended, _ := r.tally()
	return ended[runDone] + ended[runEarlier]
}

// wave is the one in progress, and its place among all: the first with a
// cluster that has not ended, or that a gate waits for.
func (r *runState) wave() (wave, place int) {
	for i, w := range r.waves {
		if r.gate != nil && r.gate.wave == w {
			return w, i + 1
		}
		open := func(c *clusterState) bool { return c.Wave == w && c.end == nil }
		if slices.ContainsFunc(r.clusters, open) {
			return w, i + 1
		}
	}
	return r.waves[len(r.waves)-1], len(r.waves)
}
