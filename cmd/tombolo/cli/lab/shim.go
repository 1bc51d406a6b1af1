package lab

import (
	"context"

	"github.com/spf13/cobra"
)

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
