package factory

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
)

// Run runs a command with its options; runF, if not nil, in place of run.
func Run[O any](ctx context.Context, o *O, runF, run func(context.Context, *O) error) error {
	if runF != nil {
		return runF(ctx, o)
	}
	return run(ctx, o)
}

// With opens a driver, and shows its progress while do uses it.
func With[D any](ctx context.Context, progress func() *render.Progress, open func(context.Context, automation.Observer) (D, error),
	do func(D, *render.Progress) error,
) error {
	p := progress()
	defer p.Close()
	driver, err := open(ctx, p)
	if err != nil {
		return err
	}
	return do(driver, p)
}

// Group is a command that only has others.
func Group(use, short, long string) *cobra.Command {
	return &cobra.Command{
		Use:   use,
		Short: short,
		Long:  strings.TrimSpace(long),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return fault.NewUsage(unknown(cmd, args[0]), fmt.Sprintf("see `%s --help`", cmd.CommandPath()))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}

// unknown says that a group has no such command, and which was probably meant.
func unknown(group *cobra.Command, name string) string {
	var known []string
	for _, cmd := range group.Commands() {
		if cmd.IsAvailableCommand() {
			known = append(known, cmd.Name())
		}
	}
	return fmt.Sprintf("unknown command %q for %q%s", name, group.CommandPath(), fault.Meant(name, known))
}
