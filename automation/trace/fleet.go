package trace

import (
	"maps"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	oteltrace "go.opentelemetry.io/otel/trace"

	"tombolo/automation/rollout"
)

// waves are those of the run that is under way.
type waves struct {
	// of has the wave of each cluster; nil when the run has none.
	of map[string]int
	// spans of those that have begun, with the end of what was last in them.
	spans map[int]node
	last  map[int]time.Time
	gate  node
}

// RunStarted takes which clusters are worked on, and in which waves: a run on one cluster has none,
// and neither has one that only looks.
func (r *Run) RunStarted(plan rollout.Plan) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waves = waves{spans: map[int]node{}, last: map[int]time.Time{}}
	for _, job := range plan.Clusters {
		r.seen[job.Cluster] = true
	}
	if len(plan.Clusters) <= 1 || !plan.Waves {
		return
	}
	r.waves.of = map[string]int{}
	for _, job := range plan.Clusters {
		r.waves.of[job.Cluster] = job.Wave
	}
}

// ClusterStarted begins the span of a cluster, and that of its wave.
func (r *Run) ClusterStarted(cluster string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cluster(cluster)
}

// cluster is the span of a cluster.
func (r *Run) cluster(name string) node {
	if n, ok := r.clusters[name]; ok {
		return n
	}
	r.seen[name] = true
	under := r.root
	if wave, ok := r.waves.of[name]; ok {
		under = r.wave(wave)
	}
	n := r.start(under.ctx, "cluster "+name, semconv.K8SClusterName(name))
	r.clusters[name] = n
	return n
}

func (r *Run) wave(wave int) node {
	n, ok := r.waves.spans[wave]
	if !ok {
		n = r.start(r.root.ctx, "wave", attribute.Int("tombolo.wave", wave))
		r.waves.spans[wave] = n
	}
	return n
}

// ClusterFinished ends the span of a cluster. One that never began has none.
func (r *Run) ClusterFinished(e rollout.End) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n, ok := r.clusters[e.Cluster]
	if !ok {
		return
	}
	delete(r.clusters, e.Cluster)
	n.SetAttributes(append(counts(e.Changes), outcome(e.Outcome))...)
	r.end(n, e.Err)
	if wave, ok := r.waves.of[e.Cluster]; ok {
		r.inWave(wave, e.Err)
	}
}

// inWave notes that something in a wave has ended.
func (r *Run) inWave(wave int, err error) {
	n := r.wave(wave)
	r.waves.last[wave] = r.now()
	if err != nil {
		n.SetStatus(codes.Error, Line(err.Error()))
	}
}

// GateStarted begins the span of the check after a wave.
func (r *Run) GateStarted(wave int, _ []string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waves.gate = r.start(r.wave(wave).ctx, "gate", attribute.Int("tombolo.wave", wave))
}

// GateFinished ends it.
func (r *Run) GateFinished(e rollout.GateEnd) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waves.gate.Span != nil {
		r.end(r.waves.gate, e.Err)
		r.waves.gate = node{}
	}
	r.inWave(e.Wave, e.Err)
}

// RunFinished ends the waves, and counts the clusters by how they ended.
func (r *Run) RunFinished(s rollout.Summary) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endAll()
	for _, o := range rollout.Outcomes() {
		r.root.SetAttributes(attribute.Int("tombolo.clusters."+strings.ReplaceAll(string(o), " ", "_"), s.Count(o)))
	}
}

// endAll ends what is open below the run: the clusters of a command that has no run on a fleet, and
// the waves.
func (r *Run) endAll() {
	for _, name := range slices.Sorted(maps.Keys(r.clusters)) {
		r.end(r.clusters[name], nil)
	}
	for _, wave := range slices.Sorted(maps.Keys(r.waves.spans)) {
		at, ok := r.waves.last[wave]
		if !ok {
			at = r.now()
		}
		r.waves.spans[wave].End(oteltrace.WithTimestamp(at))
	}
	clear(r.clusters)
	r.waves = waves{}
}

func outcome(o rollout.Outcome) attribute.KeyValue {
	return attribute.String("tombolo.outcome", string(o))
}

// counts are attributes of the numbers of resources by what happened to them.
func counts(changes map[string]int) []attribute.KeyValue {
	var out []attribute.KeyValue
	for _, op := range slices.Sorted(maps.Keys(changes)) {
		out = append(out, attribute.Int("tombolo.changes."+op, changes[op]))
	}
	return out
}
