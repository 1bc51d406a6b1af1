package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// transcript is an observer that writes down what it is told.
type transcript struct{ lines []string }

func (o *transcript) say(format string, args ...any) {
	o.lines = append(o.lines, fmt.Sprintf(format, args...))
}

func (o *transcript) RunStarted(p Plan) {
	o.say("run %s of %d, %d at a time", p.Operation, len(p.Clusters), p.Parallel)
}
func (o *transcript) ClusterStarted(c string) { o.say("start %s", c) }
func (o *transcript) ClusterFinished(e End) {
	o.say("%s", strings.TrimSpace(fmt.Sprintf("end %s %s %s", e.Cluster, e.Outcome, e.Cause())))
}

func (o *transcript) GateStarted(wave int, clusters []string) {
	o.say("gate %d of %s", wave, strings.Join(clusters, " "))
}
func (o *transcript) GateFinished(e GateEnd) { o.say("gate %d: %v", e.Wave, e.Err) }
func (o *transcript) RunFinished(s Summary)  { o.say("over: %v", s.Err()) }

func TestRun(t *testing.T) {
	quota := errors.New("quota exceeded;\n ask for more")
	for name, test := range map[string]struct {
		jobs   []Job
		bad    map[string]error
		runner Runner
		want   []string
		first  error
	}{
		"all well": {
			jobs: []Job{job("a", 0, 0), job("b", 1, 0)}, runner: Runner{Waves: true},
			want: []string{
				"run up of 2, 1 at a time", "start a", "end a succeeded", "gate 0 of a", "gate 0: <nil>",
				"start b", "end b succeeded", "over: <nil>",
			},
		},
		"a failure in the first wave": {
			jobs: []Job{job("a", 0, 0), job("b", 0, 0), job("c", 1, 0)}, runner: Runner{Waves: true},
			bad: map[string]error{"a": quota}, first: quota,
			want: []string{
				"run up of 3, 1 at a time", "start a", "end a failed quota exceeded; ask for more",
				"end c skipped not started: a did not succeed", "start b", "end b succeeded",
				"over: up: 1 of 3 clusters succeeded, 1 failed, 1 skipped; first cause: quota exceeded; ask for more",
			},
		},
		"fail fast": {
			jobs: []Job{job("a", 0, 0), job("b", 0, 0)}, runner: Runner{FailFast: true},
			bad: map[string]error{"a": quota}, first: quota,
			want: []string{
				"run up of 2, 1 at a time", "start a", "end a failed quota exceeded; ask for more",
				"over: up: 0 of 2 clusters succeeded, 1 failed, 1 not started; first cause: quota exceeded; ask for more",
			},
		},
		"an unhealthy wave": {
			jobs: []Job{job("a", 0, 0), job("b", 1, 0)}, runner: Runner{Waves: true},
			bad: map[string]error{"gate": quota}, first: quota,
			want: []string{
				"run up of 2, 1 at a time", "start a", "end a succeeded", "gate 0 of a",
				"gate 0: gate after wave 0: 1 of 1 clusters are not healthy: quota exceeded;\n ask for more",
				"end b skipped not started: the gate after wave 0 did not succeed",
				"over: up: 1 of 2 clusters succeeded, 1 skipped; first cause: gate after wave 0: 1 of 1 clusters are not healthy: quota exceeded; ask for more",
			},
		},
		"one cluster": {
			jobs: []Job{job("a", 0, 0)}, bad: map[string]error{"a": quota}, first: quota,
			want: []string{
				"run up of 1, 1 at a time", "start a", "end a failed quota exceeded; ask for more",
				"over: quota exceeded;\n ask for more",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			said := &transcript{}
			r := test.runner
			r.Operation, r.Observer = "up", said
			r.Work = func(_ context.Context, name string) (Work, error) { return Work{Phase: "core"}, test.bad[name] }
			r.Gate = Gate(func(context.Context, string) error { return test.bad["gate"] })
			summary, err := r.Run(t.Context(), test.jobs)
			assert.NilError(t, err)
			assert.Check(t, slices.Equal(said.lines, test.want),
				"got:\n%s\nwant:\n%s", strings.Join(said.lines, "\n"), strings.Join(test.want, "\n"))
			assert.Check(t, errors.Is(summary.Err(), test.first), "the first cause is %v, want %v", summary.Err(), test.first)
		})
	}
}

// TestRunTogether has as many run as may, and no more: the first ones wait until
// all places are taken.
func TestRunTogether(t *testing.T) {
	const parallel = 4
	var mu sync.Mutex
	now, most := 0, 0
	full := make(chan struct{})
	enter := func(by int) {
		mu.Lock()
		defer mu.Unlock()
		now += by
		if now == parallel && most < parallel {
			close(full)
		}
		most = max(most, now)
	}
	work := func(ctx context.Context, _ string) (Work, error) {
		enter(+1)
		defer enter(-1)
		select {
		case <-full:
			return Work{}, nil
		case <-ctx.Done():
			return Work{}, errors.New("the others were not started")
		}
	}
	var jobs []Job
	for i := range 3 * parallel {
		jobs = append(jobs, job(fmt.Sprint("c", i), 0, 0))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	summary, err := Runner{Operation: "up", Parallel: parallel, Work: work}.Run(ctx, jobs)
	assert.Check(t, err == nil && summary.Err() == nil && most == parallel,
		"at most %d ran, want %d: %v, %v", most, parallel, err, summary.Err())
}

func TestRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	both := make(chan struct{})
	r := Runner{Operation: "up", Parallel: 2, Observer: &transcript{}, Work: func(ctx context.Context, name string) (Work, error) {
		if name == "a" {
			<-both // or b might not be started any more
			cancel()
		} else {
			close(both)
		}
		<-ctx.Done()
		if name == "b" {
			return Work{Changes: map[string]int{"create": 3}}, nil // was done as it was told
		}
		return Work{}, fmt.Errorf("up %s: interrupted: %w", name, ctx.Err())
	}}
	summary, err := r.Run(ctx, []Job{job("a", 0, 0), job("b", 0, 0), job("c", 0, 0), job("d", 1, 0, "a")})
	assert.NilError(t, err)
	var got []Outcome
	for _, e := range summary.Clusters {
		got = append(got, e.Outcome)
	}
	if want := []Outcome{Interrupted, Succeeded, Unstarted, Unstarted}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	assert.Check(t, errors.Is(summary.Err(), context.Canceled), "%v is no interruption", summary.Err())
	want := "up: 1 of 4 clusters succeeded, 1 interrupted, 2 not started; first cause: up a: interrupted: context canceled"
	assert.Check(t, summary.Err().Error() == want, "got %v, want %s", summary.Err(), want)
}

func TestRunInterruptedBeforeItBegins(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := Runner{Operation: "up", Work: func(context.Context, string) (Work, error) { return Work{}, errors.New("was started") }}
	summary, err := r.Run(ctx, []Job{job("a", 0, 0), job("b", 0, 0)})
	assert.Check(t, err == nil && errors.Is(summary.Err(), context.Canceled) && summary.Count(Unstarted) == 2,
		"got %v, %v", err, summary.Err())
}

func TestRunRefusesJobs(t *testing.T) {
	_, err := Runner{Operation: "up"}.Run(t.Context(), []Job{job("a", 0, 0), job("a", 0, 0)})
	assert.Error(t, err, "up: schedule: cluster a has two jobs")
}
