// Package export is the group of commands tombolo export: they write what
// another system needs to run the two programs of each cluster.
package export

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/internal/cli/factory"
	"tombolo/internal/cli/fault"
)

// NewCmdExport returns the group of commands.
func NewCmdExport(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export <what>",
		Short: "Write what another system needs to run the clusters' programs",
		Long: strings.TrimSpace(`
Write what another system needs to run the two programs of each cluster, in the
same order as tombolo. The command starts nothing, and reads only the cluster
files.`),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return fault.NewUsage(fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath()),
				fmt.Sprintf("see `%s --help`", cmd.CommandPath()))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	for _, sub := range []*cobra.Command{NewCmdMatrix(f, nil), NewCmdOperator(f, nil)} {
		sub.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return f.CompleteClusters(), cobra.ShellCompDirectiveDefault
		}
		cmd.AddCommand(sub)
	}
	return cmd
}
