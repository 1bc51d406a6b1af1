package automation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"

	"tombolo/automation/approval"
	"tombolo/automation/approved"
	"tombolo/automation/backend"
	"tombolo/automation/hubs"
	"tombolo/automation/lastup"
	"tombolo/automation/operation"
	"tombolo/automation/own"
	"tombolo/automation/preflight"
	"tombolo/automation/preview"
	"tombolo/automation/pulumicli"
	"tombolo/automation/step"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// Up makes the cluster what its file says: core, then bootstrap, which takes
// core's outputs, and own stacks in their places. Both stacks of a deployed cluster are previewed first, at the
// same time, and a stack that would stay as it is is left alone. Up stops at the
// first failure and can simply be run again; it tries again itself, twice, when
// all causes go away by themselves, such as throttling. What was made without an
// answer is found and adopted.
// A cluster of which nothing has changed since its last up is left as it is, without a start of
// the engine: see Unchanged. So is core, when nothing of what it depends on has changed.
// Placeholders are never used: bootstrap refuses to run without core's
// outputs.
func (d *Driver) Up(ctx context.Context, c *config.Cluster, o UpOptions) (Result, error) {
	first, err := d.own().Of(c)
	if err != nil {
		return Result{Cluster: c.Name}, err
	}
	u := &up{
		run: d.newRun(c), options: o, own: first,
		core:      &stackUp{driver: d, cluster: c, kind: stacks.Core, options: o},
		bootstrap: &stackUp{driver: d, cluster: c, kind: stacks.Bootstrap, options: o},
	}
	if o.usesRecord() {
		u.since = d.records().Compare(ctx, c).Parsed(c)
	}
	if u.since.Outcome == lastup.AllEqual && len(u.own) == 0 {
		return u.leave()
	}
	return u.end(step.Run(ctx, u.steps(), o.began))
}

// usesRecord says that the up may leave alone what is unchanged since the last one.
func (o UpOptions) usesRecord() bool { return !o.Force && o.forecasts() }

// forecasts says that the up finds out itself whether it would change anything.
func (o UpOptions) forecasts() bool { return !o.Refresh && !o.Previewed && o.Approved == nil }

// up is one under way.
type up struct {
	*run
	options UpOptions
	// since is what has changed since the last up, and snapshot what the states tell.
	since    lastup.Diff
	snapshot snapshot
	// core and bootstrap are the ups of both stacks, and record that of the whole.
	core, bootstrap *stackUp
	record          *lastup.Record
	// own are the own stacks of the cluster, and ownChanged says that one before bootstrap has changed.
	own        []config.OwnStack
	ownChanged bool
}

// steps of the up. An up of what was approved compares core before anything is touched, and bootstrap with what
// core has decided; another one previews both stacks itself, unless that is known already.
func (u *up) steps() []step.Step {
	checks := []step.Step{
		{Name: "check what the programs need", Do: u.prepare},
		{Name: "mend the states", Do: u.mend},
		{Name: "read what is deployed", Do: u.read},
		{Name: "check the way to the Kubernetes API", Do: u.requireReach},
		{Name: "check the hub", Do: u.requireHub},
	}
	begin := []step.Step{
		{Name: "forget the last up", Do: u.forget},
		{Name: "wait for addons that are turned off", Do: u.awaitTurnedOff},
		{Name: "say what the changes do", Do: u.noteEffects},
	}
	begin = append(begin, u.ownSteps(config.BeforeCore)...)
	core := append([]step.Step{{Name: string(stacks.Core), Part: true, Do: u.makeCore}}, u.ownSteps(config.AfterCore)...)
	bootstrap := step.Step{Name: string(stacks.Bootstrap), Part: true, Do: u.makeBootstrap}
	end := append(u.ownSteps(config.AfterBootstrap), []step.Step{
		{Name: "record the up", Do: u.recordUp},
		{Name: "end the rebuild", Do: u.endRebuild},
	}...)
	switch {
	case u.options.Approved != nil:
		return slices.Concat(checks, []step.Step{{Name: "compare core with the plan", Do: u.core.compare}}, begin,
			core, []step.Step{{Name: "compare bootstrap with the plan", Do: u.bootstrap.compare}, bootstrap}, end)
	case u.options.forecasts():
		return slices.Concat(checks, begin, []step.Step{{Name: "preview both stacks", Do: u.forecast}}, core, []step.Step{bootstrap}, end)
	}
	return slices.Concat(checks, begin, core, []step.Step{bootstrap}, end)
}

// ownSteps make the own stacks of one place in the order.
func (u *up) ownSteps(at config.StackOrder) []step.Step {
	var out []step.Step
	for _, o := range own.In(u.own, at) {
		out = append(out, step.Step{Name: o.Name, Part: true, Do: func(ctx context.Context) error { return u.makeOwn(ctx, o) }})
	}
	return out
}

// makeOwn makes an own stack what its program says. It is run each time: nobody knows all that a program reads.
func (u *up) makeOwn(ctx context.Context, o config.OwnStack) error {
	how := own.Up{Refresh: u.options.Refresh}
	if u.options.Approved != nil {
		allowed, err := u.compareOwn(ctx, o)
		if err != nil {
			return err
		}
		if !allowed.MayChange() {
			u.add(allowed.Unchanged)
			return nil
		}
		how.Watch = allowed.Watch
	}
	result, changed, err := u.driver.own().Up(ctx, u.cluster, o, how)
	u.add(result)
	u.ownChanged = u.ownChanged || changed
	return err
}

// compareOwn compares an own stack with the plan that was approved, when its turn comes.
func (u *up) compareOwn(ctx context.Context, o config.OwnStack) (*approval.Allowed, error) {
	request := approval.Request{Approved: u.options.Approved, Refresh: u.options.Refresh}
	allowed, err := u.driver.approver().RequireOwn(ctx, inPlan(u.cluster, o), request,
		func(po preview.Options) (preview.Preview, error) {
			seen, omitted, err := u.driver.own().Preview(ctx, u.cluster, o, po)
			if err == nil && omitted != "" {
				err = unplanned(u.cluster, o, omitted)
			}
			return seen, err
		})
	if refused := new(approved.Error); errors.As(err, &refused) && len(u.result.Stacks) > 0 {
		refused.Done = fmt.Sprintf("what comes before stack %s was applied as approved, and it was not changed", o.Stack(u.cluster.Name))
	}
	return allowed, err
}

// leave is the result of an up that has nothing to do.
func (u *up) leave() (Result, error) {
	u.begin()
	for _, k := range stacks.Kinds() {
		u.add(u.since.Result(u.cluster, k))
	}
	u.result.UnchangedSince = &u.since.Last
	u.driver.opts.Observer.Note(u.cluster.Name, "unchanged since the "+u.since.Last.String())
	return u.end(nil)
}

func (u *up) prepare(ctx context.Context) error { return u.driver.prepare(ctx, u.cluster) }

func (u *up) mend(ctx context.Context) error {
	names := stacks.Names(u.cluster.Name)
	for _, o := range u.own {
		names = append(names, o.Whole(u.cluster.Name))
	}
	return u.driver.mend(ctx, names)
}

// read reads what is deployed, once for all checks. A step that writes, or leaves a stack alone, reads its state again:
// another run may have written it.
func (u *up) read(ctx context.Context) error {
	var err error
	if u.snapshot, err = u.driver.takeSnapshot(ctx, u.cluster); err != nil {
		u.result.FileChanges = u.snapshot.changes
	}
	u.core.changes = u.snapshot.changes
	return err
}

func (u *up) requireReach(ctx context.Context) error {
	return u.driver.reach().Require(ctx, u.cluster, u.snapshot.core, u.snapshot.changes)
}

func (u *up) requireHub(ctx context.Context) error { return u.driver.hubs().Require(ctx, u.cluster) }

// forget forgets the record of the last up, before anything is touched that no state tells of.
func (u *up) forget(ctx context.Context) error {
	var err error
	u.record, err = u.driver.records().Begin(ctx, u.cluster, u.snapshot.bootstrap, u.since)
	return err
}

func (u *up) awaitTurnedOff(ctx context.Context) error {
	return u.driver.addons().AwaitTurnedOff(ctx, u.cluster, u.snapshot.bootstrap)
}

// noteEffects says which keys do more to the cluster than to change it in place. From here on, the up is measured.
func (u *up) noteEffects(context.Context) error {
	u.begin()
	u.driver.noteGitIdentity(u.cluster, u.snapshot.core)
	u.result.FileChanges = u.snapshot.changes
	for _, change := range u.snapshot.changes {
		if change.Effect != config.InPlace {
			u.driver.opts.Observer.Note(u.core.name(), change.String())
		}
	}
	return nil
}

// forecast finds out whether the stacks would stay as they are, which is cheaper than an up that finds it.
func (u *up) forecast(ctx context.Context) error {
	if u.since.Outcome == lastup.AllEqual { // there are own stacks, of which nothing is recorded
		u.core.expected, u.bootstrap.expected = u.stays(stacks.Core), u.stays(stacks.Bootstrap)
		return nil
	}
	f, err := u.driver.previewer().Forecast(ctx, u.cluster, u.since)
	u.core.expected, u.bootstrap.expected = f.Core, f.Bootstrap
	return err
}

// stays is what is expected of a stack that is as the last up has left it.
func (u *up) stays(k stacks.Kind) preview.Expected {
	u.driver.opts.Observer.Note(stacks.Name(u.cluster.Name, k), "unchanged since the "+u.since.Last.String())
	return preview.Expected{Outcome: preview.Stays, Result: u.since.Result(u.cluster, k), State: u.since.StateDigest(u.cluster, k)}
}

func (u *up) makeCore(ctx context.Context) error {
	result, err := u.makeStack(ctx, u.core)
	// The API of a cluster that was made right now may not be reached at once.
	if result.Changes["create"] > 0 {
		u.bootstrap.tolerance = operation.RightAfterCreation
	}
	return err
}

func (u *up) makeBootstrap(ctx context.Context) error {
	if u.ownChanged { // what a preview has found of bootstrap was before that
		u.bootstrap.expected = preview.Expected{}
	}
	_, err := u.makeStack(ctx, u.bootstrap)
	u.record.MadeAtOnce(u.bootstrap.isNew)
	return err
}

// makeStack makes a stack what the file says, and notes its state for the record.
func (u *up) makeStack(ctx context.Context, s *stackUp) (StackResult, error) {
	result, err := s.do(ctx)
	u.add(result)
	switch {
	case err != nil:
	case s.expected.Outcome == preview.Stays:
		u.record.Left(result, s.expected.State)
	default:
		u.record.Made(ctx, result)
	}
	return result, err
}

func (u *up) recordUp(ctx context.Context) error {
	u.record.End(ctx)
	return nil
}

// endRebuild ends a rebuild that was not finished: the cluster is as its file says.
func (u *up) endRebuild(ctx context.Context) error {
	if u.cluster.Rebuild != "" || u.snapshot.core.Rebuild() == "" {
		return nil
	}
	return u.driver.rebuildProgress().End(ctx, u.cluster)
}

// Unchanged says that an up would find what the last one found, and has nothing to do. It starts
// no engine, no plugin and no CLI on a state in a directory. What cannot be told is changed.
// An up runs own stacks in any case.
func (d *Driver) Unchanged(ctx context.Context, c *config.Cluster) (LastUp, bool) {
	if first, err := d.own().Of(c); err != nil || len(first) > 0 {
		return LastUp{}, false
	}
	found := d.records().Compare(ctx, c)
	return found.Last, found.Outcome == lastup.AllEqual
}

// Record has the states of a cluster count as what an up has left, without one. It is for
// measurements, which make the states of many clusters from those of one.
func (d *Driver) Record(ctx context.Context, c *config.Cluster) error {
	return d.records().Write(ctx, c)
}

// stackUp is the up of one stack.
type stackUp struct {
	driver  *Driver
	cluster *config.Cluster
	kind    stacks.Kind
	options UpOptions
	// expected is what a preview has found, and allowed what may be done, as it was compared with the
	// plan; nil where no plan was approved.
	expected preview.Expected
	allowed  *approval.Allowed
	// changes of the cluster file since the live cluster was made.
	changes config.Changes
	// tolerance of failures, and attempt that goes on. isNew says that the stack had no resources when it began.
	tolerance operation.Tolerance
	attempt   attempt
	isNew     bool
}

// attempt at an up.
type attempt int

const (
	firstAttempt attempt = iota
	// furtherAttempt follows one that may have moved the state.
	furtherAttempt
)

func (s *stackUp) name() string { return stacks.Name(s.cluster.Name, s.kind) }

// compare compares the stack with the plan that was approved.
func (s *stackUp) compare(ctx context.Context) error {
	var err error
	s.allowed, err = s.driver.approver().Require(ctx, s.cluster, s.kind, approval.Request{Approved: s.options.Approved, Refresh: s.options.Refresh})
	return err
}

// do makes the stack what the cluster file says, unless it is known that it stays as it is, and tries that again.
func (s *stackUp) do(ctx context.Context) (StackResult, error) {
	switch {
	case s.expected.Outcome == preview.Stays || s.expected.Outcome == preview.Fails:
		return s.expected.Result, s.expected.Err
	case s.allowed != nil && !s.allowed.MayChange():
		return s.allowed.Unchanged, nil
	}
	return s.driver.runner().Retry(ctx, s.name(), s.tolerance, func(failed string) (StackResult, error) {
		if failed == "up" {
			s.attempt = furtherAttempt
		}
		return s.try(ctx)
	})
}

func (s *stackUp) try(ctx context.Context) (StackResult, error) {
	// What an interrupted operation has left would fail the up, or be made twice.
	st, err := s.driver.runner().Recovery(s.cluster).Recover(ctx, s.cluster, s.kind, nil)
	if err != nil {
		return StackResult{}, err
	}
	making := s.beginMaking(ctx, st)
	defer making.end()
	exists := st != nil
	s.isNew = st.Resources() == 0
	if s.kind == stacks.Bootstrap && exists {
		if st, err = s.restore(ctx, st); err != nil {
			return StackResult{}, err
		}
	}
	if s.previews(st) {
		if r, err := s.driver.previewer().Once(ctx, s.cluster, s.kind, preview.Options{Refresh: s.options.Refresh}, exists); err != nil {
			return r, err
		}
		exists = true
	}
	session, err := s.driver.runner().Open(ctx, s.cluster, s.kind, catalog.Options{New: s.isNew}, exists)
	if err != nil {
		return StackResult{}, err
	}
	if s.kind == stacks.Core && st == nil {
		defer s.driver.openAhead(ctx, s.cluster)()
	}
	if err := making.wait(ctx); err != nil {
		return StackResult{}, err
	}
	// Another run may have moved the state since it was compared; a further attempt finds what the first has moved.
	if s.allowed != nil && s.attempt == firstAttempt {
		if err := s.driver.approver().RefuseMoved(ctx, s.allowed); err != nil {
			return StackResult{}, err
		}
	}
	return s.up(ctx, session, making)
}

// restore undoes what a destruction has begun that did not end. It returns the state to go on with.
func (s *stackUp) restore(ctx context.Context, st *backend.State) (*backend.State, error) {
	if err := s.driver.destroyer().Resume(ctx, s.cluster, st); err != nil {
		return nil, err
	}
	h := s.driver.hubs()
	st, err := h.ForgetMissing(ctx, s.cluster, st)
	if err != nil {
		return nil, err
	}
	return st, h.Restore(ctx, s.cluster, st)
}

// previews says that the stack is previewed right before its up: because that is asked for and no preview was made, or
// because the up might take away what Applications depend on.
func (s *stackUp) previews(st *backend.State) bool {
	asked := s.options.Plan && s.attempt == firstAttempt && s.expected.Outcome == preview.Unknown
	return asked || s.kind == stacks.Bootstrap && hubs.TakesAway(st, s.cluster)
}

// up runs the Pulumi engine.
func (s *stackUp) up(ctx context.Context, session *operation.Session, making *making) (StackResult, error) {
	watched, ended := ctx, func(err error) error { return err }
	if s.allowed != nil {
		watched, ended = s.allowed.Watch(ctx, session)
	}
	session.OnCreate(s.driver.deps.cloud(s.cluster).ClusterType(), making.started)
	result, err := session.Run(watched, "up", func(ctx context.Context, ch chan<- events.EngineEvent) error {
		opts := []optup.Option{optup.EventStreams(ch), optup.SuppressProgress(), optup.SuppressOutputs()}
		if s.options.Refresh {
			opts = append(opts, optup.Refresh())
		}
		_, err := session.Stack.Up(ctx, opts...)
		return err
	})
	if err = ended(err); err != nil {
		s.driver.runner().Recovery(s.cluster).AdoptUnanswered(ctx, s.cluster, s.kind, result.Events.Unanswered)
		return result, err
	}
	result.Outputs, err = session.Outputs(ctx, result)
	return result, err
}

// openAhead makes bootstrap's stack, as a preview does, while core is made: making
// one takes the CLI half a second. It returns what waits for the end of that; an
// error shows when bootstrap is opened for its up.
func (d *Driver) openAhead(ctx context.Context, c *config.Cluster) (wait func()) {
	var work sync.WaitGroup
	work.Go(func() {
		if st, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Bootstrap)); err == nil && st == nil {
			_, _ = d.runner().Open(ctx, c, stacks.Bootstrap, catalog.Options{}, false)
		}
	})
	return work.Wait
}

// making is the beginning of an up that makes a cluster: its account is checked while the stack is opened and previewed.
type making struct {
	*asking
	// started ends the start of the up: the next one may start.
	started func()
}

func (s *stackUp) beginMaking(ctx context.Context, st *backend.State) *making {
	m := &making{asking: &asking{driver: s.driver, cluster: s.cluster}, started: func() {}}
	if s.kind != stacks.Core || !s.driver.hasToAsk(s.cluster, st, s.changes) {
		return m
	}
	m.started = s.driver.starts.Wait(ctx)
	m.begin(ctx, st)
	return m
}

func (m *making) end() {
	m.work.Wait()
	m.started()
}

// wait until the check ends; its time is bounded. The error is that of an up.
func (m *making) wait(ctx context.Context) error {
	m.work.Wait()
	if err := ctx.Err(); err != nil {
		return pulumicli.Interrupted(pulumicli.Failed{Stack: stacks.Name(m.cluster.Name, stacks.Core), Operation: "up"}, err)
	}
	m.note()
	return m.refusal("up", m.report.Of(preflight.Fail))
}
