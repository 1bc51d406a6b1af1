package bench

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/automation/rollout"
)

// work is what ran in a wave: when it could begin at the earliest, from the beginning of
// the wave on, and how long it took.
type work struct{ ready, takes time.Duration }

// bound is the shortest time that so many workers can do an attempt in: waves come one
// after the other.
func (a attempt) bound(workers int) time.Duration {
	var sum time.Duration
	for _, w := range a.waves {
		sum += shortest(w, workers)
	}
	return sum
}

// shortest is a time below which no order of the work comes, with so many workers: that of
// the longest chain, and that of all work when, until each moment, no more of it was done
// than could be. That is at most the workers' time until then, and of each piece at most the
// time since it could begin: workers have nothing to do as long as a hub is made that their
// spokes wait for.
func shortest(all []work, workers int) time.Duration {
	var sum, least time.Duration
	moments := []time.Duration{0}
	for _, w := range all {
		sum += w.takes
		least = max(least, w.ready+w.takes)
		moments = append(moments, w.ready, w.ready+w.takes)
	}
	// Between two of the moments the work that can be done grows evenly, so that the
	// largest bound is at one of them.
	for _, at := range moments {
		could := at * time.Duration(workers)
		var ready time.Duration
		for _, w := range all {
			ready += min(w.takes, max(0, at-w.ready))
		}
		least = max(least, at+(sum-min(could, ready))/time.Duration(workers))
	}
	return least
}

// chains know when clusters that wait for others of their wave can begin.
type chains struct {
	after map[string][]string
	waves map[string]int
	ends  map[string]time.Duration
}

func newChains(jobs []rollout.Job) *chains {
	c := &chains{after: map[string][]string{}, waves: map[string]int{}, ends: map[string]time.Duration{}}
	for _, j := range jobs {
		c.after[j.Cluster], c.waves[j.Cluster] = j.After, j.Wave
	}
	return c
}

// add adds a step that starts, after those that it waits for.
func (c *chains) add(step rollout.Step, takes time.Duration) work {
	w := work{takes: takes}
	for _, name := range c.after[step.Cluster] {
		if c.waves[name] == step.Wave {
			w.ready = max(w.ready, c.ends[name])
		}
	}
	c.ends[step.Cluster] = w.ready + takes
	return w
}

// TestBoundKnowsHubs: the bound is what an order that cannot be better takes, where workers
// wait for hubs.
func TestBoundKnowsHubs(t *testing.T) {
	hubs := func(hubs, spokes, takes int) (all []work) {
		hub := time.Duration(takes) * time.Second
		for range hubs {
			all = append(all, work{takes: hub})
			for range spokes {
				all = append(all, work{ready: hub, takes: time.Second})
			}
		}
		return all
	}
	second := work{takes: time.Second}
	for name, test := range map[string]struct {
		all     []work
		workers int
		want    time.Duration
	}{
		"nothing":                          {nil, 4, 0},
		"work over the workers":            {[]work{second, second, second, second}, 2, 2 * time.Second},
		"the longest":                      {[]work{{takes: 9 * time.Second}, second}, 2, 9 * time.Second},
		"a hub and its spokes":             {hubs(1, 4, 1), 4, 2 * time.Second},
		"a long hub and its spokes":        {hubs(1, 8, 10), 4, 12 * time.Second},
		"two hubs":                         {hubs(2, 4, 1), 4, 3 * time.Second},
		"others are made beside a hub":     {append(hubs(1, 4, 1), second, second, second), 4, 2 * time.Second},
		"one worker waits for nobody":      {hubs(1, 4, 1), 1, 5 * time.Second},
		"workers idle until a hub is over": {append(hubs(1, 4, 10), second, second, second), 4, 11 * time.Second},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, shortest(test.all, test.workers), test.want) })
	}
}
