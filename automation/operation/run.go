package operation

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

// Call is an operation of the SDK that reports on a channel.
type Call func(ctx context.Context, ch chan<- events.EngineEvent) error

// Run runs one operation on the stack: it tells the observer, gathers what
// the engine reports, and turns a failure into an error of ours. A lock whose
// owner is gone is released, and the operation tried once more.
func (s *Session) Run(ctx context.Context, operation string, call Call) (StackResult, error) {
	result := StackResult{Stack: s.Name, Kind: s.Kind, Operation: operation}
	start := s.runner.Now()
	if writes(operation) {
		if err := s.runner.Backend.BeginCopies(s.inBackend); err != nil {
			return result, err
		}
	}
	s.Observer.StackStarted(s.Name, operation)
	traced := s.runner.Trace.Operation(s.Cluster, s.Name, operation)
	rec, err := s.attempt(ctx, operation, traced, call)
	var locked *backend.LockedError
	if errors.As(err, &locked) && locked.Owner != nil && s.runner.Backend.ReleaseLocks(ctx, s.inBackend) == nil {
		rec, err = s.attempt(ctx, operation, traced, call)
	}
	if ctx.Err() != nil {
		err = errors.Join(err, s.runner.Backend.UnlockAfterCancel(ctx, s.inBackend, s.Command.Killed))
	}
	if writes(operation) {
		if ended := s.runner.Backend.EndCopies(s.inBackend); ended != nil {
			err = errors.Join(err, ended)
		}
	}
	result.Changes, result.Events.Lost = rec.Changes(), rec.lost
	result.Events.Causes, result.Events.Unanswered = rec.Errors, recovery.Unanswered(&rec.Recorder)
	result.Events.Granted = rec.granted
	result.Events.RootOutputs, result.Events.Differs = rec.RootOutputs, rec.Differs
	result.Events.Preview = approved.Preview{Steps: rec.steps, Outputs: rec.RootOutputs, MadeUp: rec.madeUp}
	result.Duration = s.runner.Now().Sub(start)
	s.Observer.StackFinished(s.Name, result.Changes, err)
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
	// granted are the scopes of the roles that are assigned.
	granted []string
	onStep  func(apitype.StepEventMetadata)
}

func (s *Session) newRecorded() *recorded {
	r := &recorded{onStep: s.OnStep}
	r.OnDifference, r.OnStep = s.OnDifference, r.step
	return r
}

func (r *recorded) step(m apitype.StepEventMetadata) {
	if r.onStep != nil {
		r.onStep(m)
	}
	r.steps, r.madeUp = append(r.steps, apitype.StepEventMetadata{URN: m.URN, Op: m.Op}), append(r.madeUp, plan.MadeUp(m)...)
	if scope := grants(m); scope != "" {
		r.granted = append(r.granted, scope)
	}
	if name := kept(m); name != "" && !slices.Contains(r.lost, name) {
		r.lost = append(r.lost, name)
	}
}

// grants is the scope of a role of Azure that a step assigns; "" for other steps.
func grants(m apitype.StepEventMetadata) string {
	if m.Op != apitype.OpCreate || m.New == nil || !strings.HasSuffix(m.Type, ":RoleAssignment") {
		return ""
	}
	scope, _ := m.New.Inputs["scope"].(string)
	return scope
}

func (s *Session) attempt(ctx context.Context, operation string, traced *trace.Operation, call Call) (*recorded, error) {
	rec := s.newRecorded()
	s.programErr = nil
	err := pulumicli.Observed(func(e events.EngineEvent) {
		rec.Record(e)
		s.Observer.EngineEvent(s.Name, e)
		traced.Event(e)
		if e.ResOutputsEvent != nil && writes(operation) {
			s.runner.Backend.ThinCopies(s.inBackend)
		}
	}, func(ch chan<- events.EngineEvent) error { return call(ctx, ch) })
	if err == nil {
		return rec, nil
	}
	return rec, s.runner.CLI.Failure(ctx, pulumicli.Failed{
		Stack: s.Name, Operation: operation, Err: err, Record: &rec.Recorder, Program: s.programErr,
	})
}

// writes says that an operation writes the state.
func writes(operation string) bool { return operation != "preview" }

// Import replaces the state of the stack, unless somebody works on it or it is not
// as it was read any more: see backend.Backend.RequireUnmoved. Every import of the driver
// goes through here, but those into scratch stacks, which nobody else has.
func (s *Session) Import(ctx context.Context, operation string, read *backend.State, edited apitype.UntypedDeployment) error {
	if err := s.runner.Backend.BeginCopies(s.inBackend); err != nil {
		return err
	}
	err := s.runner.Backend.RequireUnmoved(ctx, s.inBackend, read)
	if err == nil {
		if err = s.Stack.Import(ctx, edited); err != nil {
			err = s.runner.CLI.Failure(ctx, pulumicli.Failed{Stack: s.Name, Operation: operation, Err: err})
		}
	}
	if ended := s.runner.Backend.EndCopies(s.inBackend); ended != nil {
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
func (s *Session) Refresh(ctx context.Context, urns []string) error {
	_, err := s.Run(ctx, "refresh", func(ctx context.Context, ch chan<- events.EngineEvent) error {
		_, err := s.Stack.Refresh(ctx,
			optrefresh.Target(urns), optrefresh.EventStreams(ch), optrefresh.SuppressProgress())
		return err
	})
	return err
}
