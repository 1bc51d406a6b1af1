package pulumicli

import (
	"cmp"
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

// Observed gives call a channel of its own and hands what comes through it to
// handle. The SDK closes the channel, but not when the CLI dies before it
// connects: so the end of the call ends it as well.
func Observed(handle func(events.EngineEvent), call func(chan<- events.EngineEvent) error) error {
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

// Recorder gathers what a result or an error needs from an engine's events. The
// zero value is ready.
type Recorder struct {
	// Errors that the engine reported.
	Errors []string
	// FailedCreations are creations that the engine reported as failed, and
	// Causes its errors by URN.
	FailedCreations []apitype.StepEventMetadata
	Causes          map[string][]string
	// RootOutputs are the outputs of the stack, secrets masked; nil until the
	// program has exported them.
	RootOutputs map[string]any
	// Differs says that something would not stay as the state has it.
	// OnDifference, if not nil, is called when that is known.
	Differs      bool
	OnDifference func()
	// OnStep, if not nil, is called when the engine begins with a resource.
	OnStep func(apitype.StepEventMetadata)

	summary *apitype.SummaryEvent
	// running maps the URN of each resource of the world being worked on to its
	// operation.
	running map[string]string
	// touched says that a resource of the world was worked on, whatever came
	// of it.
	touched bool
}

// Record gathers what an event tells.
func (r *Recorder) Record(e events.EngineEvent) {
	switch {
	case e.SummaryEvent != nil:
		r.summary = e.SummaryEvent
	case e.ResourcePreEvent != nil:
		m := e.ResourcePreEvent.Metadata
		if m.Op != apitype.OpSame && m.Op != apitype.OpRead {
			r.notice()
		}
		if m.Op != apitype.OpSame && external(m) {
			if r.running == nil {
				r.running = map[string]string{}
			}
			r.running[m.URN] = string(m.Op)
			r.touched = true
		}
		if r.OnStep != nil {
			r.OnStep(m)
		}
	case e.ResOutputsEvent != nil:
		delete(r.running, e.ResOutputsEvent.Metadata.URN)
		r.recordOutputs(e.ResOutputsEvent.Metadata)
	case e.ResOpFailedEvent != nil:
		m := e.ResOpFailedEvent.Metadata
		delete(r.running, m.URN)
		if m.Op == apitype.OpCreate || m.Op == apitype.OpCreateReplacement {
			r.FailedCreations = append(r.FailedCreations, m)
		}
	case e.DiagnosticEvent != nil && e.DiagnosticEvent.Severity == "error":
		r.addError(e.DiagnosticEvent)
	}
}

// recordOutputs keeps the stack's outputs, and notices when a component or the
// stack puts out something else than before: no step of the engine tells.
func (r *Recorder) recordOutputs(m apitype.StepEventMetadata) {
	if m.New == nil {
		return
	}
	if m.Type == backend.RootType {
		r.RootOutputs, _ = backend.Masked(m.New.Outputs).(map[string]any)
	}
	if m.Op == apitype.OpSame && m.Old != nil && !reflect.DeepEqual(m.Old.Outputs, m.New.Outputs) {
		r.notice()
	}
}

func (r *Recorder) notice() {
	if r.OnDifference != nil && !r.Differs {
		r.OnDifference()
	}
	r.Differs = true
}

// external says that the step is about something that exists outside the
// state: no component, no provider, no value that the engine keeps, and nothing that
// is only read.
func external(m apitype.StepEventMetadata) bool {
	state := cmp.Or(m.New, m.Old)
	return state != nil && state.Custom && m.Op != apitype.OpRead &&
		!strings.HasPrefix(m.Type, "pulumi:")
}

// Message is what an error of the engine says; "" for its closing remark that something failed.
func Message(d *apitype.DiagnosticEvent) string {
	message := strings.TrimPrefix(strings.TrimSpace(colors.Never.Colorize(d.Message)), "error: ")
	switch message {
	case "update failed", "preview failed", "destroy failed", "refresh failed":
		return ""
	}
	return message
}

// addError keeps a diagnostic, but for the engine's closing remark that
// something failed.
func (r *Recorder) addError(d *apitype.DiagnosticEvent) {
	message := Message(d)
	if message == "" {
		return
	}
	if name := ResourceName(d.URN); name != "" {
		if r.Causes == nil {
			r.Causes = map[string][]string{}
		}
		r.Causes[d.URN] = append(r.Causes[d.URN], message)
		message = name + ": " + message
	}
	if !slices.Contains(r.Errors, message) {
		r.Errors = append(r.Errors, message)
	}
}

// Changes counts the resources by operation; nil when the engine did not end with a
// summary.
func (r *Recorder) Changes() map[string]int {
	if r.summary == nil {
		return nil
	}
	out := map[string]int{}
	for op, n := range r.summary.ResourceChanges {
		// What is only read, such as another stack's outputs, is not ours to
		// change.
		if op != apitype.OpRead {
			out[string(op)] = n
		}
	}
	return out
}

// underWay lists what was being worked on, as "create eks.Cluster demo".
func (r *Recorder) underWay() []string {
	out := make([]string, 0, len(r.running))
	for _, u := range slices.Sorted(maps.Keys(r.running)) {
		if name := ResourceName(u); name != "" {
			out = append(out, r.running[u]+" "+name)
		}
	}
	return out
}

// ResourceName is "type name" of a URN, without what does not help a reader;
// empty for the stack itself.
func ResourceName(u string) string {
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
