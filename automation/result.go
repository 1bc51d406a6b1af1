package automation

import (
	"time"

	"tombolo/automation/approved"
	"tombolo/automation/lastup"
	"tombolo/automation/operation"
	"tombolo/config"
	"tombolo/stacks"
)

// Result is what an operation on a cluster did.
type Result struct {
	// Cluster is the cluster's name.
	Cluster string `json:"cluster"`
	// Stacks in the order they were worked on.
	Stacks []StackResult `json:"stacks"`
	// FileChanges are the keys in which the cluster file differs from what the live
	// cluster was made from.
	FileChanges config.Changes `json:"fileChanges,omitempty"`
	// UnchangedSince is the up after which nothing has changed, so that this one has started no
	// engine; nil for one that has.
	UnchangedSince *LastUp `json:"unchangedSince,omitempty"`
	// Unseen are lines about own stacks that a preview has left out, or has previewed on what will change.
	Unseen []string `json:"unseen,omitempty"`
	// Plan is what an up would do; nil where it was not asked for.
	Plan *approved.Cluster `json:"-"`
	// Duration of the whole operation, checks and recovery included.
	Duration time.Duration `json:"duration"`
}

// StackResult is what an operation on one stack did.
type StackResult = operation.StackResult

// Changes counts a stack's resources by what happened to them.
type Changes = operation.Changes

// LastUp is the up that a cluster is unchanged since.
type LastUp = lastup.Up

// Stack returns the result of the stack of the given kind.
func (r Result) Stack(k stacks.Kind) (StackResult, bool) {
	for _, s := range r.Stacks {
		if s.Kind == k {
			return s, true
		}
	}
	return StackResult{}, false
}

// run is an operation on a cluster under way.
type run struct {
	driver  *Driver
	cluster *config.Cluster
	// start is when it began; the zero time while its checks go on.
	start  time.Time
	result Result
}

func (d *Driver) newRun(c *config.Cluster) *run {
	return &run{driver: d, cluster: c, result: Result{Cluster: c.Name}}
}

// begin begins to measure.
func (r *run) begin() { r.start = r.driver.deps.now() }

// add takes the result of a stack that was worked on.
func (r *run) add(s StackResult) {
	if s.Stack != "" {
		r.result.Stacks = append(r.result.Stacks, s)
	}
}

// end is the result of all, with the error. What the engine has told is not in it: a preview has told whole
// states, and commands keep the results of all clusters until their end.
func (r *run) end(err error) (Result, error) {
	for i := range r.result.Stacks {
		r.result.Stacks[i].Events = operation.Events{}
	}
	if !r.start.IsZero() {
		r.result.Duration = r.driver.deps.now().Sub(r.start)
	}
	return r.result, err
}
