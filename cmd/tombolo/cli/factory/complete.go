package factory

import "github.com/spf13/cobra"

// CompleteFlag offers the values of a flag to the shell. The flag is one that
// the command has: cobra's only error is that it does not, and then there is
// nothing to complete.
func CompleteFlag(cmd *cobra.Command, flag string, values []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// AddWithoutSecrets adds --without-secrets, of commands that only look.
func AddWithoutSecrets(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "without-secrets", false, "decrypt nothing, and read no secret that a cluster file names: secrets are unknown")
}
