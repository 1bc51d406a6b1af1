package automation

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag/colors"

	"tombolo/automation/backend"
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
	rec, err := s.attempt(ctx, operation, call)
	var locked *backend.LockedError
	if errors.As(err, &locked) && locked.Owner != nil && s.driver.backend.ReleaseStale(ctx, s.name, *locked.Owner) == nil {
		rec, err = s.attempt(ctx, operation, call)
	}
	if ctx.Err() != nil {
		err = errors.Join(err, s.driver.backend.UnlockAfterCancel(ctx, s.name, s.command.killed))
	}
	if writes(operation) {
		if ended := s.driver.backend.EndCopies(s.name); ended != nil {
			err = errors.Join(err, ended)
		}
	}
	result.Changes, result.lost = rec.changes(), rec.lost
	result.causes, result.unanswered = rec.errors, rec.unanswered()
	result.rootOutputs, result.differs = rec.outputs, rec.differs
	result.Duration = s.driver.now().Sub(start)
	s.observer.StackFinished(s.name, result.Changes, err)
	return result, err
}

func (s *session) attempt(ctx context.Context, operation string, call engineCall) (*recorder, error) {
	rec := &recorder{running: map[string]string{}, onDifference: s.onDifference}
	s.programErr = nil
	handle := rec.observer(s.name, s.observer)
	err := observed(func(e events.EngineEvent) {
		handle(e)
		if e.ResOutputsEvent != nil && writes(operation) {
			s.driver.backend.ThinCopies(s.name)
		}
	}, func(ch chan<- events.EngineEvent) error { return call(ctx, ch) })
	if err == nil {
		return rec, nil
	}
	return rec, s.driver.failure(ctx, failed{
		stack: s.name, operation: operation, err: err, record: rec, program: s.programErr,
	})
}

// observed gives call a channel of its own and hands what comes through it to
// handle. The SDK closes the channel, but not when the CLI dies before it
// connects: so the end of the call ends it as well.
func observed(handle func(events.EngineEvent), call func(chan<- events.EngineEvent) error) error {
	ch := make(chan events.EngineEvent)
	returned := make(chan struct{})
	var consumer sync.WaitGroup
	consumer.Go(func() {
		for {
			select {
			case e, ok := <-ch:
				if !ok {
					return
				}
				handle(e)
			case <-returned:
				return
			}
		}
	})
	err := call(ch)
	close(returned)
	consumer.Wait()
	return err
}

// recorder gathers what a result or an error needs from an engine's events.
type recorder struct {
	summary *apitype.SummaryEvent
	errors  []string
	// running maps the URN of each resource of the world being worked on to its
	// operation.
	running map[string]string
	// touched says that a resource of the world was worked on, whatever came
	// of it.
	touched bool
	// lost are the objects that are kept, and would be taken away.
	lost []string
	// failedCreations are creations that the engine reported as failed, and
	// causes its errors by URN.
	failedCreations []apitype.StepEventMetadata
	causes          map[string][]string
	// outputs of the stack, secrets masked; nil until the program has exported
	// them.
	outputs map[string]any
	// differs says that something would not stay as the state has it.
	differs      bool
	onDifference func()
}

func (r *recorder) observer(stack string, o Observer) func(events.EngineEvent) {
	return func(e events.EngineEvent) {
		r.record(e)
		o.EngineEvent(stack, e)
	}
}

func (r *recorder) record(e events.EngineEvent) {
	switch {
	case e.SummaryEvent != nil:
		r.summary = e.SummaryEvent
	case e.ResourcePreEvent != nil:
		m := e.ResourcePreEvent.Metadata
		if m.Op != apitype.OpSame && m.Op != apitype.OpRead {
			r.notice()
		}
		if m.Op != apitype.OpSame && worldly(m) {
			r.running[m.URN] = string(m.Op)
			r.touched = true
		}
		if name := kept(m); name != "" && !slices.Contains(r.lost, name) {
			r.lost = append(r.lost, name)
		}
	case e.ResOutputsEvent != nil:
		delete(r.running, e.ResOutputsEvent.Metadata.URN)
		r.recordOutputs(e.ResOutputsEvent.Metadata)
	case e.ResOpFailedEvent != nil:
		m := e.ResOpFailedEvent.Metadata
		delete(r.running, m.URN)
		if m.Op == apitype.OpCreate || m.Op == apitype.OpCreateReplacement {
			r.failedCreations = append(r.failedCreations, m)
		}
	case e.DiagnosticEvent != nil && e.DiagnosticEvent.Severity == "error":
		r.addError(e.DiagnosticEvent)
	}
}

// recordOutputs keeps the stack's outputs, and notices when a component or the
// stack puts out something else than before: no step of the engine tells.
func (r *recorder) recordOutputs(m apitype.StepEventMetadata) {
	if m.New == nil {
		return
	}
	if m.Type == backend.RootType {
		r.outputs, _ = backend.Masked(m.New.Outputs).(map[string]any)
	}
	if m.Op == apitype.OpSame && m.Old != nil && !reflect.DeepEqual(m.Old.Outputs, m.New.Outputs) {
		r.notice()
	}
}

func (r *recorder) notice() {
	if r.onDifference != nil && !r.differs {
		r.onDifference()
	}
	r.differs = true
}

// worldly says that the step is about something that exists outside the
// state: no component, no provider, and nothing that is only read.
func worldly(m apitype.StepEventMetadata) bool {
	state := m.New
	if state == nil {
		state = m.Old
	}
	return state != nil && state.Custom && m.Op != apitype.OpRead &&
		!strings.HasPrefix(m.Type, "pulumi:providers:")
}

// addError keeps a diagnostic, but for the engine's closing remark that
// something failed.
func (r *recorder) addError(d *apitype.DiagnosticEvent) {
	message := strings.TrimSpace(colors.Never.Colorize(d.Message))
	message = strings.TrimPrefix(message, "error: ")
	switch message {
	case "", "update failed", "preview failed", "destroy failed", "refresh failed":
		return
	}
	if name := resourceName(d.URN); name != "" {
		if r.causes == nil {
			r.causes = map[string][]string{}
		}
		r.causes[d.URN] = append(r.causes[d.URN], message)
		message = name + ": " + message
	}
	if !slices.Contains(r.errors, message) {
		r.errors = append(r.errors, message)
	}
}

func (r *recorder) changes() Changes {
	if r.summary == nil {
		return nil
	}
	out := Changes{}
	for op, n := range r.summary.ResourceChanges {
		// What is only read, such as another stack's outputs, is nobody's to
		// change.
		if op != apitype.OpRead {
			out[string(op)] = n
		}
	}
	return out
}

// underWay lists what was being worked on, as "create eks.Cluster demo".
func (r *recorder) underWay() []string {
	out := make([]string, 0, len(r.running))
	for _, u := range slices.Sorted(maps.Keys(r.running)) {
		if name := resourceName(u); name != "" {
			out = append(out, r.running[u]+" "+name)
		}
	}
	return out
}

// resourceName is "type name" of a URN, without what does not help a reader;
// empty for the stack itself.
func resourceName(u string) string {
	parts := strings.Split(u, "::")
	if len(parts) < 4 {
		return ""
	}
	types := strings.Split(parts[2], "$")
	if t := types[len(types)-1]; t != "pulumi:pulumi:Stack" {
		return t + " " + strings.Join(parts[3:], "::")
	}
	return ""
}

// writes says that an operation writes the state.
func writes(operation string) bool { return operation != "preview" }

// importState replaces the state of the stack.
func (s *session) importState(ctx context.Context, edited apitype.UntypedDeployment) error {
	if err := s.driver.backend.BeginCopies(s.name); err != nil {
		return err
	}
	err := s.stack.Import(ctx, edited)
	if ended := s.driver.backend.EndCopies(s.name); ended != nil {
		return errors.Join(err, ended)
	}
	return err
}
