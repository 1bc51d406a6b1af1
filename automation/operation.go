package automation

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/approved"
	"tombolo/automation/backend"
	"tombolo/automation/plan"
	"tombolo/automation/pulumicli"
	"tombolo/automation/recovery"
	"tombolo/automation/trace"
)

// engineCall is an operation of the SDK that reports on a channel.
type engineCall func(ctx context.Context, ch chan<- events.EngineEvent) error

// run runs one operation on the stack: it tells the observer, gathers what
// the engine reports, and turns a failure into an error of ours. A lock whose
// owner is gone is released, and the operation tried once more.
func (s *session) run(ctx context.Context, operation string, call engineCall) (StackResult, error) {
	result := StackResult{Stack: s.name, Kind: s.kind, Operation: operation}
	start := s.driver.now()
	if writes(operation) {
		if err := s.driver.backend.BeginCopies(s.name); err != nil {
			return result, err
		}
	}
	s.observer.StackStarted(s.name, operation)
	traced := s.driver.opts.Trace.Operation(s.cluster, s.name, operation)
	rec, err := s.attempt(ctx, operation, traced, call)
	var locked *backend.LockedError
	if errors.As(err, &locked) && locked.Owner != nil && s.driver.backend.ReleaseLocks(ctx, s.name) == nil {
		rec, err = s.attempt(ctx, operation, traced, call)
	}
	if ctx.Err() != nil {
		err = errors.Join(err, s.driver.backend.UnlockAfterCancel(ctx, s.name, s.command.Killed))
	}
	if writes(operation) {
		if ended := s.driver.backend.EndCopies(s.name); ended != nil {
			err = errors.Join(err, ended)
		}
	}
	result.Changes, result.lost = rec.Changes(), rec.lost
	result.causes, result.unanswered = rec.Errors, recovery.Unanswered(&rec.Recorder)
	result.rootOutputs, result.differs = rec.RootOutputs, rec.Differs
	result.told = approved.Preview{Steps: rec.steps, Outputs: rec.RootOutputs, MadeUp: rec.madeUp}
	result.Duration = s.driver.now().Sub(start)
	s.observer.StackFinished(s.name, result.Changes, err)
	traced.End(result.Changes, err)
	return result, err
}

// recorded is what was recorded of an operation on a cluster's stack.
type recorded struct {
	pulumicli.Recorder
	// lost are the objects that are kept, and would be taken away.
	lost []string
	// steps that were announced, and names that providers have made up in them.
	steps  []apitype.StepEventMetadata
	madeUp []string
	onStep func(apitype.StepEventMetadata)
}

func (s *session) newRecorded() *recorded {
	r := &recorded{onStep: s.onStep}
	r.OnDifference, r.OnStep = s.onDifference, r.step
	return r
}

func (r *recorded) step(m apitype.StepEventMetadata) {
	if r.onStep != nil {
		r.onStep(m)
	}
	r.steps, r.madeUp = append(r.steps, apitype.StepEventMetadata{URN: m.URN, Op: m.Op}), append(r.madeUp, plan.MadeUp(m)...)
	if name := kept(m); name != "" && !slices.Contains(r.lost, name) {
		r.lost = append(r.lost, name)
	}
}

func (s *session) attempt(ctx context.Context, operation string, traced *trace.Operation, call engineCall) (*recorded, error) {
	rec := s.newRecorded()
	s.programErr = nil
	err := pulumicli.Observed(func(e events.EngineEvent) {
		rec.Record(e)
		s.observer.EngineEvent(s.name, e)
		traced.Event(e)
		if e.ResOutputsEvent != nil && writes(operation) {
			s.driver.backend.ThinCopies(s.name)
		}
	}, func(ch chan<- events.EngineEvent) error { return call(ctx, ch) })
	if err == nil {
		return rec, nil
	}
	return rec, s.driver.pulumi.Failure(ctx, pulumicli.Failed{
		Stack: s.name, Operation: operation, Err: err, Record: &rec.Recorder, Program: s.programErr,
	})
}

// writes says that an operation writes the state.
func writes(operation string) bool { return operation != "preview" }

// importState replaces the state of the stack, unless somebody works on it or it is not
// as it was read any more: see backend.Backend.RequireUnmoved. Every import of the driver
// goes through here, but those into scratch stacks, which nobody else has.
func (s *session) importState(ctx context.Context, operation string, read *backend.State, edited apitype.UntypedDeployment) error {
	if err := s.driver.backend.BeginCopies(s.name); err != nil {
		return err
	}
	err := s.driver.backend.RequireUnmoved(ctx, s.name, read)
	if err == nil {
		if err = s.stack.Import(ctx, edited); err != nil {
			err = s.driver.pulumi.Failure(ctx, pulumicli.Failed{Stack: s.name, Operation: operation, Err: err})
		}
	}
	if ended := s.driver.backend.EndCopies(s.name); ended != nil {
		return errors.Join(err, ended)
	}
	return err
}

// kept names the object of a step by which it would be taken away; "" when the
// step does no such thing, or it is no object that is kept.
func kept(m apitype.StepEventMetadata) string {
	takesAway := []apitype.OpType{
		apitype.OpDelete, apitype.OpReplace, apitype.OpCreateReplacement, apitype.OpDeleteReplaced,
	}
	if m.Old == nil || !slices.Contains(takesAway, m.Op) || !plan.IsRegistration(m.Type, m.Old.ID) && !plan.IsInfraConfig(m.Type, m.Old.ID) {
		return ""
	}
	kind := m.Type[strings.LastIndex(m.Type, ":")+1:]
	return kind + " " + m.Old.ID
}

// Refresh compares the resources with the cloud.
func (s *session) Refresh(ctx context.Context, urns []string) error {
	_, err := s.run(ctx, "refresh", func(ctx context.Context, ch chan<- events.EngineEvent) error {
		_, err := s.stack.Refresh(ctx,
			optrefresh.Target(urns), optrefresh.EventStreams(ch), optrefresh.SuppressProgress())
		return err
	})
	return err
}
