package automation

import (
	"context"
	"slices"

	"tombolo/automation/lastup"
	"tombolo/automation/operation"
	"tombolo/automation/preview"
	"tombolo/automation/step"
	"tombolo/config"
	"tombolo/stacks"
)

// Up makes the cluster what its file says: core, then bootstrap, which takes
// core's outputs. Both stacks of a deployed cluster are previewed first, at the
// same time, and a stack that would stay as it is is left alone. Up stops at the
// first failure and can simply be run again; it tries again itself, twice, when
// all causes go away by themselves, such as throttling. What was made without an
// answer is found and adopted.
// A cluster of which nothing has changed since its last up is left as it is, without a start of
// the engine: see Unchanged. So is core, when nothing of what it depends on has changed.
// Placeholders are never used: bootstrap refuses to run without core's
// outputs.
func (d *Driver) Up(ctx context.Context, c *config.Cluster, o UpOptions) (Result, error) {
	u := &up{
		run: d.newRun(c), options: o,
		core:      &stackUp{driver: d, cluster: c, kind: stacks.Core, options: o},
		bootstrap: &stackUp{driver: d, cluster: c, kind: stacks.Bootstrap, options: o},
	}
	if o.usesRecord() {
		u.since = d.records().Compare(ctx, c).Parsed(c)
	}
	if u.since.Outcome == lastup.AllEqual {
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
	core := step.Step{Name: string(stacks.Core), Part: true, Do: u.makeCore}
	bootstrap := step.Step{Name: string(stacks.Bootstrap), Part: true, Do: u.makeBootstrap}
	end := []step.Step{
		{Name: "record the up", Do: u.recordUp},
		{Name: "end the rebuild", Do: u.endRebuild},
	}
	switch {
	case u.options.Approved != nil:
		return slices.Concat(checks, []step.Step{{Name: "compare core with the plan", Do: u.core.compare}}, begin,
			[]step.Step{core, {Name: "compare bootstrap with the plan", Do: u.bootstrap.compare}, bootstrap}, end)
	case u.options.forecasts():
		return slices.Concat(checks, begin, []step.Step{{Name: "preview both stacks", Do: u.forecast}, core, bootstrap}, end)
	}
	return slices.Concat(checks, begin, []step.Step{core, bootstrap}, end)
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

func (u *up) mend(ctx context.Context) error { return u.driver.mend(ctx, stacks.Names(u.cluster.Name)) }

// read reads what is deployed, once for all checks. A step that writes, or leaves a stack alone, reads its state again:
// another run may have written it.
func (u *up) read(ctx context.Context) error {
	var err error
	if u.snapshot, err = u.driver.takeSnapshot(ctx, u.cluster); err != nil {
		u.result.FileChanges = u.snapshot.changes
	}
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
	f, err := u.driver.previewer().Forecast(ctx, u.cluster, u.since)
	u.core.expected, u.bootstrap.expected = f.Core, f.Bootstrap
	return err
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
	_, err := u.makeStack(ctx, u.bootstrap)
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
func (d *Driver) Unchanged(ctx context.Context, c *config.Cluster) (LastUp, bool) {
	found := d.records().Compare(ctx, c)
	return found.Last, found.Outcome == lastup.AllEqual
}

// Record has the states of a cluster count as what an up has left, without one. It is for
// measurements, which make the states of many clusters from those of one.
func (d *Driver) Record(ctx context.Context, c *config.Cluster) error {
	return d.records().Write(ctx, c)
}
