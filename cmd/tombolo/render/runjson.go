package render

import (
	"time"

	"tombolo/automation/rollout"
)

// runEvent is a document of the JSON format about a run's progress.
// Fields that do not apply are left out.
type runEvent struct {
	Type      string         `json:"type"`
	Time      string         `json:"time,omitempty"`
	Operation string         `json:"operation,omitempty"`
	Clusters  []runPlanned   `json:"clusters,omitempty"`
	Names     []string       `json:"waitingFor,omitempty"`
	Parallel  int            `json:"parallel,omitempty"`
	Cluster   string         `json:"cluster,omitempty"`
	Wave      *int           `json:"wave,omitempty"`
	Status    string         `json:"status,omitempty"`
	Phase     string         `json:"phase,omitempty"`
	Changes   map[string]int `json:"changes,omitempty"`
	Cause     string         `json:"cause,omitempty"`
	Seconds   *float64       `json:"seconds,omitempty"`
	// Expected is how long it takes, Remaining how long the run still takes,
	// estimated from earlier runs.
	Expected  *float64 `json:"expectedSeconds,omitempty"`
	Remaining *float64 `json:"remainingSeconds,omitempty"`
	// Total counts the run's clusters, Ended those that have ended by how.
	Total int            `json:"total,omitempty"`
	Ended map[result]int `json:"ended,omitempty"`
}

// runPlanned is a cluster of a run that begins.
type runPlanned struct {
	Cluster  string   `json:"cluster"`
	Wave     int      `json:"wave"`
	Hub      string   `json:"hub,omitempty"`
	Expected *float64 `json:"expectedSeconds,omitempty"`
}

func (v *jsonView) runStarted(r *runState) {
	planned := make([]runPlanned, len(r.clusters))
	for i, c := range r.clusters {
		planned[i] = runPlanned{Cluster: c.Cluster, Wave: c.Wave, Hub: c.Hub, Expected: known(c.Expected)}
	}
	v.writeRun(runEvent{
		Type: "run-started", Operation: r.Operation, Clusters: planned, Parallel: r.Parallel,
		Total: len(r.clusters), Remaining: v.remaining(r),
	})
}

func (v *jsonView) clusterStarted(r *runState, c *clusterState) {
	v.writeRun(runEvent{
		Type: "cluster-started", Operation: r.Operation, Cluster: c.Cluster, Wave: &c.Wave, Expected: known(c.Expected),
	})
}

func (v *jsonView) clusterFinished(r *runState, c *clusterState) {
	ended, _ := r.tally()
	v.writeRun(runEvent{
		Type: "cluster-finished", Operation: r.Operation, Cluster: c.Cluster, Wave: &c.Wave,
		Status: string(c.result()), Phase: c.end.Phase, Changes: c.end.Changes, Cause: c.end.Cause(),
		Seconds: seconds(c.end.Duration), Total: len(r.clusters), Ended: ended, Remaining: v.remaining(r),
	})
}

func (v *jsonView) gateStarted(r *runState) {
	v.writeRun(runEvent{Type: "gate-started", Operation: r.Operation, Wave: &r.gate.wave, Names: r.gate.clusters})
}

func (v *jsonView) gateFinished(r *runState, end rollout.GateEnd) {
	e := runEvent{
		Type: "gate-finished", Operation: r.Operation, Wave: &end.Wave, Status: string(phaseDone),
		Seconds: seconds(end.Duration),
	}
	if end.Err != nil {
		e.Status, e.Cause = string(phaseFailed), end.Err.Error()
	}
	v.writeRun(e)
}

func (v *jsonView) runFinished(_ *runState, s rollout.Summary) {
	e := runEvent{
		Type: "run-finished", Operation: s.Operation, Status: string(phaseDone),
		Total: len(s.Clusters), Ended: countEnds(s), Seconds: seconds(s.Duration),
	}
	if !s.Succeeded() {
		e.Status = string(phaseFailed)
	}
	v.writeRun(e)
}

func (v *jsonView) interlude(write func()) { write() }

func (v *jsonView) remaining(r *runState) *float64 {
	left, ok := r.remaining()
	if !ok {
		return nil
	}
	return seconds(left)
}

// writeRun drops an error, as write does.
func (v *jsonView) writeRun(e runEvent) {
	e.Time = v.now().UTC().Format(time.RFC3339Nano)
	_ = WriteJSON(v.w, e)
}

// known is an expectation in seconds, or nil when there is none.
func known(expected time.Duration) *float64 {
	if expected == 0 {
		return nil
	}
	return seconds(expected)
}
