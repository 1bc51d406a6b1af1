package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tombolo/automation"
	"tombolo/automation/health"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/notice"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// Session is a driver, and the view of what it does.
type Session[D any] struct {
	Driver   D
	Progress *render.Progress
	fleet    *Fleet
}

// As is the session for another operation of the same command, such as a change after a
// look.
func (s *Session[D]) As(o Operation) *Session[D] {
	f := *s.fleet
	f.Operation = o
	return &Session[D]{Driver: s.Driver, Progress: s.Progress, fleet: &f}
}

// With opens the driver, shows its progress, and calls do with both.
func With[D any](ctx context.Context, f *Fleet, open func(context.Context, automation.Observer) (D, error),
	do func(*Session[D]) error,
) error {
	return factory.With(ctx, f.Progress, open, func(driver D, p *render.Progress) error {
		return do(&Session[D]{Driver: driver, Progress: p, fleet: f})
	})
}

// Tasks are what a run consists of.
type Tasks struct {
	// Work works on one cluster.
	Work func(context.Context, Terminal, *config.Cluster) (rollout.Work, error)
	// Gate asks for the health of one cluster before the next wave starts; nil
	// for none.
	Gate func(context.Context, *config.Cluster) error
	// Health asks whether a cluster that passed the gate is still healthy, while its wave
	// bakes.
	Health func(context.Context, *config.Cluster) error
	// Changes says that the work changes a cluster, so that it is held to the cluster's
	// change windows; nil for work that changes none. It is asked outside of them only.
	Changes func(context.Context, *config.Cluster) bool
}

// bakePatience is how long a cluster that bakes may take to be ready again: as long as the
// engine takes to go through a commit that changes little.
const bakePatience = time.Minute

// verifier waits until a cluster is healthy.
type verifier interface {
	Verify(context.Context, *config.Cluster, health.Options) (health.Verification, error)
}

// Gated adds the checks between waves that the flags of AddGateFlags ask for.
func (f *Fleet) Gated(t Tasks, driver verifier) Tasks {
	if f.NoGate {
		return t
	}
	within := func(timeout time.Duration) func(context.Context, *config.Cluster) error {
		return func(ctx context.Context, c *config.Cluster) error {
			_, err := driver.Verify(ctx, c, health.Options{Timeout: timeout})
			return err
		}
	}
	t.Gate, t.Health = within(f.GateTimeout), within(min(bakePatience, f.GateTimeout))
	return t
}

// Run works on clusters in the order of the command's operation, and shows the result
// of each. For a single cluster it returns that cluster's error, for several an error
// with the first cause.
func (s *Session[D]) Run(ctx context.Context, all []*config.Cluster, t Tasks) error {
	f := s.fleet
	jobs, journal, err := f.prepare(all)
	if err != nil {
		return err
	}
	defer journal.Close()
	runner, out := s.runner(all, t, f.Operation)
	runner.Journal, runner.Hold = journal, f.hold(all, t, journal)
	if f.Operation.Changes { // a look at clusters goes on to the last one
		runner.MaxFailures = f.MaxFailures
	}
	if f.resumed != nil {
		runner.Passed = f.resumed.Passed
	}
	notices := f.notices(ctx, all)
	summary, err := runner.Run(ctx, jobs)
	if err != nil {
		return err
	}
	s.Progress.Interlude(func() { err = out.end(summary) })
	notices.Send(ctx, notice.OfFleet(all, summary))
	if err != nil {
		return err
	}
	if summary.Journal != nil {
		f.Status().Failed("%s; the run continued, and --resume may repeat some of it", summary.Journal)
	}
	err = summary.Err()
	if of := new(rollout.RunError); errors.As(err, &of) && f.Operation.Undoing != "" {
		of.Remedy = fmt.Sprintf("`tombolo %s --resume` continues with the rest", f.Operation.Name)
	}
	return err
}

// notices tell channels how the run has ended; nil when it changes no cluster. A destruction may take
// away the stack that keeps a channel's address.
func (f *Fleet) notices(ctx context.Context, all []*config.Cluster) *notice.Sender {
	if !f.Operation.Changes {
		return nil
	}
	sender := f.Notices()
	if f.Operation.Order == rollout.Reverse {
		sender.Prepare(ctx, all)
	}
	return sender
}

// Look works on all clusters at once before the run, and returns the first failure.
func (s *Session[D]) Look(ctx context.Context, name string, all []*config.Cluster, t Tasks) error {
	look := Operation{Name: name, Order: rollout.Free}
	runner, out := s.runner(all, t, look)
	summary, err := runner.Run(ctx, rollout.Jobs(all, look.Order, nil))
	if err != nil {
		return err
	}
	s.Progress.Interlude(func() { err = out.writeTexts(summary) })
	return errors.Join(err, summary.Err())
}

// runner is a runner for the clusters, and where their work writes.
func (s *Session[D]) runner(all []*config.Cluster, t Tasks, o Operation) (rollout.Runner, *output) {
	f := s.fleet
	out := &output{fleet: f, progress: s.Progress, alone: len(all) == 1, texts: map[string]string{}}
	byName := map[string]*config.Cluster{}
	for _, c := range all {
		byName[c.Name] = c
	}
	r := rollout.Runner{
		Operation: o.Name, Parallel: f.parallel(), FailFast: f.FailFast,
		Waves: o.Order != rollout.Free, Reverse: o.Order == rollout.Reverse,
		Observer: traced{s.Progress, f.Trace()},
		Work: func(ctx context.Context, name string) (rollout.Work, error) {
			terminal, flush := out.terminal(name)
			defer flush()
			return t.Work(ctx, terminal, byName[name])
		},
	}
	if t.Gate != nil {
		r.Gate = rollout.Gate(func(ctx context.Context, name string) error { return t.Gate(ctx, byName[name]) })
		r.Gate = s.baked(r.Gate, t, byName)
	}
	return r, out
}

// baked is the gate with the bake after it.
func (s *Session[D]) baked(gate func(context.Context, int, []string) error, t Tasks, byName map[string]*config.Cluster) func(context.Context, int, []string) error {
	f := s.fleet
	if f.Bake <= 0 || t.Health == nil {
		return gate
	}
	b := f.Baking
	b.For = f.Bake
	b.Check = rollout.Gate(func(ctx context.Context, name string) error { return t.Health(ctx, byName[name]) })
	b.Began = func(wave int, names []string, until time.Time) {
		s.Progress.Interlude(func() {
			f.Status().Doing("wave %d bakes until %s: %s", wave, until.Local().Format(time.TimeOnly), clusters.Listed(names))
		})
	}
	return b.After(gate)
}

// Enter refuses a run that is to change clusters of which one of the first wave is outside
// of its change windows. The others are judged when their turn comes.
func (f *Fleet) Enter(changed []*config.Cluster) error {
	first := changed[:0:0]
	for _, c := range changed {
		if f.resumed != nil && f.resumed.Ends[c.Name].Outcome == rollout.Succeeded {
			continue
		}
		switch {
		case len(first) == 0 || c.Wave == first[0].Wave:
			first = append(first, c)
		case (c.Wave < first[0].Wave) != (f.Operation.Order == rollout.Reverse):
			first = append(first[:0:0], c)
		}
	}
	if f.Reason != "" {
		first = changed
	}
	return f.Guard.Enter(f.Status(), first)
}

// hold leaves clusters that are to be changed and whose turn comes outside of their change
// windows.
func (f *Fleet) hold(all []*config.Cluster, t Tasks, journal *rollout.Journal) func(context.Context, string) error {
	if t.Changes == nil {
		return nil
	}
	return func(ctx context.Context, name string) error {
		c := all[slices.IndexFunc(all, func(c *config.Cluster) bool { return c.Name == name })]
		if c.Closed(f.Time()) == "" || !t.Changes(ctx, c) {
			return nil
		}
		return f.Admit(c, journal)
	}
}

// prepare puts clusters into the operation's order, and starts the journal, or
// continues it.
func (f *Fleet) prepare(all []*config.Cluster) ([]rollout.Job, *rollout.Journal, error) {
	if !f.Operation.Changes {
		return rollout.Jobs(all, f.Operation.Order, nil), nil, nil
	}
	journals, err := f.Journals()
	if err != nil {
		return nil, nil, err
	}
	expected, err := journals.Expected(f.Operation.Name)
	if err != nil {
		return nil, nil, unwritable(err)
	}
	jobs := rollout.Jobs(all, f.Operation.Order, expected)
	if f.resumed != nil {
		return f.resume(journals, jobs)
	}
	root, err := f.Root()
	if err != nil {
		return nil, nil, err
	}
	h := rollout.Header{Operation: f.Operation.Name, Selection: f.Selection, Options: f.options()}
	if err := h.SetClusters(root, all); err != nil {
		return nil, nil, err
	}
	journal, err := journals.Begin(h)
	if err != nil {
		return nil, nil, unwritable(err)
	}
	return jobs, journal, nil
}

// resume marks the clusters that the resumed run has finished.
func (f *Fleet) resume(journals rollout.Journals, jobs []rollout.Job) ([]rollout.Job, *rollout.Journal, error) {
	journal, err := journals.Resume(*f.resumed)
	if err != nil {
		return nil, nil, err
	}
	left := 0
	for i, j := range jobs {
		jobs[i].Done = f.resumed.Ends[j.Cluster].Outcome == rollout.Succeeded
		if !jobs[i].Done {
			left++
		}
	}
	f.Status().Doing("resuming %s of %s: %d of %d clusters left",
		f.Operation.Name, f.resumed.Started.Local().Format(time.DateTime), left, len(jobs))
	return jobs, journal, nil
}
