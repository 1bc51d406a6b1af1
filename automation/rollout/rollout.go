// Package rollout works on many clusters at once: which of them, in which order,
// how many at a time, and what became of each.
//
// Selection chooses clusters. Jobs puts them into an order. A Schedule is the
// order as a state machine, without goroutines and without a clock: it says what
// may start, and is told what has ended. A Runner drives a Schedule with real
// work, health gates between waves, and a Journal from which an interrupted or
// failed run is resumed.
package rollout

import (
	"slices"
	"time"

	"tombolo/config"
)

// Job is the work on one cluster.
type Job struct {
	// Cluster is the cluster's name.
	Cluster string
	// Wave of the cluster. Jobs of one wave start when those of the waves before
	// it have succeeded; lower goes first, but with Schedule's Reverse.
	Wave int
	// Hub of a spoke; "" for another cluster.
	Hub string
	// After names the clusters whose jobs come first. A cluster without a job
	// holds nothing up.
	After []string
	// Expected duration; 0 when it is not known.
	Expected time.Duration
	// Done says that an earlier run has finished the job: it is not started again.
	Done bool
}

// Order is how the clusters of a run depend on each other.
type Order string

// The orders.
const (
	// Forward reaches waves from the lowest on, and a hub before its spokes.
	Forward Order = "forward"
	// Reverse reaches waves from the highest on, and spokes before their hub.
	Reverse Order = "reverse"
	// Free is for operations that only look: no cluster waits for another.
	Free Order = "free"
)

// Jobs returns a job for each cluster. expected may be nil.
func Jobs(clusters []*config.Cluster, order Order, expected func(cluster string) time.Duration) []Job {
	jobs := make([]Job, len(clusters))
	at := make(map[string]int, len(clusters))
	for i, c := range clusters {
		jobs[i] = Job{Cluster: c.Name, Wave: c.Wave}
		at[c.Name] = i
		if expected != nil {
			jobs[i].Expected = expected(c.Name)
		}
	}
	for i, c := range clusters {
		if !c.HasHubFile() {
			continue
		}
		jobs[i].Hub = c.Hub()
		hub, ok := at[c.Hub()]
		if !ok {
			continue
		}
		switch order {
		case Forward:
			jobs[i].After = append(jobs[i].After, c.Hub())
		case Reverse:
			jobs[hub].After = append(jobs[hub].After, c.Name)
		}
	}
	if order == Reverse {
		slices.Reverse(jobs)
	}
	return jobs
}
