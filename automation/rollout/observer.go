package rollout

import "time"

// Plan is what a run is about to do.
type Plan struct {
	// Operation: up, destroy, preview and so on.
	Operation string
	// Clusters in the order of the jobs, those too that an earlier run has
	// finished.
	Clusters []Job
	// Parallel is how many are worked on at a time.
	Parallel int
}

// Observer is told how a run goes. The calls come one after the other.
type Observer interface {
	// RunStarted comes first.
	RunStarted(Plan)
	// ClusterStarted is called before the work on a cluster.
	ClusterStarted(cluster string)
	// ClusterFinished is called when the work on a cluster is over, and for each
	// cluster that is skipped.
	ClusterFinished(End)
	// GateStarted is called when a wave has succeeded and its health is asked for.
	GateStarted(wave int, clusters []string)
	// GateFinished is called when it is known.
	GateFinished(GateEnd)
	// RunFinished comes last.
	RunFinished(Summary)
}

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
	// Changes counts what was changed, by what happened to it; nil when nobody
	// has counted.
	Changes map[string]int
	// Duration of the work.
	Duration time.Duration
	// Err is why it failed.
	Err error
	// By names what a skipped cluster waited for: a cluster, or a gate.
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
		return "not started: the run was stopped before"
	}
	return ""
}

// nobody is the observer of a runner that has none.
type nobody struct{}

func (nobody) RunStarted(Plan)           {}
func (nobody) ClusterStarted(string)     {}
func (nobody) ClusterFinished(End)       {}
func (nobody) GateStarted(int, []string) {}
func (nobody) GateFinished(GateEnd)      {}
func (nobody) RunFinished(Summary)       {}
