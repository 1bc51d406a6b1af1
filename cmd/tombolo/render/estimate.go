package render

import (
	"cmp"
	"slices"
	"time"
)

// remaining is how long the run will still take, estimated from how long its
// clusters have taken before: each wave is planned as it will be worked on, so
// many clusters at once, a hub before its spokes or, where they end first,
// after them. It is false when nothing is known of any cluster.
func (r *runState) remaining() (time.Duration, bool) {
	usual, ok := r.usual()
	if !ok {
		return 0, false
	}
	var total time.Duration
	for _, wave := range r.waves {
		total += r.waveRemaining(wave, usual)
	}
	return total, true
}

// usual is how long a cluster without a record takes: what others are
// expected to take, or have taken.
func (r *runState) usual() (time.Duration, bool) {
	var sum time.Duration
	n := 0
	for _, c := range r.clusters {
		switch {
		case c.end != nil && c.result() == runDone:
			sum += c.end.Duration
		case c.Expected > 0:
			sum += c.Expected
		default:
			continue
		}
		n++
	}
	if n == 0 {
		return 0, false
	}
	return sum / time.Duration(n), true
}

// waveRemaining plans the rest of one wave: each cluster in turn takes the
// worker that is free first.
func (r *runState) waveRemaining(wave int, usual time.Duration) time.Duration {
	workers := make([]time.Duration, max(1, r.Parallel))
	ends := map[string]time.Duration{}
	var last time.Duration
	for _, c := range r.inTurn(wave) {
		free := slices.Index(workers, slices.Min(workers))
		ends[c.Cluster] = max(workers[free], r.after(c, ends)) + r.rest(c, usual)
		workers[free] = ends[c.Cluster]
		last = max(last, ends[c.Cluster])
	}
	return last
}

// inTurn are a wave's clusters that have not ended, those that run first.
func (r *runState) inTurn(wave int) []*clusterState {
	var running, waiting []*clusterState
	for _, c := range r.clusters {
		switch {
		case c.Wave != wave || c.end != nil:
		case c.begun:
			running = append(running, c)
		default:
			waiting = append(waiting, c)
		}
	}
	return append(running, waiting...)
}

// after is when those have ended that a cluster waits for: whichever of hub and
// spoke comes first in the run.
func (r *runState) after(c *clusterState, ends map[string]time.Duration) time.Duration {
	latest := ends[c.Hub]
	for _, other := range r.clusters {
		if other.Hub == c.Cluster {
			latest = max(latest, ends[other.Cluster])
		}
	}
	return latest
}

// rest is how long a cluster will still take.
func (r *runState) rest(c *clusterState, usual time.Duration) time.Duration {
	expected := cmp.Or(c.Expected, usual)
	if c.begun {
		expected -= r.now().Sub(c.started)
	}
	return max(0, expected)
}
