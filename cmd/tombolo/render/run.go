package render

import (
	"slices"

	"tombolo/automation/rollout"
)

var _ rollout.Observer = (*Progress)(nil)

// result is how a run ended for one cluster, in the words of the display.
type result string

// The results.
const (
	runDone        result = "done"
	runEarlier     result = "done before" // in the run that this one resumes
	runFailed      result = "failed"
	runInterrupted result = "interrupted"
	runSkipped     result = "skipped"
	runPending     result = "pending" // outside of its change windows
)

// results are all of them, in the order in which they are counted.
var results = []result{runDone, runEarlier, runFailed, runInterrupted, runSkipped, runPending}

func resultOf(e rollout.End) result {
	switch {
	case e.Earlier:
		return runEarlier
	case e.Outcome == rollout.Succeeded:
		return runDone
	case e.Outcome == rollout.Failed:
		return runFailed
	case e.Outcome == rollout.Interrupted:
		return runInterrupted
	case e.Outcome == rollout.Pending:
		return runPending
	default:
		return runSkipped
	}
}

func (r result) good() bool { return r == runDone || r == runEarlier }

// countEnds counts a run's clusters by result.
func countEnds(s rollout.Summary) map[result]int {
	ended := map[result]int{}
	for _, e := range s.Clusters {
		ended[resultOf(e)]++
	}
	return ended
}

// RunStarted says that an operation on several clusters begins. A run of one
// cluster is shown as what it is: an operation on that cluster.
func (p *Progress) RunStarted(plan rollout.Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.model.run = nil
	if len(plan.Clusters) <= 1 {
		return
	}
	r := newRunState(plan, p.model.now)
	p.model.run = r
	p.view.runStarted(r)
	for _, c := range r.clusters {
		if c.Done {
			r.finish(c, rollout.End{Outcome: rollout.Succeeded, Earlier: true})
			p.view.clusterFinished(r, c)
		}
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
func (p *Progress) ClusterFinished(end rollout.End) {
	p.inRun(func(r *runState) {
		if c := r.cluster(end.Cluster); c != nil {
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
func (p *Progress) GateFinished(end rollout.GateEnd) {
	p.inRun(func(r *runState) {
		r.gate = nil
		p.view.gateFinished(r, end)
	})
}

// RunFinished says that the run is over. WriteSummary writes what it did.
func (p *Progress) RunFinished(s rollout.Summary) {
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
