package fleet

import (
	"tombolo/automation/rollout"
	"tombolo/automation/trace"
)

// traced tells the trace of the command what it tells the view of the run.
type traced struct {
	rollout.Observer
	trace *trace.Run
}

func (t traced) RunStarted(p rollout.Plan) {
	t.trace.RunStarted(p)
	t.Observer.RunStarted(p)
}

func (t traced) ClusterStarted(cluster string) {
	t.trace.ClusterStarted(cluster)
	t.Observer.ClusterStarted(cluster)
}

func (t traced) ClusterFinished(e rollout.End) {
	t.trace.ClusterFinished(e)
	t.Observer.ClusterFinished(e)
}

func (t traced) GateStarted(wave int, clusters []string) {
	t.trace.GateStarted(wave, clusters)
	t.Observer.GateStarted(wave, clusters)
}

func (t traced) GateFinished(e rollout.GateEnd) {
	t.trace.GateFinished(e)
	t.Observer.GateFinished(e)
}

func (t traced) RunFinished(s rollout.Summary) {
	t.trace.RunFinished(s)
	t.Observer.RunFinished(s)
}
