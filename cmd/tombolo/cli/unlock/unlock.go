// Package unlock is the command tombolo unlock.
package unlock

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/flags"
	"tombolo/cmd/tombolo/cli/locks"
	"tombolo/stacks"
)

// NewCmdUnlock returns the command; runF, if not nil, runs in place of it.
func NewCmdUnlock(f *factory.Factory, runF func(context.Context, *locks.Options) error) *cobra.Command {
	opts := locks.NewOptions(f)
	cmd := &cobra.Command{
		Use:   "unlock <cluster>",
		Short: "Show who holds a cluster's stacks, and remove locks left behind",
		Long: strings.TrimSpace(`
Show who holds the locks on a cluster's stacks and since when, and remove them.

Other commands remove a lock themselves when they can tell that its owner is gone.
This command is for the other locks: the owner is on another host, or the backend
does not say who holds the lock. Such a lock is removed only with --owner-is-gone.
Make sure first that the owner is gone: when two operations run on one stack, the
work of one of them is lost.

On a terminal, the command asks before it removes a lock; --yes skips the question.
Without a terminal and without --yes, it only shows the locks.`),
		Example: strings.TrimSpace(`
  tombolo unlock demo
  tombolo unlock demo --stack core --owner-is-gone`),
		Args: clusters.ClusterFile.One(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Name = args[0]
			return factory.Run(cmd.Context(), opts, runF, locks.Run)
		},
	}
	stack := flags.NewEnum(&opts.Stack, stacks.Kinds()...)
	cmd.Flags().Var(stack, "stack", "only the lock of this stack")
	factory.CompleteFlag(cmd, "stack", stack.Values())
	opts.AddFlags(cmd)
	return cmd
}
