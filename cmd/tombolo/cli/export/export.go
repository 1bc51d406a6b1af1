// Package export is the group of commands tombolo export: they write what
// another system needs to run the two programs of each cluster.
package export

import (
	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
)

// NewCmdExport returns the group of commands.
func NewCmdExport(f *factory.Factory) *cobra.Command {
	cmd := factory.Group("export <what>", "Write what another system needs to run the clusters' programs", `
Write what another system needs to run the two programs of each cluster, in the
same order as tombolo. The command starts nothing, and reads only the cluster
files.`)
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	for _, sub := range []*cobra.Command{NewCmdMatrix(f, nil), NewCmdOperator(f, nil)} {
		sub.ValidArgsFunction = func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return f.CompleteClusters(prefix), cobra.ShellCompDirectiveDefault
		}
		cmd.AddCommand(sub)
	}
	return cmd
}
