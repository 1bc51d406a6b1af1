package lab

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/lab/control"
)

// NewCmdEnter returns the hidden command by which a command with --lab enters the lab: it writes
// control.Entry documents.
func NewCmdEnter(f *Given) *cobra.Command {
	opts := f.options()
	return &cobra.Command{
		Use:    "enter",
		Short:  "Start the lab if need be, and tell a program its environment",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(cmd *cobra.Command, _ []string) error { return enterRun(cmd.Context(), opts) },
	}
}

func enterRun(ctx context.Context, o Options) error {
	out := json.NewEncoder(o.Out)
	l, err := o.Lab()
	if err != nil {
		return err
	}
	env, err := enter(ctx, l, func(s control.Step) { _ = out.Encode(control.Entry{Step: &s}) })
	if err != nil {
		return errors.Join(out.Encode(control.Entry{Class: string(classOf(err)), Failed: err.Error()}), &fault.Exit{Code: 1})
	}
	return out.Encode(control.Entry{Env: env})
}

func enter(ctx context.Context, l Lab, progress func(control.Step)) (map[string]string, error) {
	s, err := l.Status(ctx)
	if err != nil {
		return nil, err
	}
	if !s.Running {
		if err := l.Up(ctx, progress); err != nil {
			return nil, factory.LabFailed(err)
		}
	}
	return l.Env()
}

// classOf is the class of an error, for the exit code of the command that enters.
func classOf(err error) fault.Class {
	var own *fault.Error
	switch {
	case errors.As(err, &own):
		return own.Class
	case errors.Is(err, control.ErrNotRunning), errors.Is(err, control.ErrHangs):
		return fault.Precondition
	}
	return ""
}
