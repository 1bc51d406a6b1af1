// Package trace makes a trace of a run with OpenTelemetry: a span for the run, its waves,
// clusters, operations on stacks and resources. It goes to the OTLP endpoint that the usual
// variables name; without them nothing is set up.
//
// No span has a value of a property, an output or a secret. An error is the first line
// of what people read on the terminal.
package trace

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	oteltrace "go.opentelemetry.io/otel/trace"

	"tombolo/automation/pulumicli"
)

// flushTimeout is the longest that the end of a command waits for the collector.
const flushTimeout = 5 * time.Second

// Options of a Run. Lookup and Command are required.
type Options struct {
	// Lookup reads a variable of the environment. The exporters read that of the process.
	Lookup func(string) (string, bool)
	// Command that runs, such as up.
	Command string
	// Version of the program. Default: none.
	Version string
	// Pipeline, its run and the URL of that, where the command runs in one. Default: none.
	Pipeline, PipelineRun, PipelineURL string
	// Now is the clock. Default time.Now.
	Now func() time.Time
	// FlushTimeout is the longest wait at the end. Default 5s.
	FlushTimeout time.Duration
}

// Run is the trace of one run of a command. It is told of a fleet's run as a rollout.Observer,
// and of the engine by Operation. All methods may be called from several goroutines. A
// nil Run is that of a command without a trace: its methods do nothing.
type Run struct {
	now      func() time.Time
	flush    time.Duration
	provider *sdktrace.TracerProvider
	tracer   oteltrace.Tracer
	sent     *exporter
	root     node

	mu       sync.Mutex
	seen     map[string]bool
	clusters map[string]node
	waves    waves
}

// node is a span that others are put under.
type node struct {
	oteltrace.Span
	ctx context.Context
}

// Start begins the trace. Spans are exported in batches beside the work, from a queue that is
// bounded: what a collector does not take in time is lost, and holds nothing up.
func Start(ctx context.Context, o Options) (*Run, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.FlushTimeout == 0 {
		o.FlushTimeout = flushTimeout
	}
	// What the SDK logs goes to standard error, with the headers that it cannot read.
	otel.SetLogger(logr.Discard())
	env := environment(o.Lookup)
	inner, err := env.exporter(ctx)
	if err != nil {
		return nil, fmt.Errorf("no trace is made: %w", err)
	}
	sent := &exporter{SpanExporter: inner}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(sent.note))
	who, err := resourceOf(ctx, o.Version)
	if err != nil {
		sent.note(err)
	}
	r := &Run{
		now: o.Now, flush: o.FlushTimeout, sent: sent,
		provider: sdktrace.NewTracerProvider(sdktrace.WithBatcher(sent), sdktrace.WithResource(who)),
		seen:     map[string]bool{}, clusters: map[string]node{},
	}
	r.tracer = r.provider.Tracer("tombolo")
	r.root = r.start(env.parent(ctx), "tombolo "+o.Command, append(pipeline(o), attribute.String("tombolo.command", o.Command))...)
	return r, nil
}

func pipeline(o Options) []attribute.KeyValue {
	var out []attribute.KeyValue
	if o.Pipeline != "" {
		out = append(out, semconv.CICDPipelineName(o.Pipeline))
	}
	if o.PipelineRun != "" {
		out = append(out, semconv.CICDPipelineRunID(o.PipelineRun))
	}
	if o.PipelineURL != "" {
		out = append(out, semconv.CICDPipelineRunURLFull(o.PipelineURL))
	}
	return out
}

// End is how a command ended.
type End struct {
	// Err is its error; nil when it succeeded.
	Err error
	// Class of the error, and the exit code of the process.
	Class string
	Code  int
}

// End ends the trace and waits until it is sent, a few seconds at most. The error says that it was
// not, and why; it matters to nobody but who reads traces.
func (r *Run) End(e End) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	r.endAll()
	r.root.SetAttributes(semconv.ProcessExitCode(e.Code), attribute.Int("tombolo.clusters", len(r.seen)))
	r.mu.Unlock()
	if e.Class != "" {
		r.root.SetAttributes(semconv.ErrorTypeKey.String(e.Class))
	}
	r.end(r.root, e.Err)
	ctx, cancel := context.WithTimeout(context.Background(), r.flush)
	defer cancel()
	err := r.provider.Shutdown(ctx)
	return r.sent.failure(err)
}

// start begins a span now.
func (r *Run) start(under context.Context, name string, attributes ...attribute.KeyValue) node {
	ctx, span := r.tracer.Start(under, name, oteltrace.WithTimestamp(r.now()), oteltrace.WithAttributes(attributes...))
	return node{Span: span, ctx: ctx}
}

// end ends a span now.
func (r *Run) end(n node, err error) {
	if err != nil {
		n.SetStatus(codes.Error, Line(err.Error()))
	}
	n.End(oteltrace.WithTimestamp(r.now()))
}

// longest is how long the text of an error is in a span, in runes.
const longest = 500

// Line is the first line of an error as it leaves this machine: without passwords in URLs, and cut.
func Line(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	runes := []rune(strings.TrimSpace(pulumicli.Reason(line)))
	if len(runes) > longest {
		runes = append(runes[:longest-1], '…')
	}
	return string(runes)
}

// exporter keeps why spans were not exported. The SDK is told of none: it would log each failure
// to standard error.
type exporter struct {
	sdktrace.SpanExporter

	mu    sync.Mutex
	first error
}

func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.note(err)
	}
	return nil
}

func (e *exporter) note(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.first == nil {
		e.first = err
	}
}

// failure is why the collector does not have all; nil when it has. shutdown is the end of the
// wait for it.
func (e *exporter) failure(shutdown error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	err := e.first
	switch {
	case err == nil && errors.Is(shutdown, context.DeadlineExceeded):
		err = errors.New("the collector did not answer in time")
	case err == nil:
		err = shutdown
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("the trace is not complete: %s", presentable(err))
}

// address is one in the text of an error: its path, query and user may have a key of the collector.
var address = regexp.MustCompile(`(https?://)(?:[^/\s@"]*@)?([^/\s"?#]+)[^\s":]*`)

// presentable is an error of an exporter without the page that an HTTP server answers: some have the
// request's headers in it.
func presentable(err error) string {
	text, _, _ := strings.Cut(err.Error(), "body: ")
	return strings.TrimRight(address.ReplaceAllString(Line(text), "$1$2"), " (:")
}
