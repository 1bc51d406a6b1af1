// Command lab-aws is the `aws` of the lab of the checkout that is the working directory. It
// is `tombolo lab aws` in a program of its own, which starts in a few milliseconds: every kubectl
// and every provider of Kubernetes starts it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/lab/awscli"
	"tombolo/lab/control"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	opts := awscli.In(".", os.Stdout, os.Stderr)
	opts.Args = os.Args[1:]
	err := awscli.Run(ctx, opts)
	if exit := new(fault.Exit); err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, "✗", err)
	}
	os.Exit(code(err))
}

// code is the exit code that tombolo has for the error (docs/reference/cli.md).
func code(err error) int {
	var exit *fault.Exit
	var own *fault.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.Code
	case errors.Is(err, context.Canceled):
		return 130
	case errors.As(err, &own) && own.Class == fault.Usage:
		return 2
	case errors.Is(err, control.ErrNotRunning), errors.Is(err, control.ErrHangs):
		return 4
	}
	return 1
}
