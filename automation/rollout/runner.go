package rollout

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"tombolo/internal/wording"
)

// Work is what was done for one cluster.
type Work struct {
	// Phase is the last phase that was begun; "" when none was.
	Phase string
	// Changes counts what was changed, by what happened to it; nil when
	// they were not counted.
	Changes map[string]int
}

// Runner works on clusters by a Schedule. Operation and Work are required.
type Runner struct {
	// Operation is its name, for the journal and for people.
	Operation string
	// Parallel is how many clusters are worked on at a time. Default 1.
	Parallel int
	// Waves, Reverse and FailFast are those of ScheduleOptions.
	Waves, Reverse, FailFast bool
	// MaxFailures of the run's clusters: see ScheduleOptions. Default: nothing counts them.
	MaxFailures Failures
	// Hold says why a cluster whose turn has come is not to start now; nil for one that
	// may. Such a cluster is pending, and what waits for it is skipped. It is asked right
	// before the start. Default: every cluster may.
	Hold func(ctx context.Context, cluster string) error
	// Work works on one cluster. It is called from several goroutines, for
	// different clusters. Its context is Run's: when that is cancelled, it is to
	// end in good order, and nothing more is started.
	Work func(ctx context.Context, cluster string) (Work, error)
	// Gate says whether the clusters of a wave are healthy, before the next wave
	// starts. Default: the next wave starts at once.
	Gate func(ctx context.Context, wave int, clusters []string) error
	// Passed are waves whose gate an earlier run has passed.
	Passed []int
	// GateExpected is how long a gate is expected to take.
	GateExpected time.Duration
	// Observer of the run. Default: none.
	Observer Observer
	// Journal that the run is written to. Default: none.
	Journal *Journal
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// ended is the end of a step.
type ended struct {
	step Step
	work Work
	took time.Duration
	err  error
}

// run is one run of a Runner.
type run struct {
	*Runner
	schedule *Schedule
	jobs     []Job
	waves    map[string]int
	ends     map[string]End
	finished chan ended
	first    error
	held     error
	journal  error
}

// Run works on all jobs, and returns when nothing runs any more. Failures are in
// the summary; the error is only about the jobs themselves.
func (r Runner) Run(ctx context.Context, jobs []Job) (Summary, error) {
	schedule, err := NewSchedule(jobs, ScheduleOptions{
		Waves: r.Waves, Reverse: r.Reverse, FailFast: r.FailFast, MaxFailures: r.MaxFailures.Of(len(jobs)),
		Gates: r.Gate != nil, Passed: r.Passed, GateExpected: r.GateExpected,
	})
	if err != nil {
		return Summary{}, fmt.Errorf("%s: %w", r.Operation, err)
	}
	r.setDefaults()
	x := &run{
		Runner: &r, schedule: schedule, jobs: jobs,
		waves: map[string]int{}, ends: map[string]End{}, finished: make(chan ended),
	}
	for _, j := range jobs {
		x.waves[j.Cluster] = j.Wave
	}
	start := r.Now()
	r.Observer.RunStarted(Plan{Operation: r.Operation, Clusters: jobs, Parallel: r.Parallel, Waves: r.Waves})
	x.loop(ctx)
	summary := x.summary(r.Now().Sub(start))
	x.note(r.Journal.end(r.Now(), summary))
	summary.Journal = x.journal
	r.Observer.RunFinished(summary)
	return summary, nil
}

func (r *Runner) setDefaults() {
	r.Parallel = max(1, r.Parallel)
	if r.Now == nil {
		r.Now = time.Now
	}
	if r.Observer == nil {
		r.Observer = noObserver{}
	}
}

// loop starts steps and takes their ends, until nothing runs and nothing will.
// All that changes is changed here.
func (x *run) loop(ctx context.Context) {
	cancelled := ctx.Done()
	for {
		for ctx.Err() == nil && x.schedule.Running() < x.Parallel {
			step, ok := x.schedule.Next()
			if !ok {
				break
			}
			if err := x.hold(ctx, step); err != nil {
				x.pend(step, err)
				continue
			}
			x.start(ctx, step)
		}
		if x.schedule.Running() == 0 {
			return
		}
		select {
		case end := <-x.finished:
			x.finish(ctx, end)
		case <-cancelled:
			x.schedule.Stop()
			cancelled = nil
		}
	}
}

func (x *run) hold(ctx context.Context, step Step) error {
	if step.Cluster == "" || x.Hold == nil {
		return nil
	}
	return x.Hold(ctx, step.Cluster)
}

// pend leaves a cluster that is not to start now.
func (x *run) pend(step Step, err error) {
	if x.held == nil {
		x.held = err
	}
	skipped := x.schedule.Finish(step.ID, Pending)
	x.over(End{Cluster: step.Cluster, Wave: step.Wave, Outcome: Pending, Err: err})
	x.skip(skipped)
}

func (x *run) start(ctx context.Context, step Step) {
	begun := x.Now()
	if step.Cluster == "" {
		x.Observer.GateStarted(step.Wave, step.Gate)
	} else {
		x.Observer.ClusterStarted(step.Cluster)
		x.note(x.Journal.started(begun, step.Cluster))
	}
	go func() {
		e := ended{step: step}
		if step.Cluster == "" {
			e.err = x.Gate(ctx, step.Wave, step.Gate)
		} else {
			e.work, e.err = x.Work(ctx, step.Cluster)
		}
		e.took = x.Now().Sub(begun)
		x.finished <- e
	}()
}

func (x *run) finish(ctx context.Context, e ended) {
	outcome := Succeeded
	switch {
	case e.err != nil && ctx.Err() != nil:
		outcome = Interrupted
	case e.err != nil:
		outcome = Failed
	}
	if e.err != nil && x.first == nil {
		x.first = e.err
	}
	skipped := x.schedule.Finish(e.step.ID, outcome)
	if e.step.Cluster == "" {
		x.Observer.GateFinished(GateEnd{Wave: e.step.Wave, Duration: e.took, Err: e.err})
		x.note(x.Journal.gate(x.Now(), e.step.Wave, e.err))
	} else {
		x.over(End{
			Cluster: e.step.Cluster, Wave: e.step.Wave, Outcome: outcome, Phase: e.work.Phase,
			Changes: e.work.Changes, Duration: e.took, Err: e.err,
		})
	}
	x.skip(skipped)
}

func (x *run) skip(clusters []string) {
	for _, cluster := range clusters {
		_, by := x.schedule.Cluster(cluster)
		x.over(End{Cluster: cluster, Wave: x.waves[cluster], Outcome: Skipped, By: by})
	}
}

func (x *run) over(e End) {
	x.ends[e.Cluster] = e
	x.Observer.ClusterFinished(e)
	if e.Outcome != Skipped {
		x.note(x.Journal.finished(x.Now(), e))
	}
}

// note keeps the first reason why the journal could not be written. The work on
// clusters matters more than the record of it.
func (x *run) note(err error) {
	if x.journal == nil {
		x.journal = err
	}
}

func (x *run) summary(took time.Duration) Summary {
	s := Summary{Operation: x.Operation, Duration: took, First: cmp.Or(x.first, x.held)}
	by := ""
	if n := x.schedule.Exceeded(); n > 0 {
		by = fmt.Sprintf("%s failed, and --max-failures is %s", wording.Plural(n, "cluster", "clusters"), x.MaxFailures.String())
	}
	for _, j := range x.jobs {
		e, ok := x.ends[j.Cluster]
		if !ok {
			e = End{Cluster: j.Cluster, Wave: j.Wave, Outcome: Unstarted, By: by}
			if j.Done {
				e.Outcome, e.Earlier = Succeeded, true
			}
		}
		s.Clusters = append(s.Clusters, e)
	}
	return s
}

// gateChecks is how many clusters a gate asks at a time. A check waits and takes
// next to no work, but each has a token fetched and a few connections.
const gateChecks = 16

// Gate asks check for the health of each cluster of a wave, many at a time. Its
// error has the first cause, in the order of the clusters.
func Gate(check func(ctx context.Context, cluster string) error) func(context.Context, int, []string) error {
	return func(ctx context.Context, wave int, clusters []string) error {
		results := make([]error, len(clusters))
		places := make(chan struct{}, gateChecks)
		var group sync.WaitGroup
		for i, cluster := range clusters {
			places <- struct{}{}
			group.Go(func() {
				results[i] = check(ctx, cluster)
				<-places
			})
		}
		group.Wait()
		unhealthy := slices.DeleteFunc(results, func(err error) bool { return err == nil })
		if len(unhealthy) == 0 {
			return nil
		}
		return &GateError{Wave: wave, Unhealthy: len(unhealthy), Clusters: len(clusters), Err: unhealthy[0]}
	}
}

// GateError says that clusters of a wave are not healthy.
type GateError struct {
	// Wave that the gate comes after.
	Wave int
	// Unhealthy are how many of its Clusters are not healthy.
	Unhealthy, Clusters int
	// Err is the first cause, in the order of the clusters.
	Err error
}

func (e *GateError) Error() string {
	return fmt.Sprintf("gate after wave %d: %v", e.Wave, e.unhealthy())
}

// Unwrap returns the first cause.
func (e *GateError) Unwrap() error { return e.Err }

// unhealthy is the error without the gate.
func (e *GateError) unhealthy() error {
	return fmt.Errorf("%d of %d clusters are not healthy: %w", e.Unhealthy, e.Clusters, e.Err)
}
