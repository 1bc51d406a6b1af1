package factory

import (
	"context"
	"fmt"

	"tombolo/automation/trace"
	"tombolo/cmd/tombolo/cli/ci"
)

// StartTrace begins the trace of a command, if the environment asks for one. A trace that cannot be
// made is told of, and the command goes on without.
func (f *Factory) StartTrace(ctx context.Context, command, version string) {
	if f.Lookup == nil || !trace.Wanted(f.Lookup) {
		return
	}
	job := ci.Of(f.Lookup)
	run, err := trace.Start(ctx, trace.Options{
		Lookup: f.Lookup, Command: command, Version: version,
		Pipeline: job.Pipeline, PipelineRun: job.Run, PipelineURL: job.URL,
	})
	if err != nil {
		f.warn(err)
		return
	}
	f.trace = run
}

// EndTrace ends it, and sends what is left of it.
func (f *Factory) EndTrace(end trace.End) {
	if err := f.trace.End(end); err != nil {
		f.warn(err)
	}
	f.trace = nil
}

// Trace is that of the command; nil without one, which does nothing.
func (f *Factory) Trace() *trace.Run { return f.trace }

// warn tells people, whatever the format, of what does not change how the command ends.
func (f *Factory) warn(what error) {
	f.mu.Lock()
	view := f.view
	f.mu.Unlock()
	write := func() { fmt.Fprintf(f.Streams.ErrOut, "warning: %s\n", what) }
	if view == nil {
		write()
		return
	}
	view.Interlude(write)
}
