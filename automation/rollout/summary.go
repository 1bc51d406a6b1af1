package rollout

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
)

// Summary is what became of a run.
type Summary struct {
	// Operation that was run.
	Operation string
	// Clusters in the order of the jobs.
	Clusters []End
	// Duration of the run.
	Duration time.Duration
	// First is the failure that came first; nil when there was none.
	First error
	// Journal is why the journal could not be written; the run went on without.
	Journal error
}

// Count is how many clusters ended so.
func (s Summary) Count(o Outcome) int {
	n := 0
	for _, e := range s.Clusters {
		if e.Outcome == o {
			n++
		}
	}
	return n
}

// Succeeded says that every cluster did.
func (s Summary) Succeeded() bool { return s.Count(Succeeded) == len(s.Clusters) }

// Err is nil when every cluster succeeded. It is the failure itself when the run
// was about one cluster, and a RunError otherwise.
func (s Summary) Err() error {
	switch {
	case s.Succeeded():
		return nil
	case len(s.Clusters) == 1 && s.First != nil:
		return s.First
	}
	return &RunError{Summary: s}
}

// RunError says that a run did not succeed on every cluster.
type RunError struct {
	// Summary of the run.
	Summary Summary
	// Remedy is what to do about it.
	Remedy string
}

func (e *RunError) Error() string {
	s := e.Summary
	what := fmt.Sprintf("%s: %s", s.Operation, s.shortfall())
	if s.First != nil {
		what += "; first cause: " + oneLine(s.First.Error())
	}
	if e.Remedy != "" {
		what += "; " + e.Remedy
	}
	return what
}

// Unwrap returns the first cause, whose class is the run's; context.Canceled
// when the run was stopped before anything failed.
func (e *RunError) Unwrap() error {
	if e.Summary.First == nil {
		return context.Canceled
	}
	return e.Summary.First
}

// shortfall is how many clusters did not succeed, and how.
func (s Summary) shortfall() string {
	var parts []string
	for _, o := range Outcomes() {
		if n := s.Count(o); n > 0 && o != Succeeded {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	return fmt.Sprintf("%d of %d clusters succeeded, %s", s.Count(Succeeded), len(s.Clusters), strings.Join(parts, ", "))
}

// oneLine is a text whose line ends would break a table or a log.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// End is what became of one cluster.
type End struct {
	// Cluster is its name.
	Cluster string
	// Wave of the cluster.
	Wave int
	// Outcome of its work.
	Outcome Outcome
	// Earlier says that an earlier run has finished it.
	Earlier bool
	// Phase is the last phase that was begun, such as core, bootstrap or verify;
	// "" when none was.
	Phase string
	// Changes counts what was changed, by what happened to it; nil when
	// they were not counted.
	Changes map[string]int
	// Duration of the work.
	Duration time.Duration
	// Err is why it failed, or is pending.
	Err error
	// By names what a skipped cluster waited for: a cluster, or a gate. For one that was
	// not started it says why no more was to start; "" when the run was stopped.
	By string
}

// GateEnd is what a gate has found.
type GateEnd struct {
	// Wave that the gate comes after.
	Wave int
	// Duration of the check.
	Duration time.Duration
	// Err is why the next wave does not begin; nil when it does.
	Err error
}

// Cause is why the cluster is not done, in one line; "" when it is.
func (e End) Cause() string {
	switch {
	case e.Err != nil:
		return oneLine(e.Err.Error())
	case e.Outcome == Skipped:
		return "not started: " + e.By + " did not succeed"
	case e.Outcome == Unstarted:
		return "not started: " + cmp.Or(e.By, "the run was stopped before")
	}
	return ""
}
