package pipelines

import (
	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/locks"
	"tombolo/config"
	"tombolo/stacks"
)

// newUnlock returns the command that removes the lock of the stack of an account's pipelines, which account loads.
func newUnlock(f *factory.Factory, account func(string) (*config.Account, error)) *cobra.Command {
	opts := locks.NewOptions(f)
	opts.Stack = stacks.Pipelines
	opts.Clusters = func(names []string) ([]*config.Cluster, error) {
		a, err := account(names[0])
		if err != nil {
			return nil, err
		}
		return []*config.Cluster{a.Cluster()}, nil
	}
	cmd := &cobra.Command{
		Use:   "unlock <account>",
		Short: "Remove the lock of an account's pipelines that was left behind",
		Long:  "Show who holds the lock on the stack, and remove it, as `tombolo unlock` does.",
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Name = args[0]
			return factory.Run(cmd.Context(), opts, nil, locks.Run)
		},
	}
	opts.AddFlags(cmd)
	return cmd
}
