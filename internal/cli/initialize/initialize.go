// Package initialize is the group of commands tombolo init.
package initialize

import (
	"fmt"

	"github.com/spf13/cobra"

	"tombolo/internal/cli/factory"
	"tombolo/internal/cli/fault"
)

// NewCmdInit returns the group of commands.
func NewCmdInit(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init <what>",
		Short: "Write the first files of a repository",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return fault.NewUsage(fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath()),
				fmt.Sprintf("see `%s --help`", cmd.CommandPath()))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(NewCmdPlatform(f, nil))
	return cmd
}
