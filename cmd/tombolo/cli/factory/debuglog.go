package factory

import (
	"context"
	"log/slog"
	"sync"

	"tombolo/automation"
	"tombolo/internal/debuglog"
)

// debugVariable is the variable of the environment in place of --verbose.
const debugVariable = "TOMBOLO_DEBUG"

// StartLog has the command log what it does to standard error, if --verbose or TOMBOLO_DEBUG asks
// for it. EndLog ends that.
func (f *Factory) StartLog(ctx context.Context, command string, flagGiven bool) error {
	err := f.fromEnv(debugVariable, flagGiven, &f.Globals.Verbose)
	if err != nil || !f.Globals.Verbose {
		return err
	}
	before := slog.Default()
	slog.SetDefault(debuglog.Logger(f.Streams.ErrOut))
	end := debuglog.Begin(ctx, "command", slog.String("name", command))
	f.endLog = func(err error) {
		end(err)
		slog.SetDefault(before)
	}
	return nil
}

// EndLog logs how the command has ended.
func (f *Factory) EndLog(err error) {
	if f.endLog != nil {
		f.endLog(err)
	}
	f.endLog = nil
}

// logged logs the operations on stacks, and tells the observer of them.
type logged struct {
	automation.Observer
	ctx context.Context

	mu  sync.Mutex
	end map[string]func(error, ...slog.Attr)
}

// observer is the observer that a driver tells: it logs when the command does.
func (f *Factory) observer(ctx context.Context, o automation.Observer) automation.Observer {
	if !f.Globals.Verbose || o == nil {
		return o
	}
	return &logged{Observer: o, ctx: ctx, end: map[string]func(error, ...slog.Attr){}}
}

// StackStarted is that of automation.Observer.
func (l *logged) StackStarted(stack, operation string) {
	l.mu.Lock()
	l.end[stack] = debuglog.Begin(l.ctx, "stage", slog.String("stack", stack), slog.String("operation", operation))
	l.mu.Unlock()
	l.Observer.StackStarted(stack, operation)
}

// StackFinished is that of automation.Observer.
func (l *logged) StackFinished(stack string, counts map[string]int, err error) {
	l.mu.Lock()
	if end := l.end[stack]; end != nil {
		end(err)
	}
	l.mu.Unlock()
	l.Observer.StackFinished(stack, counts, err)
}
