// Package push is the command tombolo push.
package push

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// Driver is what the command needs of automation.Driver.
type Driver interface {
	Push(context.Context, *config.Cluster, automation.PushOptions) (automation.PushResult, error)
}

// Options of the command.
type Options struct {
	*fleet.Fleet
	Driver func(context.Context, automation.Observer) (Driver, error)

	Branch         string
	OwnCredentials bool
}

// NewCmdPush returns the command; runF, if not nil, runs in place of it.
func NewCmdPush(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Fleet:  fleet.New(f, fleet.Operation{Name: "push", Order: rollout.Forward, Changes: true}),
		Driver: func(ctx context.Context, o automation.Observer) (Driver, error) { return f.Driver(ctx, o) },
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
	return fleet.With(ctx, o.Fleet, o.Driver, func(s *fleet.Session[Driver]) error {
		return s.Run(ctx, all, fleet.Tasks{Changes: pushes, Work: func(ctx context.Context, t fleet.Terminal, c *config.Cluster) (rollout.Work, error) {
			return rollout.Work{Phase: "push"}, Cluster(ctx, s.Driver, c, Output{
				Out: t.Out, Status: t.Status, JSON: o.JSON(), Branch: o.Branch, OwnCredentials: o.OwnCredentials,
			})
		}})
	})
}

// Output says how one cluster's engine is pushed, and where the result goes.
type Output struct {
	Out            io.Writer
	Status         render.Status
	JSON           bool
	Branch         string
	OwnCredentials bool
}

// document is the result in the JSON format.
type document struct {
	Type string `json:"type"`
	automation.PushResult
}

// Cluster pushes one cluster's engine and says what came of it.
func Cluster(ctx context.Context, driver Driver, c *config.Cluster, o Output) error {
	o.Status.Doing("%s: pushing Flux's manifests to %s", c.Name, c.GitOps.URL)
	r, err := driver.Push(ctx, c, automation.PushOptions{Branch: o.Branch, OwnCredentials: o.OwnCredentials})
	if err != nil {
		return err
	}
	if o.JSON {
		return render.WriteJSON(o.Out, document{Type: "push", PushResult: r})
	}
	o.say(r)
	return nil
}

func (o Output) say(r automation.PushResult) {
	if r.Refusal != "" {
		o.Status.Plain("  branch %s does not accept the push: %s", r.Into, r.Refusal)
	}
	switch {
	case !r.Proposed && !r.Changed:
		o.Status.Done("%s: already up to date at %s, branch %s", r.Cluster, short(r.Commit), r.Branch)
	case !r.Proposed:
		o.Status.Done("%s: pushed %s to branch %s; Flux takes itself over when it has fetched it", r.Cluster, short(r.Commit), r.Branch)
	default:
		done := "pushed"
		if !r.Changed {
			done = "already up to date:"
		}
		o.Status.Done("%s: %s %s on branch %s", r.Cluster, done, short(r.Commit), r.Branch)
		o.Status.Plain("  Open a pull request from %s into %s: %s", r.Branch, r.Into, r.Repository)
	}
}

// short is enough of a commit's id to tell it from others, as git shows it.
func short(commit string) string { return commit[:min(len(commit), 12)] }
