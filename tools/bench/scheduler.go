package main

import (
	"container/heap"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"tombolo/automation/rollout"
)

// The fleet of the simulation: a hub for every 25 clusters, ten waves of a
// hundred, and one up in a hundred that fails.
const (
	simulatedClusters = 1000
	simulatedWaves    = 10
	spokesOfAHub      = 24
	failureRate       = 0.01
	deviation         = 0.1
	simulatedSeed     = 1
	mostWorkers       = 32 // the most that a run takes by default
)

// scheduler is what the scheduler alone costs, in simulated time.
type scheduler struct {
	Clusters int   `json:"clusters"`
	Waves    int   `json:"waves"`
	Samples  int   `json:"samples"`
	Runs     []sim `json:"runs"`
}

// sim is a simulated run with so many at a time, and its resumes.
type sim struct {
	Parallel int `json:"parallel"`
	// Attempts until every cluster was up, and Failures on the way.
	Attempts int `json:"attempts"`
	Failures int `json:"failures"`
	// Makespan and Bound of all attempts, in simulated seconds.
	Makespan float64 `json:"makespan"`
	Bound    float64 `json:"bound"`
	// Micros is the scheduler's own time for a cluster, all attempts together, and
	// Bytes the memory that a schedule takes for one.
	Micros float64 `json:"micros"`
	Bytes  float64 `json:"bytes"`
}

// measureScheduler runs the scheduler with the durations that were recorded, in
// no time: the clock jumps to the next end of a step.
func measureScheduler(recorded []time.Duration) (*scheduler, error) {
	if len(recorded) == 0 {
		return nil, errors.New("no durations were recorded: measure the clusters first")
	}
	out := &scheduler{Clusters: simulatedClusters, Waves: simulatedWaves, Samples: len(recorded)}
	for _, parallel := range []int{4, 16, mostWorkers} {
		s, err := simulate(recorded, parallel)
		if err != nil {
			return nil, err
		}
		out.Runs = append(out.Runs, s)
	}
	return out, nil
}

// simulated is a fleet with what each of its clusters takes.
type simulated struct {
	jobs    []rollout.Job
	takes   map[string]time.Duration
	chances *rand.Rand
}

func newSimulated(recorded []time.Duration) *simulated {
	f := &simulated{takes: map[string]time.Duration{}, chances: rand.New(rand.NewPCG(simulatedSeed, 0))}
	hub := ""
	for i := range simulatedClusters {
		name := fmt.Sprintf("c%04d", i)
		job := rollout.Job{Cluster: name, Wave: i * simulatedWaves / simulatedClusters}
		if i%(spokesOfAHub+1) == 0 {
			hub = name
		} else {
			job.After = []string{hub}
		}
		// What a cluster takes is not quite what it took.
		job.Expected = recorded[f.chances.IntN(len(recorded))]
		f.takes[name] = time.Duration(float64(job.Expected) * (1 - deviation + 2*deviation*f.chances.Float64()))
		f.jobs = append(f.jobs, job)
	}
	return f
}

// simulate brings the fleet up, and resumes until every cluster is.
func simulate(recorded []time.Duration, parallel int) (sim, error) {
	f := newSimulated(recorded)
	out := sim{Parallel: parallel}
	var own time.Duration
	for left := len(f.jobs); left > 0; out.Attempts++ {
		a, err := f.attempt(parallel)
		if err != nil {
			return out, err
		}
		if a.succeeded == 0 && a.failures == 0 {
			return out, fmt.Errorf("%d clusters are left, and none can start", left)
		}
		left -= a.succeeded
		own += a.own
		out.Bytes = max(out.Bytes, float64(a.bytes)/simulatedClusters)
		out.Failures += a.failures
		out.Makespan += a.makespan.Seconds()
		out.Bound += a.bound(parallel).Seconds()
	}
	out.Micros = float64(own.Microseconds()) / simulatedClusters
	return out, nil
}

// attempt is one run of the simulation.
type attempt struct {
	succeeded, failures int
	// own is the time that the scheduler took.
	own, makespan time.Duration
	// bytes that the schedule takes.
	bytes uint64
	// waves has the work that ran, by wave.
	waves map[int][]work
}

// attempt runs what is not done yet.
func (f *simulated) attempt(parallel int) (attempt, error) {
	a := attempt{waves: map[int][]work{}}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	s, err := rollout.NewSchedule(f.jobs, rollout.ScheduleOptions{Waves: true})
	a.own += time.Since(start)
	runtime.GC()
	runtime.ReadMemStats(&after)
	a.bytes = max(after.HeapAlloc, before.HeapAlloc) - before.HeapAlloc
	if err != nil {
		return a, err
	}
	done := map[string]bool{}
	chains := newChains(f.jobs)
	var running ends
	var now time.Duration
	for {
		for len(running) < parallel {
			start := time.Now()
			step, ok := s.Next()
			a.own += time.Since(start)
			if !ok {
				break
			}
			takes := f.takes[step.Cluster]
			a.waves[step.Wave] = append(a.waves[step.Wave], chains.add(step, takes))
			heap.Push(&running, end{at: now + takes, step: step})
		}
		if len(running) == 0 {
			break
		}
		e := heap.Pop(&running).(end)
		now = e.at
		outcome := rollout.Succeeded
		if f.chances.Float64() < failureRate {
			outcome = rollout.Failed
			a.failures++
		} else {
			done[e.step.Cluster] = true
			a.succeeded++
		}
		start := time.Now()
		s.Finish(e.step.ID, outcome)
		a.own += time.Since(start)
	}
	a.makespan = now
	for i := range f.jobs {
		f.jobs[i].Done = f.jobs[i].Done || done[f.jobs[i].Cluster]
	}
	return a, nil
}

// end is when a step will end.
type end struct {
	at   time.Duration
	step rollout.Step
}

// ends is a heap of them, the next first.
type ends []end

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i].at < e[j].at }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }

// Push is for container/heap.
func (e *ends) Push(x any) { *e = append(*e, x.(end)) }

// Pop is for container/heap.
func (e *ends) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}
