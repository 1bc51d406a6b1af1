// Package cli is tombolo's command line: the commands, what they share, and
// the exit codes.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/cloud"
	"tombolo/automation/trace"
	"tombolo/cmd/tombolo/cli/ci"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config/strict"
	"tombolo/internal/noquery"
	"tombolo/internal/wording"
	"tombolo/stacks/catalog"
)

// Program is what a program has of its own.
type Program struct {
	// Commands adds its commands to the root.
	Commands func(root *cobra.Command, f *factory.Factory)
	// Programs of the stacks, and Clouds that clusters are in; none where no command deploys.
	Programs catalog.Programs
	Clouds   cloud.Set
	// CheckTree checks platform trees; nil where no command does.
	CheckTree factory.CheckTree
}

// Main runs the command line of this process and returns its exit code.
func Main(p Program) int {
	noquery.Restore()
	f := factory.System()
	f.Programs, f.Clouds, f.CheckTree = p.Programs, p.Clouds, p.CheckTree
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)
	return supervise(f, signals, func(ctx context.Context) int { return p.run(ctx, f, f.Args) })
}

// readingGrace is how long a command may take to end after the first signal while
// it has only read: no signal interrupts a read, such as one of a pipe.
const readingGrace = time.Second

// supervise runs the command. The first signal cancels its context: nothing more
// is started, and what is under way may finish. A command that has only read is
// left after readingGrace. The second signal has the Pulumi engine stop at once,
// which still writes its state and releases its lock. The third leaves.
func supervise(f *factory.Factory, signals <-chan os.Signal, command func(context.Context) int) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan int, 1)
	go func() { done <- command(ctx) }()
	var leave <-chan time.Time
	for received := 0; ; {
		select {
		case code := <-done:
			return code
		case <-leave:
			if !f.Busy() {
				return 130
			}
			continue
		case <-signals:
			received++
		}
		switch received {
		case 1:
			if !f.Streams.Asks() { // a question says itself that it was interrupted
				f.Announce(fmt.Sprintf("interrupted: nothing more is started, and running operations have %s to finish; interrupt again to stop them at once",
					automation.DefaultCancelGrace))
			}
			cancel()
			leave = time.After(readingGrace)
		case 2:
			f.Announce("interrupted again: stopping running operations; the state is written and locks are released; interrupt once more to exit at once")
			f.Hurry()
		default:
			f.Abandon()
			f.Announce("killed: a stack may stay locked; the next command removes the lock and recovers")
			return 130
		}
	}
}

// run parses and runs a command line and returns its exit code.
func (p Program) run(ctx context.Context, f *factory.Factory, args []string) int {
	started := false
	root := p.newRoot(f, &started)
	root.SetArgs(args)
	if err := ci.NameSecrets(); err != nil {
		class := classify(err)
		report(f, class, err)
		return class.code
	}
	cmd, err := root.ExecuteContextC(ctx)
	end := trace.End{Err: err}
	defer func() { f.EndTrace(end) }()
	defer func() { f.EndLog(err) }()
	if err == nil {
		return 0
	}
	var exit *fault.Exit
	if errors.As(err, &exit) {
		end.Code = exit.Code
		return exit.Code
	}
	var own *fault.Error
	if !started && !errors.As(err, &own) {
		err = usage(cmd, err)
	}
	err = refused(err)
	if ctx.Err() != nil && !errors.Is(err, context.Canceled) {
		err = &interruption{err}
	}
	class := classify(err)
	report(f, class, err)
	end.Class, end.Code = class.name, class.code
	return class.code
}

// refused says what to do about a file or directory that the system does not let the command have. Whoever knew
// more has said it already, in an error of a class.
func refused(err error) error {
	var at *fs.PathError
	if classify(err).code != unexpected().code || !errors.As(err, &at) {
		return err
	}
	remedy := ""
	switch {
	case errors.Is(at, fs.ErrPermission):
		remedy = "run tombolo as the user whose it is, or give this one the right to it"
	case errors.Is(at, syscall.EROFS):
		remedy = "mount the file system so that it can be written"
	case errors.Is(at, syscall.ENOSPC):
		remedy = "make room on the file system"
	default:
		return err
	}
	return fault.NewPrecondition("", remedy, err)
}

// interruption is whatever error a command ended with after it was interrupted.
type interruption struct{ err error }

func (i *interruption) Error() string   { return i.err.Error() }
func (i *interruption) Unwrap() []error { return []error{i.err, context.Canceled} }

// failure is the last document in the JSON format when a command failed.
type failure struct {
	Type     string          `json:"type"`
	Class    string          `json:"class"`
	ExitCode int             `json:"exitCode"`
	Message  string          `json:"message"`
	Problems strict.Problems `json:"problems,omitempty"`
}

// report says why a command failed: to people always, to machines on request.
func report(f *factory.Factory, class exitClass, err error) {
	var problems strict.Problems
	errors.As(err, &problems)
	if f.JSON() {
		d := failure{Type: "error", Class: class.name, ExitCode: class.code, Message: err.Error(), Problems: problems}
		if problems != nil {
			d.Message = counted(problems)
		}
		_ = render.WriteJSON(f.Streams.Out, d) // people are told below
	}
	if problems != nil {
		reportProblems(f, problems)
		return
	}
	people(f).Failed("%s", err)
}

// people returns the status for messages that no format holds back.
func people(f *factory.Factory) render.Status {
	s := f.Status()
	s.Quiet = false
	return s
}

func reportProblems(f *factory.Factory, problems strict.Problems) {
	render.Problems(f.Streams.ErrOut, problems, f.Problems())
	if f.Streams.ErrIsTerminal() {
		fmt.Fprintln(f.Streams.ErrOut)
	}
	people(f).Failed("%s; nothing was started", counted(problems))
}

// counted is "3 problems in clusters/demo.yaml" or "3 problems in 2 files".
func counted(problems strict.Problems) string {
	files := map[string]bool{}
	for _, p := range problems {
		files[p.File] = true
	}
	what := wording.Count(len(problems), "problem")
	if len(files) == 1 {
		return fmt.Sprintf("%s in %s", what, problems[0].File)
	}
	return fmt.Sprintf("%s in %d files", what, len(files))
}
