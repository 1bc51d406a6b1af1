package bench

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"gotest.tools/v3/assert"

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

// recorded are the durations of ups that BenchmarkFleet took, on 2026-11-27, of fleets of one and
// of four.
var recorded = []time.Duration{
	32182 * time.Millisecond, 47213 * time.Millisecond, 47706 * time.Millisecond, 48957 * time.Millisecond, 47814 * time.Millisecond,
}

// BenchmarkScheduler is what the scheduler alone costs, in simulated time: the clock jumps to the
// next end of a step.
func BenchmarkScheduler(b *testing.B) {
	ofThisCommit(b)
	for _, parallel := range []int{4, 16, mostWorkers} {
		b.Run(fmt.Sprintf("parallel=%d", parallel), func(b *testing.B) {
			var s sim
			var own time.Duration
			for b.Loop() {
				var err error
				s, err = simulate(parallel)
				assert.NilError(b, err)
				own += s.own
			}
			b.ReportMetric(float64(own.Nanoseconds())/float64(b.N)/simulatedClusters, "ns/cluster")
			b.ReportMetric(s.makespan.Seconds()/s.bound.Seconds(), "makespan/bound")
			b.ReportMetric(float64(s.attempts), "attempts")
			b.ReportMetric(float64(s.failures), "failures")
		})
	}
}

// TestSimulation: the fleet comes up by resumes, close to what the work allows.
func TestSimulation(t *testing.T) {
	for _, parallel := range []int{4, 16, mostWorkers} {
		s, err := simulate(parallel)
		assert.NilError(t, err)
		assert.Check(t, s.failures > 0 && s.attempts > 1, "%d at a time: %d failures in %d attempts", parallel, s.failures, s.attempts)
		ratio := s.makespan.Seconds() / s.bound.Seconds()
		assert.Check(t, ratio >= 1 && ratio <= 1.1, "%d at a time: makespan is %.2f times the bound", parallel, ratio)
	}
}

// simulated is a fleet with what each of its clusters takes.
type simulated struct {
	jobs    []rollout.Job
	takes   map[string]time.Duration
	chances *rand.Rand
}

func newSimulated() *simulated {
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

// sim is a simulated run with so many at a time, and its resumes.
type sim struct {
	// attempts until every cluster was up, and failures on the way.
	attempts, failures int
	// makespan and bound of all attempts, in simulated time; own is the scheduler's, in real time.
	makespan, bound, own time.Duration
}

// simulate brings the fleet up, and resumes until every cluster is.
func simulate(parallel int) (out sim, err error) {
	f := newSimulated()
	for left := len(f.jobs); left > 0; out.attempts++ {
		a, err := f.attempt(parallel)
		if err != nil {
			return out, err
		}
		if a.succeeded == 0 && a.failures == 0 {
			return out, fmt.Errorf("%d clusters are left, and none can start", left)
		}
		left -= a.succeeded
		out.failures += a.failures
		out.own += a.own
		out.makespan += a.makespan
		out.bound += a.bound(parallel)
	}
	return out, nil
}

// attempt is one run of the simulation.
type attempt struct {
	succeeded, failures int
	// own is the time that the scheduler took.
	own, makespan time.Duration
	// waves has the work that ran, by wave.
	waves map[int][]work
}

// attempt runs what is not done yet.
func (f *simulated) attempt(parallel int) (attempt, error) {
	a := attempt{waves: map[int][]work{}}
	start := time.Now()
	s, err := rollout.NewSchedule(f.jobs, rollout.ScheduleOptions{Waves: true})
	a.own += time.Since(start)
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
