package render

import (
	"cmp"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag/colors"
)

// unknownCount means that the number of planned changes is not known.
const unknownCount = -1

// verification is the operation that waits until a cluster is ready.
const verification = "verify"

// step is one step of the engine on one resource.
type step struct {
	urn, op, typ, name string
	started            time.Time
	// group says that the resource only groups others. It runs for as long as
	// they do, so it is never what one waits for.
	group bool
}

// operation is what is known of an operation on a stack.
type operation struct {
	stack, name string
	started     time.Time
	ended       time.Time
	// planned is the number of changes to come, or unknownCount.
	planned int
	// done counts finished changes, failed failed ones.
	done, failed int
	running      map[string]step
	changes      map[string]int
	// errors of the engine that are kept until the end.
	errors []diagnostic
	err    error
	over   bool
	// waiting is what a verification waits for.
	waiting string
}

// preview says whether the operation only looks.
func (o *operation) preview() bool { return strings.HasPrefix(o.name, "preview") }

// elapsed is how long the operation has run, or ran.
func (o *operation) elapsed(now time.Time) time.Duration {
	if o.over {
		return o.ended.Sub(o.started)
	}
	return now.Sub(o.started)
}

// slowest returns the running step that began first, and how many run.
func (o *operation) slowest() (first step, running int) {
	for _, s := range o.running {
		if s.group {
			continue
		}
		earlier := s.started.Before(first.started) || (s.started.Equal(first.started) && s.urn < first.urn)
		if running == 0 || earlier {
			first = s
		}
		running++
	}
	return first, running
}

// phase is a change's place in its life.
type phase string

const (
	phaseStarted phase = "started"
	phaseDone    phase = "done"
	phaseFailed  phase = "failed"
)

// change is what an event says of a resource.
type change struct {
	step
	phase   phase
	elapsed time.Duration
}

// diagnostic is a message of the engine or a provider.
type diagnostic struct {
	severity, name, text string
	// root says that it is about the stack as a whole, whatever its name.
	root bool
}

// model gathers events; views read it.
type model struct {
	now     func() time.Time
	ops     []*operation
	current map[string]*operation
	planned map[string]int
	plans   map[string]*Plan
	order   []string
	// run is the one that is on, or nil.
	run *runState
}

func newModel(now func() time.Time) *model {
	return &model{now: now, current: map[string]*operation{}, planned: map[string]int{}, plans: map[string]*Plan{}}
}

// start begins an operation. Its plan is the stack's last preview.
func (m *model) start(stack, name string) *operation {
	op := &operation{
		stack: stack, name: name, started: m.now(),
		planned: unknownCount, running: map[string]step{}, changes: map[string]int{},
	}
	if n, ok := m.planned[stack]; ok && !op.preview() {
		op.planned = n
		delete(m.planned, stack)
	}
	if op.preview() {
		if _, seen := m.plans[stack]; !seen {
			m.order = append(m.order, stack)
		}
		m.plans[stack] = &Plan{Stack: stack}
	}
	m.ops = append(m.ops, op)
	m.current[stack] = op
	if m.run != nil {
		m.run.attach(op)
	}
	return op
}

// operation returns the one that runs on the stack; an event before its start
// starts a nameless one.
func (m *model) operation(stack string) *operation {
	if op, ok := m.current[stack]; ok {
		return op
	}
	return m.start(stack, "operation")
}

// finish ends the operation on the stack. A result the driver does not give is
// taken from the events.
func (m *model) finish(stack string, result map[string]int, err error) *operation {
	op := m.operation(stack)
	op.ended, op.over, op.err = m.now(), true, err
	if len(result) > 0 {
		op.changes = result
	}
	clear(op.running)
	if op.preview() && err == nil {
		n := 0
		for kind, count := range op.changes {
			if counts(kind) {
				n += count
			}
		}
		m.planned[stack] = n
		m.plans[stack].Changes = op.changes
	}
	delete(m.current, stack)
	return op
}

// wait notes what the verification of a cluster waits for. It begins with the
// first reason and ends with none.
func (m *model) wait(cluster, what string) *operation {
	op, ok := m.current[cluster]
	if !ok {
		op = m.start(cluster, verification)
	}
	if op.waiting = what; what == "" {
		op.ended, op.over = m.now(), true
		delete(m.current, cluster)
	}
	return op
}

// plansInOrder returns what the previews found, in the order of their start.
func (m *model) plansInOrder() []Plan {
	plans := make([]Plan, 0, len(m.order))
	for _, stack := range m.order {
		plans = append(plans, *m.plans[stack])
	}
	return plans
}

// resource notes what an event says of a resource.
func (m *model) resource(op *operation, e events.EngineEvent) (change, bool) {
	switch {
	case e.ResourcePreEvent != nil:
		return m.began(op, e.ResourcePreEvent)
	case e.ResOutputsEvent != nil:
		return m.ended(op, e.ResOutputsEvent.Metadata, phaseDone), true
	case e.ResOpFailedEvent != nil:
		return m.ended(op, e.ResOpFailedEvent.Metadata, phaseFailed), true
	}
	return change{}, false
}

func (m *model) began(op *operation, e *apitype.ResourcePreEvent) (change, bool) {
	s := readStep(e.Metadata, m.now())
	if plan := m.plans[op.stack]; plan != nil && op.preview() {
		plan.add(e.Metadata)
	}
	if op.preview() && counts(s.op) {
		op.done++
	}
	if !silent(s.op) {
		op.running[s.op+s.urn] = s
	}
	return change{step: s, phase: phaseStarted}, true
}

func (m *model) ended(op *operation, meta apitype.StepEventMetadata, p phase) change {
	s := readStep(meta, m.now())
	if began, ok := op.running[s.op+s.urn]; ok {
		s = began
		delete(op.running, s.op+s.urn)
	}
	switch {
	case p == phaseFailed:
		op.failed++
	case counts(s.op) && !op.preview():
		op.done++
	}
	if p == phaseDone && (counts(s.op) || s.op == string(apitype.OpSame)) {
		op.changes[s.op]++
	}
	return change{step: s, phase: p, elapsed: m.now().Sub(s.started)}
}

// component says whether the resource only groups others.
func component(meta apitype.StepEventMetadata) bool {
	state := cmp.Or(meta.New, meta.Old)
	return state != nil && !state.Custom
}

func readStep(meta apitype.StepEventMetadata, at time.Time) step {
	return step{
		urn: meta.URN, op: string(meta.Op), typ: ResourceType(meta.Type),
		name: urnName(meta.URN), started: at,
		group: component(meta),
	}
}

// readDiagnostic returns the message in an event. What the engine repeats of a
// message it has given before, or replaces soon, is left out, and so is what it
// notes for its own developers.
func readDiagnostic(e events.EngineEvent) (diagnostic, bool) {
	if e.Error != nil {
		return diagnostic{severity: "warning", text: "an engine event could not be read: " + e.Error.Error()}, true
	}
	if e.ErrorEvent != nil {
		return diagnostic{severity: "error", text: e.ErrorEvent.Error}, true
	}
	d := e.DiagnosticEvent
	if d == nil || d.Ephemeral || d.Severity == "debug" {
		return diagnostic{}, false
	}
	text := strings.TrimSpace(colors.Never.Colorize(d.Message))
	switch text {
	case "", "update failed", "preview failed", "destroy failed", "refresh failed":
		return diagnostic{}, false
	}
	out := diagnostic{severity: strings.TrimSuffix(d.Severity, "#err"), text: text}
	if d.URN != "" {
		out.name, out.root = urnName(d.URN), strings.Contains(d.URN, "::pulumi:pulumi:Stack::")
	}
	return out, true
}
