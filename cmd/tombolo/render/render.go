// Package render turns the Pulumi engine's events, and the results of
// commands, into what people and machines read: a live view on a terminal,
// plain lines elsewhere, JSON documents on request.
//
// Data goes to one writer and status to another; the caller says which. No
// secret is written: resource properties come only from events, where the
// engine has blinded them, and what still carries the engine's mark of a
// secret is masked here again.
package render

import (
	"io"
	"sync"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"

	"tombolo/automation/rollout"
)

// Format is how progress and results are written.
type Format string

// The formats.
const (
	// Text is a live view on a terminal and plain lines elsewhere.
	Text Format = "text"
	// Plain is plain lines everywhere.
	Plain Format = "plain"
	// JSON is one JSON document per line on the data writer, for each event
	// and each result.
	JSON Format = "json"
	// Markdown is one comment for a pull request on the data writer, which
	// preview and check --promotion alone write; progress is as with Text.
	Markdown Format = "markdown"
)

// Formats lists the formats that every command has, in the order in which they
// are offered.
func Formats() []Format { return []Format{Text, Plain, JSON} }

// Options say where progress goes and how.
type Options struct {
	// Out takes the JSON documents.
	Out io.Writer
	// Err takes the live view and the plain lines.
	Err io.Writer
	// Format of the progress. Default Text.
	Format Format
	// Terminal says that Err is a terminal.
	Terminal bool
	// Width of that terminal in cells, asked for at each drawing. Default 80.
	Width func() int
	// Height of that terminal in rows, asked for at each drawing. The view of a
	// run does not grow beyond it. Default 24.
	Height func() int
	// Style of what goes to Err.
	Style Style
	// Refresh is the time between two drawings of the live view in which
	// nothing but the clock has changed. Default: it is drawn on events only.
	Refresh time.Duration
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Progress follows operations on stacks and shows them. It is what the driver
// calls its observer. All methods may be called from several goroutines.
type Progress struct {
	mu    sync.Mutex
	model *model
	view  view
	stop  chan struct{}
	ended chan struct{}
}

// view shows what the model has learnt. Calls are serialised by Progress.
type view interface {
	started(op *operation)
	resource(op *operation, c change)
	message(op *operation, d diagnostic)
	finished(op *operation)
	waiting(op *operation)
	note(stack, message string)
	runStarted(r *runState)
	clusterStarted(r *runState, c *clusterState)
	clusterFinished(r *runState, c *clusterState)
	gateStarted(r *runState)
	gateFinished(r *runState, end rollout.GateEnd)
	runFinished(r *runState, s rollout.Summary)
	interlude(write func())
	tick()
	close()
}

// New returns a Progress. Close it when the operations are over.
func New(o Options) *Progress {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Width == nil {
		o.Width = func() int { return 80 }
	}
	if o.Height == nil {
		o.Height = func() int { return 24 }
	}
	p := &Progress{model: newModel(o.Now)}
	switch {
	case o.Format == JSON:
		p.view = &jsonView{w: o.Out, now: o.Now}
	case o.Format != Plain && o.Terminal:
		p.view = &liveView{o: o, model: p.model}
		p.refresh(o.Refresh)
	default:
		p.view = &plainView{w: o.Err, style: o.Style, now: o.Now, last: map[string]time.Time{}}
	}
	return p
}

// refresh redraws the view until Close.
func (p *Progress) refresh(every time.Duration) {
	if every <= 0 {
		return
	}
	p.stop, p.ended = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(p.ended)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-ticker.C:
				p.mu.Lock()
				p.view.tick()
				p.mu.Unlock()
			}
		}
	}()
}

// StackPlanned says how many changes the next operation on the stack makes.
func (p *Progress) StackPlanned(stack string, changes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.model.planned[stack] = changes
}

// StackStarted says that an operation, such as up, begins on a stack.
func (p *Progress) StackStarted(stack, operation string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.view.started(p.model.start(stack, operation))
}

// EngineEvent takes an event of the operation that runs on the stack.
func (p *Progress) EngineEvent(stack string, e events.EngineEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	op := p.model.operation(stack)
	if c, ok := p.model.resource(op, e); ok {
		p.view.resource(op, c)
	}
	if d, ok := readDiagnostic(e); ok {
		p.view.message(op, d)
	}
}

// StackFinished says that the operation on the stack is over. The result
// holds the number of resources by kind of change, or err says why there is
// none.
func (p *Progress) StackFinished(stack string, result map[string]int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.view.finished(p.model.finish(stack, result, err))
}

// Waiting says what a verification of a cluster waits for; "" when it is over.
func (p *Progress) Waiting(cluster, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.view.waiting(p.model.wait(cluster, what))
}

// Note shows a message about a stack, or about all when stack is empty.
func (p *Progress) Note(stack, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.view.note(stack, message)
}

// Plans returns what the previews so far have found, in the order of their
// start.
func (p *Progress) Plans() []Plan {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.model.plansInOrder()
}

// Close draws the last state, with the errors of operations whose end was not
// told, and stops refreshing. It may be called twice.
func (p *Progress) Close() {
	if p.stop != nil {
		close(p.stop)
		<-p.ended
		p.stop = nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, op := range p.model.ops {
		if op.over {
			continue
		}
		op.over, op.ended = true, p.model.now()
		for _, d := range op.unreported() {
			p.view.message(op, d)
		}
	}
	p.view.close()
}
