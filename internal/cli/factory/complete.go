package factory

import "github.com/spf13/cobra"

// CompleteFlag offers the values of a flag to the shell. The flag is one that
// the command has: cobra's only error is that it does not, and then there is
// nothing to complete.
func CompleteFlag(cmd *cobra.Command, flag string, values []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}
