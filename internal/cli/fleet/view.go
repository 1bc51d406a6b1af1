package fleet

import (
	"tombolo/automation/rollout"
	"tombolo/config"
	"tombolo/internal/render"
)

// view shows a run.
type view struct {
	*render.Progress
	clusters map[string]*config.Cluster
}

// RunStarted shows the clusters of the run.
func (v view) RunStarted(p rollout.Plan) {
	run := render.Run{Operation: p.Operation, Parallel: p.Parallel}
	for _, j := range p.Clusters {
		c := render.RunCluster{Name: j.Cluster, Wave: j.Wave, Expected: j.Expected}
		if spoke := v.clusters[j.Cluster]; spoke.IsSpoke() {
			c.Hub = spoke.Hub()
		}
		run.Clusters = append(run.Clusters, c)
	}
	v.Progress.RunStarted(run)
	for _, j := range p.Clusters {
		if j.Done {
			v.Progress.ClusterFinished(render.ClusterEnd{Name: j.Cluster, Wave: j.Wave, Result: render.RunEarlier})
		}
	}
}

// ClusterFinished shows the outcome for a cluster.
func (v view) ClusterFinished(e rollout.End) { v.Progress.ClusterFinished(endOf(e)) }

// GateFinished shows whether the next wave starts.
func (v view) GateFinished(e rollout.GateEnd) {
	end := render.GateEnd{Wave: e.Wave, Duration: e.Duration}
	if e.Err != nil {
		end.Cause = e.Err.Error()
	}
	v.Progress.GateFinished(end)
}

// RunFinished shows that the run is over.
func (v view) RunFinished(s rollout.Summary) { v.Progress.RunFinished(summaryOf(s)) }

func summaryOf(s rollout.Summary) render.Summary {
	out := render.Summary{Operation: s.Operation, Duration: s.Duration}
	for _, e := range s.Clusters {
		out.Clusters = append(out.Clusters, endOf(e))
	}
	return out
}

func endOf(e rollout.End) render.ClusterEnd {
	return render.ClusterEnd{
		Name: e.Cluster, Wave: e.Wave, Result: resultOf(e), Phase: e.Phase,
		Changes: e.Changes, Duration: e.Duration, Cause: e.Cause(),
	}
}

func resultOf(e rollout.End) render.RunResult {
	switch {
	case e.Earlier:
		return render.RunEarlier
	case e.Outcome == rollout.Succeeded:
		return render.RunDone
	case e.Outcome == rollout.Failed:
		return render.RunFailed
	case e.Outcome == rollout.Interrupted:
		return render.RunInterrupted
	default:
		return render.RunSkipped
	}
}
