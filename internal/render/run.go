package render

import (
	"slices"
	"time"
)

// Run is one operation on several clusters.
type Run struct {
	// Operation on each of the clusters, such as up.
	Operation string
	// Clusters in the order in which they will be processed.
	Clusters []RunCluster
	// Parallel is how many clusters are processed at a time.
	Parallel int
}

// RunCluster is one of a run's clusters.
type RunCluster struct {
	// Name of the cluster: its stacks are called by it and their kind.
	Name string
	// Wave that the cluster is in.
	Wave int
	// Hub of the cluster, or "" when it has none.
	Hub string
	// Expected is how long it takes, estimated from earlier runs; 0 without one.
	Expected time.Duration
}

// RunResult is how a run ended for one cluster.
type RunResult string

// The results.
const (
	// RunDone says that the operation has succeeded.
	RunDone RunResult = "done"
	// RunEarlier says that it had succeeded in the run that this one resumes.
	RunEarlier RunResult = "done before"
	// RunFailed says that it has failed.
	RunFailed RunResult = "failed"
	// RunInterrupted says that it was interrupted.
	RunInterrupted RunResult = "interrupted"
	// RunSkipped says that it was not started.
	RunSkipped RunResult = "skipped"
)

// RunResults lists the results in the order in which they are counted.
func RunResults() []RunResult {
	return []RunResult{RunDone, RunEarlier, RunFailed, RunInterrupted, RunSkipped}
}

// ClusterEnd is the outcome for one cluster of a run.
type ClusterEnd struct {
	// Name of the cluster.
	Name string
	// Wave that it is in.
	Wave int
	// Result of the operation.
	Result RunResult
	// Phase that the operation reached: core, bootstrap or verify; "" when it
	// was not started.
	Phase string
	// Changes counts the resources of both stacks by what happened to them, in
	// the engine's words. It is nil when they are not counted.
	Changes map[string]int
	// Duration of the operation.
	Duration time.Duration
	// Cause is why it did not succeed, the first cause first.
	Cause string
}

// GateEnd is the result of the check between two waves.
type GateEnd struct {
	// Wave that was checked.
	Wave int
	// Duration of the check.
	Duration time.Duration
	// Cause is why the next wave does not start, or "" when it does.
	Cause string
}

// Summary is what a run did.
type Summary struct {
	// Operation on each of the clusters.
	Operation string
	// Clusters in the order in which they were to be processed.
	Clusters []ClusterEnd
	// Duration of the run.
	Duration time.Duration
}

// Good says whether every cluster is as it was to be.
func (s Summary) Good() bool {
	return !slices.ContainsFunc(s.Clusters, func(c ClusterEnd) bool { return !c.Result.good() })
}

func (r RunResult) good() bool { return r == RunDone || r == RunEarlier }

// RunStarted says that an operation on several clusters begins. A run of one
// cluster is shown as what it is: an operation on that cluster.
func (p *Progress) RunStarted(r Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.model.run = nil
	if len(r.Clusters) > 1 {
		p.model.run = newRunState(r, p.model.now)
		p.view.runStarted(p.model.run)
	}
}

// ClusterStarted says that the run's operation begins on a cluster.
func (p *Progress) ClusterStarted(name string) {
	p.inRun(func(r *runState) {
		if c := r.cluster(name); c != nil {
			r.start(c)
			p.view.clusterStarted(r, c)
		}
	})
}

// ClusterFinished says that the run is over for a cluster, started or not.
func (p *Progress) ClusterFinished(end ClusterEnd) {
	p.inRun(func(r *runState) {
		if c := r.cluster(end.Name); c != nil {
			r.finish(c, end)
			p.view.clusterFinished(r, c)
		}
	})
}

// GateStarted says that the run waits until the clusters of a wave are ready.
func (p *Progress) GateStarted(wave int, clusters []string) {
	p.inRun(func(r *runState) {
		r.gate = &gateState{wave: wave, clusters: slices.Clone(clusters), started: r.now()}
		p.view.gateStarted(r)
	})
}

// GateFinished says what the wait for a wave has found.
func (p *Progress) GateFinished(end GateEnd) {
	p.inRun(func(r *runState) {
		r.gate = nil
		p.view.gateFinished(r, end)
	})
}

// RunFinished says that the run is over. WriteSummary writes what it did.
func (p *Progress) RunFinished(s Summary) {
	p.inRun(func(r *runState) {
		p.model.run = nil
		p.view.runFinished(r, s)
	})
}

// Interlude lets a command write to the terminal itself: what the view moves is
// taken away before, and drawn again below what was written.
func (p *Progress) Interlude(write func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.view.interlude(write)
}

// inRun calls f when a run of several clusters is on.
func (p *Progress) inRun(f func(*runState)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.model.run != nil {
		f(p.model.run)
	}
}
