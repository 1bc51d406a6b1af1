package rollout

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"tombolo/config"
)

// TestFleetChangesSafely runs a thousand simulated clusters again and again until all are up,
// with failures, gates that stay shut, bakes, and change windows over midnight around days on
// which clocks change. Every start is held to what came before it.
func TestFleetChangesSafely(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newSimulatedFleet(t, seed).run() })
		})
	}
}

// simulatedFleet is a fleet whose work takes simulated time, and what is known of it.
type simulatedFleet struct {
	t        *testing.T
	random   *rand.Rand
	clusters map[string]*config.Cluster
	all      []*config.Cluster
	order    Order
	// before has, by wave, the wave that comes right before it in the order.
	before map[int]int
	runner Runner
	bake   time.Duration

	mu sync.Mutex
	// failures that are left: so many of a cluster's work, and of gates and bakes.
	failures map[string]int
	unwell   int
	// done are the clusters that are up; healthy when a gate and its bake saw each last.
	done    map[string]bool
	healthy map[string]time.Time
	passed  []int
	// of the attempt: what runs, has failed or was skipped, and failed alone.
	running, ended map[string]bool
	failed         int
	// looked is when the health of a wave was asked for last.
	looked map[int]time.Time
}

// simulatedZones have clocks that change in the year in which simulated time begins, and
// one whose clocks do not.
var simulatedZones = []string{"Europe/Berlin", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu"}

func newSimulatedFleet(t *testing.T, seed uint64) *simulatedFleet {
	t.Helper()
	f := &simulatedFleet{
		t: t, random: rand.New(rand.NewPCG(seed, 49)), clusters: map[string]*config.Cluster{}, order: Forward, before: map[int]int{},
		failures: map[string]int{}, done: map[string]bool{}, healthy: map[string]time.Time{}, looked: map[int]time.Time{},
	}
	if seed%4 == 3 {
		f.order = Reverse
	}
	waves := 1 + f.random.IntN(10)
	hub := ""
	for i := range 1000 {
		c := cluster(fmt.Sprintf("c-%d", i), i*waves/1000, "", nil)
		switch i % 20 {
		case 0:
			hub = c.Name
		case 5, 10, 15:
			c = cluster(c.Name, c.Wave, hub, nil)
		}
		c.ChangeWindows = f.windows(seed)
		f.all, f.clusters[c.Name] = append(f.all, c), c
		if f.random.IntN(20) == 0 {
			f.failures[c.Name] = 1 + f.random.IntN(2)
		}
	}
	for wave := range waves {
		f.before[wave] = wave - 1
		if f.order == Reverse {
			f.before[wave] = wave + 1
		}
	}
	f.unwell = f.random.IntN(4)
	f.runner = Runner{
		Operation: "up", Parallel: 1 + f.random.IntN(64), Waves: true, Reverse: f.order == Reverse,
		Work: f.work, Hold: f.hold, Observer: f, Gate: Gate(f.healthOf),
	}
	f.runner.MaxFailures = []Failures{{}, {Given: true}, {Given: true, Number: 7}, {Given: true, Number: 2, Percent: true}}[f.random.IntN(4)]
	if f.bake = time.Duration(f.random.IntN(3)) * 25 * time.Minute; f.bake > 0 {
		f.runner.Gate = Bake{For: f.bake, Check: Gate(f.healthOf)}.After(f.runner.Gate)
	}
	gate := f.runner.Gate
	f.runner.Gate = func(ctx context.Context, wave int, clusters []string) error {
		began := time.Now()
		err := gate(ctx, wave, clusters)
		if err == nil {
			f.pass(wave, clusters, began)
		}
		return err
	}
	return f
}

// windows are those of a cluster: of every second fleet, and of most of its clusters.
func (f *simulatedFleet) windows(seed uint64) []config.ChangeWindow {
	if seed%2 == 0 || f.random.IntN(4) == 0 {
		return nil
	}
	w := config.ChangeWindow{From: "22:00", To: "04:00", TimeZone: simulatedZones[f.random.IntN(len(simulatedZones))]}
	if f.random.IntN(3) == 0 {
		w.From, w.To = "02:30", "02:30"
	}
	for _, day := range []config.Day{config.Monday, config.Tuesday, config.Wednesday, config.Thursday, config.Friday, config.Saturday, config.Sunday} {
		if f.random.IntN(5) > 0 || day == config.Sunday {
			w.Days = append(w.Days, day)
		}
	}
	return []config.ChangeWindow{w}
}

// run resumes until all clusters are done. It begins a day or two before clocks change: in
// 2000 those of Europe did on March 26, those of America on April 2.
func (f *simulatedFleet) run() {
	start := time.Date(2000, 3, 24+f.random.IntN(9), f.random.IntN(24), f.random.IntN(60), 0, 0, time.UTC)
	time.Sleep(time.Until(start))
	const most = 300 // far more than there are failures and nights with windows
	for attempt := 1; ; attempt++ {
		pending := f.attempt()
		if f.t.Failed() || len(f.done) == len(f.all) {
			f.t.Logf("%d attempts, %s", attempt, time.Since(start))
			return
		}
		assert.Assert(f.t, attempt != most, "%d of %d clusters are done after %d attempts", len(f.done), len(f.all), most)
		f.wait(pending)
	}
}

// wait lets time go by until a pending cluster may be changed.
func (f *simulatedFleet) wait(pending []string) {
	next := time.Now().Add(time.Minute)
	for i, name := range pending {
		if s := f.clusters[name].WindowAt(time.Now()); i == 0 || s.Opens.Before(next) {
			next = s.Opens
		}
	}
	time.Sleep(max(time.Minute, time.Until(next)))
}

// attempt runs what is not done, and returns what is pending.
func (f *simulatedFleet) attempt() (pending []string) {
	f.running, f.ended, f.failed = map[string]bool{}, map[string]bool{}, 0
	jobs := Jobs(f.all, f.order, func(string) time.Duration { return 20 * time.Minute })
	for i := range jobs {
		jobs[i].Done = f.done[jobs[i].Cluster]
	}
	r := f.runner
	r.Passed = slices.Clone(f.passed)
	summary, err := r.Run(f.t.Context(), jobs)
	assert.NilError(f.t, err)
	assert.Check(f.t, len(summary.Clusters) == len(f.all), "the summary has %d of %d clusters", len(summary.Clusters), len(f.all))
	for _, e := range summary.Clusters {
		assert.Check(f.t, (e.Outcome == Succeeded) == f.done[e.Cluster],
			"%s is %s, and done is %t", e.Cluster, e.Outcome, f.done[e.Cluster])
		if e.Outcome == Pending {
			pending = append(pending, e.Cluster)
		}
	}
	return pending
}

func (f *simulatedFleet) hold(_ context.Context, name string) error {
	if closed := f.clusters[name].Closed(time.Now()); closed != "" {
		return errors.New(name + " " + closed)
	}
	return nil
}

// work is on a cluster for up to forty minutes.
func (f *simulatedFleet) work(_ context.Context, name string) (Work, error) {
	f.mu.Lock()
	f.begins(f.clusters[name])
	f.running[name] = true
	takes := time.Duration(1+f.random.IntN(40)) * time.Minute
	f.mu.Unlock()
	time.Sleep(takes)
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.running, name)
	if f.failures[name] > 0 {
		f.failures[name]--
		f.failed++
		if limit := f.limit(); limit != nil && f.failed > *limit+1 {
			f.t.Errorf("%d clusters failed, %s were allowed", f.failed, f.runner.MaxFailures.String())
		}
		return Work{}, errors.New("no quota")
	}
	f.done[name] = true
	return Work{}, nil
}

func (f *simulatedFleet) limit() *int { return f.runner.MaxFailures.Of(len(f.all)) }

// begins holds a start to all that comes before it.
func (f *simulatedFleet) begins(c *config.Cluster) {
	if limit := f.limit(); limit != nil && f.failed > *limit {
		f.t.Errorf("%s begins after %d failures", c.Name, f.failed)
	}
	assert.Check(f.t, !f.done[c.Name] && !f.running[c.Name], "%s begins again", c.Name)
	assert.Check(f.t, c.WindowAt(time.Now()).Open, "%s begins at %s, outside of %+v", c.Name, time.Now(), c.ChangeWindows)
	for _, other := range f.all {
		switch {
		case f.order == Forward && c.HasHubFile() && other.Name == c.Hub(), f.order == Reverse && other.HasHubFile() && other.Hub() == c.Name:
			assert.Check(f.t, f.done[other.Name], "%s begins before %s is done", c.Name, other.Name)
		}
		if other.Wave != f.before[c.Wave] {
			continue
		}
		switch seen := f.healthy[other.Name]; {
		case f.done[other.Name] && seen.IsZero():
			f.t.Errorf("%s of wave %d begins before the gate has seen %s of wave %d", c.Name, c.Wave, other.Name, other.Wave)
		case !f.done[other.Name] && (!f.ended[other.Name] || !f.runner.MaxFailures.Given):
			f.t.Errorf("%s of wave %d begins before %s of wave %d is over", c.Name, c.Wave, other.Name, other.Wave)
		}
	}
}

// healthOf takes a while, and finds something a few times.
func (f *simulatedFleet) healthOf(_ context.Context, name string) error {
	f.mu.Lock()
	ill := f.unwell > 0 && f.random.IntN(2000) == 0
	if ill {
		f.unwell--
	}
	wave := f.clusters[name].Wave
	f.looked[wave] = time.Now()
	f.mu.Unlock()
	if ill {
		return errors.New("not ready")
	}
	return nil
}

// pass takes a gate that was passed: the wave has baked, and was looked at until the end.
func (f *simulatedFleet) pass(wave int, clusters []string, began time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if took := now.Sub(began); took < f.bake || !f.looked[wave].Equal(now) {
		f.t.Errorf("wave %d has baked for %s of %s, and was looked at %s before", wave, took, f.bake, now.Sub(f.looked[wave]))
	}
	for _, name := range clusters {
		f.healthy[name] = now
	}
}

// RunStarted is for Observer.
func (f *simulatedFleet) RunStarted(Plan) {}

// ClusterStarted is for Observer.
func (f *simulatedFleet) ClusterStarted(string) {}

// ClusterFinished knows what will not be done in this attempt.
func (f *simulatedFleet) ClusterFinished(e End) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Outcome == Failed || e.Outcome == Skipped {
		f.ended[e.Cluster] = true
	}
}

// GateStarted is for Observer.
func (f *simulatedFleet) GateStarted(int, []string) {}

// GateFinished keeps gates as a journal does.
func (f *simulatedFleet) GateFinished(e GateEnd) {
	if e.Err == nil {
		f.passed = append(f.passed, e.Wave)
	}
}

// RunFinished is for Observer.
func (f *simulatedFleet) RunFinished(Summary) {}
