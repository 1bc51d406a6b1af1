package lab

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tombolo/internal/cli/factory"
	"tombolo/internal/cli/fault"
	"tombolo/lab"
)

// This file is what the lab's stand-ins for the clouds' command lines have in common.

// newShim is a hidden command that stands for another program, whose arguments it reads itself.
func newShim(use, short string, run func(ctx context.Context, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use:                use,
		Short:              short,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE:               func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), args) },
	}
}

// inLab has the lab of the project answer.
func inLab[R, A any](f *factory.Factory, answer func(*lab.Lab, context.Context, R) (A, error)) func(context.Context, R) (A, error) {
	return func(ctx context.Context, r R) (A, error) {
		l, err := f.Lab()
		if err != nil {
			var none A
			return none, err
		}
		return answer(l, ctx, r)
	}
}

// refuse writes a cloud's refusal on the error output, and ends the program with a code.
func refuse(errOut io.Writer, code int, format string, args ...any) error {
	if _, err := fmt.Fprintf(errOut, format, args...); err != nil {
		return err
	}
	return &fault.Exit{Code: code}
}
