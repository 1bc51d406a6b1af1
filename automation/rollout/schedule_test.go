package rollout

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func schedule(t *testing.T, o ScheduleOptions, jobs ...Job) *Schedule {
	t.Helper()
	s, err := NewSchedule(jobs, o)
	assert.NilError(t, err)
	return s
}

func job(name string, wave, seconds int, after ...string) Job {
	return Job{Cluster: name, Wave: wave, Expected: time.Duration(seconds) * time.Second, After: after}
}

// named is a step as tests write it.
func named(s Step) string {
	if s.Cluster == "" {
		return fmt.Sprintf("gate %d of %s", s.Wave, strings.Join(s.Gate, " "))
	}
	return s.Cluster
}

// drain starts everything that may start, and returns it.
func drain(s *Schedule) (steps []Step, names []string) {
	for {
		step, ok := s.Next()
		if !ok {
			return steps, names
		}
		steps, names = append(steps, step), append(names, named(step))
	}
}

// rounds finishes all that runs before it asks for more, and says what started
// together. Steps of the names in bad fail.
func rounds(s *Schedule, bad ...string) []string {
	var out []string
	for {
		steps, names := drain(s)
		if len(steps) == 0 {
			return out
		}
		out = append(out, strings.Join(names, ", "))
		for _, step := range steps {
			outcome := Succeeded
			if slices.Contains(bad, named(step)) {
				outcome = Failed
			}
			s.Finish(step.ID, outcome)
		}
	}
}

func TestScheduleOrder(t *testing.T) {
	forward := ScheduleOptions{Waves: true}
	gated := ScheduleOptions{Waves: true, Gates: true}
	for name, test := range map[string]struct {
		jobs []Job
		o    ScheduleOptions
		bad  []string
		want []string
	}{
		"the longest first": {
			jobs: []Job{job("a", 0, 1), job("b", 0, 3), job("c", 0, 2)},
			want: []string{"b, c, a"},
		},
		"without durations as given": {
			jobs: []Job{job("b", 0, 0), job("a", 0, 0)},
			want: []string{"b, a"},
		},
		"a short hub of a long spoke first": {
			jobs: []Job{job("alone", 0, 5), job("hub", 0, 2), job("spoke", 0, 4, "hub")},
			want: []string{"hub, alone", "spoke"},
		},
		"a hub that has no job": {
			jobs: []Job{job("spoke", 0, 4, "hub")},
			want: []string{"spoke"},
		},
		"waves": {
			jobs: []Job{job("c", 7, 1), job("a", 0, 1), job("b", 3, 1)}, o: forward,
			want: []string{"a", "b", "c"},
		},
		"waves in reverse": {
			jobs: []Job{job("c", 7, 1), job("a", 0, 1), job("b", 3, 1)}, o: ScheduleOptions{Waves: true, Reverse: true},
			want: []string{"c", "b", "a"},
		},
		"gates, none after the last wave": {
			jobs: []Job{job("a", 0, 1), job("b", 0, 2), job("c", 1, 1)}, o: gated,
			want: []string{"b, a", "gate 0 of a b", "c"},
		},
		"a failure spares neighbours and skips the next wave": {
			jobs: []Job{job("a", 0, 1), job("b", 0, 1), job("c", 1, 1)}, o: gated, bad: []string{"a"},
			want: []string{"a, b"},
		},
		"a failed hub skips its spokes alone": {
			jobs: []Job{job("hub", 0, 1), job("spoke", 0, 1, "hub"), job("other", 0, 1)}, bad: []string{"hub"},
			want: []string{"hub, other"},
		},
		"a gate that stays shut": {
			jobs: []Job{job("a", 0, 1), job("b", 1, 1), job("c", 2, 1)}, o: gated, bad: []string{"gate 0 of a"},
			want: []string{"a", "gate 0 of a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := schedule(t, test.o, test.jobs...)
			got := rounds(s, test.bad...)
			assert.Check(t, slices.Equal(got, test.want), "got %q, want %q", got, test.want)
			assert.Check(t, s.Over(), "nothing runs and nothing will, and it is not over")
		})
	}
}

func TestScheduleFailure(t *testing.T) {
	s := schedule(t, ScheduleOptions{Waves: true, Gates: true},
		job("hub", 0, 3), job("spoke", 0, 1, "hub"), job("b", 0, 2), job("c", 1, 1), job("d", 2, 1))
	steps, _ := drain(s)
	if skipped := s.Finish(steps[0].ID, Failed); !slices.Equal(skipped, []string{"c", "d", "spoke"}) {
		t.Errorf("skipped %v", skipped)
	}
	assert.Check(t, !s.Over(), "b runs, and it is over")
	if skipped := s.Finish(steps[1].ID, Failed); len(skipped) > 0 {
		t.Errorf("skipped twice: %v", skipped)
	}
	for name, want := range map[string]string{
		"hub": "failed", "b": "failed", "spoke": "skipped hub", "c": "skipped hub", "d": "skipped hub", "e": "not started",
	} {
		o, by := s.Cluster(name)
		assert.Check(t, is.Equal(strings.TrimSpace(string(o)+" "+by), want), "%s", name)
	}
	assert.Check(t, s.Finish(steps[0].ID, Succeeded) == nil && s.Finish(99, Failed) == nil && s.Running() == 0,
		"a step that does not run was finished: %d run", s.Running())
}

func TestScheduleShutGateIsNamed(t *testing.T) {
	s := schedule(t, ScheduleOptions{Waves: true, Gates: true}, job("a", 4, 1), job("b", 5, 1))
	rounds(s, "gate 4 of a")
	o, by := s.Cluster("b")
	assert.Check(t, o == Skipped && by == "the gate after wave 4", "got %s by %q", o, by)
}

func TestScheduleStops(t *testing.T) {
	s := schedule(t, ScheduleOptions{FailFast: true}, job("a", 0, 2), job("b", 0, 1), job("c", 0, 1))
	a, _ := s.Next()
	b, _ := s.Next()
	s.Finish(a.ID, Failed)
	step, ok := s.Next()
	assert.Check(t, !ok, "after a failure %s started", step.Cluster)
	assert.Check(t, !s.Over(), "b runs, and it is over")
	s.Finish(b.ID, Succeeded)
	o, _ := s.Cluster("c")
	assert.Check(t, s.Over() && o == Unstarted, "over %v, c is %s", s.Over(), o)

	s = schedule(t, ScheduleOptions{}, job("a", 0, 2), job("b", 0, 1))
	a, _ = s.Next()
	s.Finish(a.ID, Interrupted)
	_, ok = s.Next()
	assert.Check(t, !ok && s.Over(), "an interrupted schedule goes on")
	o, _ = s.Cluster("a")
	assert.Check(t, o == Interrupted, "a is %s", o)
}

func TestScheduleGoesOn(t *testing.T) {
	done := func(j Job) Job { j.Done = true; return j }
	gated := ScheduleOptions{Waves: true, Gates: true}
	for name, test := range map[string]struct {
		o    ScheduleOptions
		jobs []Job
		want []string
	}{
		"one of the first wave": {
			gated,
			[]Job{done(job("a", 0, 9)), job("b", 0, 1), job("c", 1, 1)},
			[]string{"b", "gate 0 of a b", "c"},
		},
		"the gate": {
			gated,
			[]Job{done(job("a", 0, 1)), done(job("b", 0, 1)), job("c", 1, 1)},
			[]string{"gate 0 of a b", "c"},
		},
		"past the gate": {
			ScheduleOptions{Waves: true, Gates: true, Passed: []int{0}},
			[]Job{done(job("a", 0, 1)), done(job("b", 0, 1)), job("c", 1, 1), job("d", 1, 2)},
			[]string{"d, c"},
		},
		"without gates": {
			ScheduleOptions{Waves: true, Passed: []int{0}},
			[]Job{done(job("a", 0, 1)), job("c", 1, 1)},
			[]string{"c"},
		},
		"a spoke of a hub that is done": {
			ScheduleOptions{},
			[]Job{done(job("hub", 0, 1)), job("spoke", 0, 1, "hub")},
			[]string{"spoke"},
		},
		"nothing": {
			gated, []Job{done(job("a", 0, 1))}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := schedule(t, test.o, test.jobs...)
			got := rounds(s)
			assert.Check(t, slices.Equal(got, test.want) && s.Over(), "got %q, want %q; over %v", got, test.want, s.Over())
		})
	}
}

func TestScheduleRefuses(t *testing.T) {
	for want, jobs := range map[string][]Job{
		"schedule: cluster a has two jobs":                         {job("a", 0, 1), job("a", 1, 1)},
		"schedule: clusters wait for each other, b among them":     {job("a", 0, 1), job("b", 0, 1, "c"), job("c", 0, 1, "b")},
		"schedule: clusters wait for each other, spoke among them": {job("spoke", 0, 1, "hub"), job("hub", 1, 1)},
	} {
		_, err := NewSchedule(jobs, ScheduleOptions{Waves: true})
		assert.Check(t, err != nil && err.Error() == want, "got %v, want %s", err, want)
	}
}

// running is a heap of simulated steps by their end.
type simulated struct {
	end  time.Duration
	step Step
}
type clock []simulated

func (c clock) Len() int           { return len(c) }
func (c clock) Less(a, b int) bool { return c[a].end < c[b].end }
func (c clock) Swap(a, b int)      { c[a], c[b] = c[b], c[a] }
func (c *clock) Push(x any)        { *c = append(*c, x.(simulated)) }
func (c *clock) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// simulate runs a schedule on so many workers in simulated time.
func simulate(s *Schedule, workers int, fails func(Step) bool) time.Duration {
	var now time.Duration
	var busy clock
	for {
		for s.Running() < workers {
			step, ok := s.Next()
			if !ok {
				break
			}
			heap.Push(&busy, simulated{now + step.Expected, step})
		}
		if len(busy) == 0 {
			return now
		}
		first := heap.Pop(&busy).(simulated)
		now = first.end
		outcome := Succeeded
		if fails(first.step) {
			outcome = Failed
		}
		s.Finish(first.step.ID, outcome)
	}
}

// TestMakespan holds the end of a thousand clusters in ten waves to what the
// waves allow: for each, its longest chain, or its work over the workers.
func TestMakespan(t *testing.T) {
	const workers = 32
	random := rand.New(rand.NewPCG(1, 2))
	var jobs []Job
	var bound time.Duration
	for wave := range 10 {
		var work, chain time.Duration
		hub := ""
		for i := range 100 {
			j := job(fmt.Sprintf("c-%d-%d", wave, i), wave, 300+random.IntN(1200))
			longest := j.Expected
			if i%20 == 0 {
				hub = j.Cluster
			} else if i%4 == 0 {
				j.After = []string{hub}
				longest += jobs[slices.IndexFunc(jobs, func(o Job) bool { return o.Cluster == hub })].Expected
			}
			jobs, work, chain = append(jobs, j), work+j.Expected, max(chain, longest)
		}
		bound += max(chain, work/workers)
	}
	s := schedule(t, ScheduleOptions{Waves: true}, jobs...)
	got := simulate(s, workers, func(Step) bool { return false })
	t.Logf("makespan %s, bound %s, ratio %.3f", got, bound, got.Seconds()/bound.Seconds())
	assert.Check(t, got >= bound && got.Seconds() <= 1.15*bound.Seconds(), "makespan %s, bound %s", got, bound)
}

// TestResumedSimulation fails every fiftieth cluster at its first attempt, and
// goes on until all is done.
func TestResumedSimulation(t *testing.T) {
	var jobs []Job
	for i := range 1000 {
		jobs = append(jobs, job(fmt.Sprintf("c-%d", i), i/100, 1))
	}
	failedOnce := map[string]bool{}
	attempts, starts := 0, 0
	for slices.ContainsFunc(jobs, func(j Job) bool { return !j.Done }) {
		attempts++
		assert.Assert(t, attempts <= 11, "not done after %d attempts", attempts)
		s := schedule(t, ScheduleOptions{Waves: true}, jobs...)
		simulate(s, 10, func(step Step) bool {
			starts++
			fails := strings.HasSuffix(step.Cluster, "50") && !failedOnce[step.Cluster]
			failedOnce[step.Cluster] = failedOnce[step.Cluster] || fails
			return fails
		})
		for i := range jobs {
			o, _ := s.Cluster(jobs[i].Cluster)
			jobs[i].Done = o == Succeeded
		}
	}
	assert.Check(t, attempts == 11 && starts == 1010,
		"%d attempts with %d starts, want one for each of the ten waves and a last, and every failure alone again", attempts, starts)
}

func BenchmarkSchedule(b *testing.B) {
	var jobs []Job
	for i := range 1000 {
		jobs = append(jobs, job(fmt.Sprintf("c-%d", i), i/100, 1+i%17))
	}
	for b.Loop() {
		s, err := NewSchedule(jobs, ScheduleOptions{Waves: true, Gates: true})
		assert.NilError(b, err)
		simulate(s, 16, func(Step) bool { return false })
	}
}
