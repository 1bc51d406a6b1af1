// Package verify is the command tombolo verify.
package verify

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/cmd/tombolo/cli/readiness"
	"tombolo/config"
)

// Options of the command.
type Options struct {
	*fleet.Fleet
	Driver func(context.Context, automation.Observer) (readiness.Driver, error)

	Timeout  time.Duration
	Revision string
}

// NewCmdVerify returns the command; runF, if not nil, runs in place of it.
func NewCmdVerify(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Fleet:  fleet.New(f, fleet.Operation{Name: "verify", Order: rollout.Free}),
		Driver: func(ctx context.Context, o automation.Observer) (readiness.Driver, error) { return f.Driver(ctx, o) },
	}
	cmd := &cobra.Command{
		Use:   "verify [<cluster>...]",
		Short: "Wait until everything that Git declares is ready",
		Long: strings.TrimSpace(`
Wait until everything that Flux or Argo CD has for each cluster is ready at the
expected revision, and show it. With Flux, this is every source, Kustomization,
HelmRelease and ExternalSecret. With Argo CD, it is every Application and
ApplicationSet; those of a spoke are on its hub. Systems of teams are shown, and
not waited for. If the time runs out, the first cause is named.`),
		Example: strings.TrimSpace(`
  tombolo verify demo --lab
  tombolo verify --all --timeout 5m
  tombolo verify demo --timeout 30s --output json`),
		Args: opts.Args,
		RunE: func(cmd *cobra.Command, _ []string) error { return factory.Run(cmd.Context(), opts, runF, verifyRun) },
	}
	opts.AddFlags(cmd)
	opts.AddChangedFlags(cmd)
	cmd.Flags().DurationVar(&opts.Timeout, "timeout", readiness.DefaultTimeout, "longest wait for each cluster")
	cmd.Flags().StringVar(&opts.Revision, "revision", "", "`commit` that the repository must be at (default: the one that its source has fetched)")
	return cmd
}

func verifyRun(ctx context.Context, o *Options) error {
	if o.Timeout <= 0 {
		return fault.NewUsage(fmt.Sprintf("--timeout is %s", o.Timeout), "give a duration such as 30s or 5m")
	}
	all, err := o.Choose()
	if err != nil || len(all) == 0 {
		return err
	}
	return fleet.With(ctx, o.Fleet, o.Driver, func(s *fleet.Session[readiness.Driver]) error {
		return s.Run(ctx, all, fleet.Tasks{Work: func(ctx context.Context, t fleet.Terminal, c *config.Cluster) (rollout.Work, error) {
			return rollout.Work{Phase: "verify"}, readiness.Cluster(ctx, s.Driver, c, readiness.Output{
				Out: t.Out, Status: t.Status, Table: o.Table(), JSON: o.JSON(), Timeout: o.Timeout, Revision: o.Revision,
				Named: !t.Alone,
			})
		}})
	})
}
