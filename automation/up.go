package automation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"

	"tombolo/automation/fault"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// Up makes the cluster what its file says: core, then bootstrap, which takes
// core's outputs. Of a cluster that is deployed both are previewed first, at the
// same time, and a stack that would stay as it is is left alone. It stops at the
// first failure and can simply be run again; it tries again itself, twice, when
// all causes go away by themselves, such as throttling. What was made without an
// answer is found and adopted.
// A cluster of which nothing has changed since its last up is left as it is, without a start of
// the engine: see Unchanged. So is core, when nothing of what it depends on has changed.
// Placeholders are never used: bootstrap refuses to run without core's
// outputs.
func (d *Driver) Up(ctx context.Context, c *config.Cluster, o UpOptions) (Result, error) {
	since := d.since(ctx, c, o)
	if since.all {
		return d.stay(c, since), nil
	}
	if err := d.prepare(ctx, c); err != nil {
		return Result{Cluster: c.Name}, err
	}
	if err := errors.Join(d.backend.RequireSpace(), d.backend.Mend(ctx, stackNames(c)...)); err != nil {
		return Result{Cluster: c.Name}, err
	}
	changes, core, err := d.possible(ctx, c)
	if err != nil {
		return Result{Cluster: c.Name, FileChanges: changes}, err
	}
	if err := d.requireReach(ctx, c, core, changes); err != nil {
		return Result{Cluster: c.Name}, err
	}
	if err := d.requireHub(ctx, c); err != nil {
		return Result{Cluster: c.Name}, err
	}
	ofCore := o
	if o.Approved != nil { // before anything else is touched
		if ofCore.may, err = d.requireApproved(ctx, c, stacks.Core, o); err != nil {
			return Result{Cluster: c.Name}, err
		}
	}
	record, err := d.beginRecord(ctx, c)
	if err != nil {
		return Result{Cluster: c.Name}, err
	}
	if err := d.awaitTurnedOff(ctx, c); err != nil {
		return Result{Cluster: c.Name}, err
	}
	d.noteEffects(c, changes)
	run := d.begin(c)
	run.result.FileChanges = changes
	found, err := d.predict(ctx, c, o, since)
	if err != nil {
		return run.end(err)
	}
	begin(o.began, string(stacks.Core))
	made, err := d.upStack(ctx, c, stacks.Core, ofCore, found, false)
	if run.add(made); err != nil {
		return run.end(err)
	}
	record.done(ctx, d, made, found[stacks.Core])
	young := made.Changes["create"] > 0
	begin(o.began, string(stacks.Bootstrap))
	bootstrap, err := d.upStack(ctx, c, stacks.Bootstrap, o, found, young)
	run.add(bootstrap)
	if err == nil {
		record.done(ctx, d, bootstrap, found[stacks.Bootstrap])
		record.end(ctx, d, c)
	}
	if err == nil && c.Rebuild == "" && core.Rebuild() != "" {
		err = d.endRebuild(ctx, c)
	}
	return run.end(err)
}

// prepare finds out before anything starts what will be missing: the CLI, and
// what the programs need besides the cluster file.
func (d *Driver) prepare(ctx context.Context, c *config.Cluster) error {
	if _, err := d.pulumi.Program(ctx); err != nil {
		return err
	}
	if err := d.preflight(ctx, c, catalog.Options{Env: d.opts.Env}); err != nil {
		return &fault.Error{
			What:   fmt.Sprintf("up %s: %s", c.Name, strings.ReplaceAll(err.Error(), "\n", "; ")),
			Remedy: "nothing was started: make it available and run the command again", Err: err,
		}
	}
	return d.requireValues(ctx, c)
}

// upStack makes a stack what the cluster file says, unless a preview has found that
// it would stay as it is, and tries that again. What was previewed is not previewed
// twice. young says that the cluster was made in this run.
func (d *Driver) upStack(ctx context.Context, c *config.Cluster, k stacks.Kind, o UpOptions, found predictions, young bool) (StackResult, error) {
	seen, previewed := found[k]
	if seen.err != nil || seen.stays {
		return seen.result, seen.err
	}
	o.Plan = o.Plan && !previewed
	if o.Approved != nil && o.may == nil {
		var err error
		if o.may, err = d.requireApproved(ctx, c, k, o); err != nil {
			return StackResult{}, err
		}
	}
	if o.may != nil && !o.may.MayChange() {
		return o.may.stays, nil
	}
	return d.retry(ctx, stacks.Name(c.Name, k), young, func(failed string) (StackResult, error) {
		if failed == "up" {
			o.Plan, o.Previewed, o.again = false, true, true
		}
		return d.tryUp(ctx, c, k, o)
	})
}

func (d *Driver) tryUp(ctx context.Context, c *config.Cluster, k stacks.Kind, o UpOptions) (StackResult, error) {
	st, err := d.recovery(c).Recover(ctx, c, k, nil)
	if err != nil {
		return StackResult{}, err
	}
	exists := st != nil
	begun := func() {}
	if k == stacks.Core && st.Resources() == 0 {
		begun = d.turns.take(ctx)
		defer begun()
	}
	ready := d.beforeMaking(ctx, c, k, st)
	defer ready.work.Wait()
	if k == stacks.Bootstrap && exists {
		if err := d.resume(ctx, c, st); err != nil {
			return StackResult{}, err
		}
		if st, err = d.forgetMissing(ctx, c, st); err != nil {
			return StackResult{}, err
		}
		if err := d.restoreRegistration(ctx, c, st); err != nil {
			return StackResult{}, err
		}
	}
	if o.Plan || k == stacks.Bootstrap && mayLose(st, c) {
		if r, err := d.previewStack(ctx, c, k, PreviewOptions{Refresh: o.Refresh}, catalog.Options{}, exists); err != nil {
			return r, err
		}
		exists = true
	}
	s, err := d.open(ctx, c, k, catalog.Options{}, exists)
	if err != nil {
		return StackResult{}, err
	}
	if k == stacks.Core && st == nil {
		defer d.openAhead(ctx, c)()
	}
	if err := ready.wait(ctx); err != nil {
		return StackResult{}, err
	}
	if o.may != nil && !o.again {
		if err := d.refuseMovedSince(ctx, o); err != nil {
			return StackResult{}, err
		}
	}
	watched, ended := s.watch(ctx, o)
	s.onMaking(d.cloud(c).ClusterType(), begun)
	result, err := s.run(watched, "up", func(ctx context.Context, ch chan<- events.EngineEvent) error {
		opts := []optup.Option{optup.EventStreams(ch), optup.SuppressProgress(), optup.SuppressOutputs()}
		if o.Refresh {
			opts = append(opts, optup.Refresh())
		}
		_, err := s.stack.Up(ctx, opts...)
		return err
	})
	if err = ended(err); err != nil {
		d.recovery(c).AdoptUnanswered(ctx, c, k, result.unanswered)
		return result, err
	}
	result.Outputs, err = s.outputs(ctx, result)
	return result, err
}

// openAhead makes bootstrap's stack, as a preview does, while core is made: making
// one takes the CLI half a second. It returns what waits for the end of that; an
// error shows when bootstrap is opened for its up.
func (d *Driver) openAhead(ctx context.Context, c *config.Cluster) (wait func()) {
	var work sync.WaitGroup
	work.Go(func() {
		if st, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Bootstrap)); err == nil && st == nil {
			_, _ = d.open(ctx, c, stacks.Bootstrap, catalog.Options{}, false)
		}
	})
	return work.Wait
}

// outputs of the stack after an up, with secrets masked: what the engine told,
// else what the backend has.
func (s *session) outputs(ctx context.Context, up StackResult) (map[string]any, error) {
	if up.rootOutputs != nil {
		return up.rootOutputs, nil
	}
	s.command.AsksOutputs = true
	found, err := s.stack.Outputs(ctx)
	if err != nil {
		return nil, s.driver.pulumi.Failure(ctx, pulumicli.Failed{Stack: s.name, Operation: "read the outputs of", Err: err})
	}
	outputs := make(map[string]any, len(found))
	for key, o := range found {
		outputs[key] = o.Value
	}
	return outputs, nil
}
