// Package push is the command tombolo push.
package push

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/cmd/tombolo/cli/handover"
	"tombolo/config"
)

// Options of the command.
type Options struct {
	*fleet.Fleet
	Driver func(context.Context, automation.Observer) (handover.Driver, error)

	Branch         string
	OwnCredentials bool
}

// NewCmdPush returns the command; runF, if not nil, runs in place of it.
func NewCmdPush(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Fleet:  fleet.New(f, fleet.Operation{Name: "push", Order: rollout.Forward, Changes: true}),
		Driver: func(ctx context.Context, o automation.Observer) (handover.Driver, error) { return f.Driver(ctx, o) },
	}
	cmd := &cobra.Command{
		Use:   "push [<cluster>...]",
		Short: "Hand the GitOps engine itself over to Git",
		Long: strings.TrimSpace(`
Commit the engine's install manifest and sync objects to the repository that each
cluster follows, below flux-system in its path. From then on, the engine manages
itself: a commit upgrades it, and up leaves it alone.

The command never forces a push, and makes no commit if nothing differs. If the
branch takes no pushes, the commit goes to another branch, for a pull request.
The Secret with the credentials is never committed. The command needs no
cluster: run it before or after up. A cluster with change windows is pushed only
in these windows, except to another --branch.`),
		Example: strings.TrimSpace(`
  tombolo push demo --lab
  tombolo push prod --branch upgrade-flux
  tombolo push prod --own-credentials`),
		Args: opts.Args,
		RunE: func(cmd *cobra.Command, _ []string) error { return factory.Run(cmd.Context(), opts, runF, pushRun) },
	}
	opts.AddFlags(cmd)
	cmd.Flags().StringVar(&opts.Branch, "branch", "", "push to this `branch`, for a pull request (default: the branch that the cluster follows)")
	cmd.Flags().BoolVar(&opts.OwnCredentials, "own-credentials", false, "push with your own git configuration, not with gitops.auth")
	return cmd
}

func pushRun(ctx context.Context, o *Options) error {
	all, err := o.Choose()
	if err != nil || len(all) == 0 {
		return err
	}
	pushes := func(context.Context, *config.Cluster) bool { return o.Branch == "" }
	if o.Branch == "" {
		if err := o.Enter(all); err != nil {
			return err
		}
	}
	return fleet.With(ctx, o.Fleet, o.Driver, func(s *fleet.Session[handover.Driver]) error {
		return s.Run(ctx, all, fleet.Tasks{Changes: pushes, Work: func(ctx context.Context, t fleet.Terminal, c *config.Cluster) (rollout.Work, error) {
			return rollout.Work{Phase: "push"}, handover.Cluster(ctx, s.Driver, c, handover.Output{
				Out: t.Out, Status: t.Status, JSON: o.JSON(), Branch: o.Branch, OwnCredentials: o.OwnCredentials,
			})
		}})
	})
}
