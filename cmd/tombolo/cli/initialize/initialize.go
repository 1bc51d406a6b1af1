// Package initialize is the group of commands tombolo init.
package initialize

import (
	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
)

// NewCmdInit returns the group of commands.
func NewCmdInit(f *factory.Factory) *cobra.Command {
	cmd := factory.Group("init <what>", "Write the first files of a repository", "")
	cmd.AddCommand(NewCmdProject(f), NewCmdCluster(f), NewCmdPlatform(f), NewCmdSystem(f))
	return cmd
}
