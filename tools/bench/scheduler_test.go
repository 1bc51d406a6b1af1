package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestSimulation: the fleet comes up by resumes, close to what the work allows.
func TestSimulation(t *testing.T) {
	recorded := []time.Duration{20 * time.Second, 25 * time.Second, 40 * time.Second}
	s, err := measureScheduler(recorded)
	assert.NilError(t, err)
	for _, r := range s.Runs {
		if r.Failures == 0 || r.Attempts < 2 {
			t.Errorf("%d at a time: %d failures in %d attempts", r.Parallel, r.Failures, r.Attempts)
		}
		if ratio := r.Makespan / r.Bound; ratio < 1 || ratio > 1.1 {
			t.Errorf("%d at a time: makespan is %.2f times the bound", r.Parallel, ratio)
		}
	}
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

// TestDocument has every part, and ratios.
func TestDocument(t *testing.T) {
	cost := func(wall, cpu float64) usage { return usage{Wall: wall, CPU: cpu, PeakMB: 100} }
	m := measured{
		Machines: map[string]machine{partClusters: {Cores: 2}},
		taken: taken{
			Fleets: &fleets{Fleets: []fleetCost{
				{Clusters: 1, Up: cost(20, 10), Longest: 20}, {Clusters: 4, Up: cost(33, 40), Lab: 20, Longest: 20},
			}},
			Driver: &driver{Rounds: []round{
				{Create: cost(9, 1), PlainCreate: cost(10, 1), Noop: cost(3, 1), PlainNoop: cost(4, 1), Unchanged: cost(0.4, 1)},
				{Create: cost(8, 1), PlainCreate: cost(10, 1), Noop: cost(2, 1), PlainNoop: cost(4, 1), Unchanged: cost(0.4, 1)},
				{Create: cost(7, 1), PlainCreate: cost(10, 1), Noop: cost(1, 1), PlainNoop: cost(4, 1), Unchanged: cost(0.4, 1)},
			}},
			Scheduler: &scheduler{Runs: []sim{{Parallel: 4, Makespan: 11, Bound: 10}}},
			Systems:   &systems{Counts: []systemsOf{{Systems: 200, Seconds: 0.5, MB: 100}}},
			Delivery: &deliveries{Counts: []delivery{
				{Systems: 3, All: arrival{Wall: 9}, MB: map[string]float64{"etcd": 60}},
				{Systems: 200, All: arrival{Wall: 90, CPU: 120}, Rest: 0.25, MB: map[string]float64{"etcd": 90}},
			}},
			Rebuild: &rebuilds{Latency: 1, Clusters: []rebuilt{ofRebuild(t, "teams", 60), ofRebuild(t, "mgmt", 90)}},
		},
		Before: &before{Commit: "0123abcd", taken: taken{Driver: &driver{Rounds: []round{
			{Create: cost(20, 1), PlainCreate: cost(10, 1), Noop: cost(6, 3), PlainNoop: cost(4, 1), Unchanged: cost(6, 1)},
		}}}},
	}
	text := string(m.markdown())
	for _, want := range []string{
		"| 1 | 20.0 s | 20.0 s | **1.00** |", "| 4 | 33.0 s | 30.0 s | **1.10** |",
		"| creating | **0.80** |", "| nothing to do, by the engine | **0.50** |", "| unchanged | **0.10** |", "| nothing to do, by the engine, of the plain CLI's time | 1.50 | **0.50** |", "| 4 | 0 | 0 | **1.10** |",
		"| 200 | 0.50 s | 2.5 ms | 100 MB |", "## Method",
		"\n| | 3 systems | 200 systems |\n|---|---:|---:|\n", "\n| etcd | 60 MB | 90 MB |\n", "\n| CPU at rest | 0.00 cores | 0.25 cores |\n",
		"\n| destroy | core | 1 min 0 s | 1 min 30 s |\n| up | verify | 9 s | 9 s |\n| all | | **1 min 9 s** | **1 min 39 s** |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the document lacks %q:\n%s", want, text)
		}
	}
	if svg := string(plot(m.Fleets, 2)); strings.Count(svg, "<polyline") != 3 || strings.Contains(svg, "NaN") {
		t.Errorf("the plot is\n%s", svg)
	}
}

// ofRebuild is a rebuild as its documents tell of it.
func ofRebuild(t *testing.T, cluster string, seconds float64) rebuilt {
	t.Helper()
	r := rebuilt{Cluster: cluster}
	err := r.read(fmt.Appendf(nil, `{"type":"rebuild-plan","cluster":"a"}
{"type":"rebuild-phase","operation":"destroy","part":"core","seconds":%v}
{"type":"rebuild-phase","operation":"up","part":"verify","seconds":9}
{"type":"rebuild","seconds":%v}
`, seconds, seconds+9))
	assert.NilError(t, err)
	return r
}

// TestRebuildWithoutTimes: what tells no times is no measurement.
func TestRebuildWithoutTimes(t *testing.T) {
	r := rebuilt{Cluster: "teams"}
	assert.ErrorContains(t, r.read([]byte(`{"type":"rebuild-plan"}`)), "told no times")
}
