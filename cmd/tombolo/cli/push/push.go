// Package push is the command tombolo push.
package push

import (
	"context"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/flags"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/cmd/tombolo/cli/handover"
	"tombolo/cmd/tombolo/cli/host"
	"tombolo/config"
)

// Options of the command.
type Options struct {
	*fleet.Fleet
	Driver func(context.Context, automation.Observer) (Driver, error)
	// Asked is the host that DeployKey is about, and HTTP what asks it. Default: one like
	// http.DefaultClient.
	host.Asked
	HTTP *http.Client

	Branch                    string
	OwnCredentials, DeployKey bool
}

// Driver is what the command needs of automation.Driver.
type Driver interface {
	handover.Driver
	DeployKey(context.Context, *config.Cluster) (string, error)
}

// NewCmdPush returns the command; runF, if not nil, runs in place of it.
func NewCmdPush(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Fleet:  fleet.New(f, fleet.Operation{Name: "push", Order: rollout.Forward, Changes: true}),
		Driver: func(ctx context.Context, o automation.Observer) (Driver, error) { return f.Driver(ctx, o) },
		Asked:  host.Asked{Lookup: f.Lookup, Kind: host.Auto},
	}
	cmd := &cobra.Command{
		Use:   "push [<cluster>...]",
		Short: "Hand Flux or Argo CD itself over to Git",
		Long: strings.TrimSpace(`
Commit the engine's install manifest and what has it applied to the repository
that each cluster follows: below flux-system in its path for Flux; below argocd, with
the Application argocd.yaml, for Argo CD. From then on, the engine manages itself: a
commit upgrades it, and up leaves it alone. A cluster whose Argo CD is that of its hub
has nothing to push.

The command never forces a push, and makes no commit if nothing differs. If the
branch takes no pushes, the commit goes to another branch, for a pull request.
The Secret with the credentials is never committed. The command needs no
cluster: run it before or after up. A cluster with change windows is pushed only
in these windows, except to another --branch.

--deploy-key first has GitHub or GitLab take the public half of gitops.auth's SSH
key as a deploy key of the repository, which may read and never write. So the push
itself goes with your own git configuration. The token, from GITHUB_TOKEN or
GITLAB_TOKEN, may write deploy keys. A key that is there already is left alone.`),
		Example: strings.TrimSpace(`
  tombolo push demo --lab
  tombolo push prod --branch upgrade-flux
  tombolo push prod --own-credentials
  tombolo push prod --deploy-key`),
		Args: opts.Args,
		RunE: func(cmd *cobra.Command, _ []string) error { return factory.Run(cmd.Context(), opts, runF, pushRun) },
	}
	opts.AddFlags(cmd)
	cmd.Flags().StringVar(&opts.Branch, "branch", "", "push to this `branch`, for a pull request (default: the branch that the cluster follows)")
	cmd.Flags().BoolVar(&opts.OwnCredentials, "own-credentials", false, "push with your own git configuration, not with gitops.auth")
	cmd.Flags().BoolVar(&opts.DeployKey, "deploy-key", false, "have the Git host let gitops.auth's SSH key read the repository, and push with your own git configuration")
	kind := flags.NewEnum(&opts.Kind, host.Auto, host.OnGitHub, host.OnGitLab)
	cmd.Flags().Var(kind, "host", "with --deploy-key, kind of the Git host; auto takes it from gitops.url, or from the job's environment")
	cmd.Flags().StringVar(&opts.URL, "api-url", "", "with --deploy-key, `URL` of the host's API (default: that of the host in gitops.url)")
	factory.CompleteFlag(cmd, "host", kind.Values())
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
	return fleet.With(ctx, o.Fleet, o.Driver, func(s *fleet.Session[Driver]) error {
		return s.Run(ctx, all, fleet.Tasks{Changes: pushes, Work: func(ctx context.Context, t fleet.Terminal, c *config.Cluster) (rollout.Work, error) {
			return rollout.Work{Phase: "push"}, o.push(ctx, t, s.Driver, c)
		}})
	})
}

// push pushes one cluster's engine, and registers its key before.
func (o *Options) push(ctx context.Context, t fleet.Terminal, driver Driver, c *config.Cluster) error {
	if o.DeployKey && !c.IsSpoke() { // whose hub reads the repository
		if err := o.register(ctx, t, driver, c); err != nil {
			return err
		}
	}
	return handover.Cluster(ctx, driver, c, handover.Output{
		Out: t.Out, Status: t.Status, JSON: o.JSON(), Branch: o.Branch, OwnCredentials: o.OwnCredentials || o.DeployKey,
	})
}
