// Package rebuild is the command tombolo rebuild.
package rebuild

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/rebuild"
	"tombolo/automation/teardown"
	"tombolo/automation/upgrade"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/consent"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/cmd/tombolo/cli/notice"
	"tombolo/cmd/tombolo/cli/readiness"
	"tombolo/cmd/tombolo/cli/treecheck"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// Driver is what the command needs of automation.Driver.
type Driver interface {
	PlanRebuild(context.Context, *config.Cluster, automation.RebuildOptions) (automation.RebuildPlan, error)
	Rebuild(context.Context, *config.Cluster, automation.RebuildPlan, automation.RebuildOptions) error
	readiness.Driver
}

// Options of the command.
type Options struct {
	Clusters func([]string) ([]*config.Cluster, error)
	// Tools says what the lab lacks for the clusters.
	Tools func([]*config.Cluster) error
	// Check refuses a cluster that its platform tree does not fit.
	Check  func(context.Context, *config.Cluster) error
	Driver func(context.Context, automation.Observer) (Driver, error)
	// Spent says where the time goes.
	Spent *rebuild.Spent
	// Notices tell the cluster's channel how the rebuild has ended; nil for none.
	Notices func() *notice.Sender

	Name string
	consent.Consent
	consent.Remainder
	// Version of Kubernetes that the new cluster gets; "" for that of the file.
	Version string
	// Timeout is the longest wait until the new cluster is ready.
	Timeout time.Duration
	// AssumeReachable goes on where the new cluster's API seems to be out of reach.
	AssumeReachable bool
	fleet.Single
	accept []string
}

// NewCmdRebuild returns the command; runF, if not nil, runs in place of it.
func NewCmdRebuild(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Clusters: f.Clusters, Tools: f.LabTools,
		Check:   func(ctx context.Context, c *config.Cluster) error { return treecheck.Cluster(ctx, f, c) },
		Notices: f.Notices, Spent: rebuild.NewSpent(time.Now),
		Single: fleet.NewSingle(f, "rebuild"),
	}
	opts.Driver = func(ctx context.Context, o automation.Observer) (Driver, error) {
		driver, err := f.Driver(ctx, o)
		if err == nil && opts.AssumeReachable {
			driver.AssumeReachable()
		}
		return driver, err
	}
	cmd := &cobra.Command{
		Use:   "rebuild <cluster>",
		Short: "Destroy a cluster and make it again, also with another version",
		Long: strings.TrimSpace(`
Destroy a cluster as destroy does, make it again from its file as up does, and
wait until everything that Git declares is ready. With --version, the new
cluster has another version of Kubernetes, which may also be older; the command
writes it into the file.

Before anything is destroyed, the command checks what would keep the new cluster from
being made: the cluster file with the version, addons and engine with that version,
everything that doctor checks, and the platform tree, as check does. It refuses
what destroy refuses, such as a hub that has spokes.

The core stack records the progress. If something stops the command, run it
again, on any machine with the state: it continues there.

--keep-data keeps buckets, file systems and snapshots. The new cluster uses the
buckets and file systems of the old one.

The command asks as destroy does: type the cluster's name, or pass --yes. For a
cluster with protect: true, type its name, or pass it with --yes-destroy.`),
		Example: strings.TrimSpace(`
  tombolo rebuild demo --lab
  tombolo rebuild demo --version 1.36
  tombolo rebuild demo --version 1.36 --keep-data --yes
  tombolo rebuild prod --yes-destroy prod`),
		Args: cobra.MatchAll(clusters.ClusterFile.One(1), opts.Guard.Check, opts.checkFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Name = args[0]
			return factory.Run(cmd.Context(), opts, runF, rebuildRun)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&opts.Version, "version", "", "the `version` of Kubernetes of the new cluster, such as 1.36 (default: the one in the file)")
	opts.Consent.AddFlags(cmd)
	opts.Remainder.AddFlags(cmd)
	fs.StringSliceVar(&opts.accept, "accept", nil, "go on in spite of these `risks`: "+strings.Join(risks(), ", "))
	fs.BoolVar(&opts.AssumeReachable, "assume-reachable", false,
		"go on where this machine seems not to reach the new cluster's Kubernetes API, as through a network that it cannot see")
	fs.DurationVar(&opts.Timeout, "timeout", readiness.DefaultTimeout, "longest wait until the new cluster is ready")
	opts.AddFlag(cmd)
	factory.CompleteFlag(cmd, "accept", risks())
	return cmd
}

// risks are those of another version: nothing is asked of EKS's insights, which are about
// the cluster that goes.
func risks() []string { return []string{string(upgrade.PinnedAddons), string(upgrade.UntestedEngine)} }

func (o *Options) checkFlags(*cobra.Command, []string) error {
	for name, d := range map[string]time.Duration{"timeout": o.Timeout, "drain-timeout": o.DrainTimeout} {
		if d <= 0 {
			return fault.NewUsage(fmt.Sprintf("--%s is %s", name, d), "pass a duration such as 5m")
		}
	}
	for _, name := range o.accept {
		if !slices.Contains(risks(), name) {
			return fault.NewUsage(fmt.Sprintf("--accept %s: there is no such risk", name), "use "+strings.Join(risks(), ", "))
		}
	}
	return nil
}

func rebuildRun(ctx context.Context, o *Options) error {
	all, err := o.Clusters([]string{o.Name})
	if err != nil {
		return err
	}
	if err := o.Refuse(all, o.cannotAsk()); err != nil {
		return err
	}
	if err := o.Enter(o.Status(), all); err != nil {
		return err
	}
	if err := o.Tools(all); err != nil {
		return err
	}
	open := func(ctx context.Context, observer automation.Observer) (Driver, error) {
		return o.Driver(ctx, o.Spent.Beside(observer))
	}
	return factory.With(ctx, o.Progress, open, func(driver Driver, p *render.Progress) error { return o.one(ctx, driver, p, all[0]) })
}

// cannotAsk is why nobody can be asked; nil when somebody can.
func (o *Options) cannotAsk() error {
	return fault.CannotAsk("rebuild", o.JSON(), o.Streams.CanPrompt())
}

func (o *Options) one(ctx context.Context, driver Driver, progress *render.Progress, c *config.Cluster) error {
	o.Status().Doing("%s: looking for what would keep it from being destroyed, or made again", c.Name)
	run := automation.RebuildOptions{
		Version: o.Version, KeepData: o.KeepData, Leftovers: o.Policy(), DrainTimeout: o.DrainTimeout,
		Confirmed: o.Names(c) || !o.Yes, // the user types the name at the prompt
	}
	for _, name := range o.accept {
		run.Accept = append(run.Accept, upgrade.Risk(name))
	}
	plan, err := driver.PlanRebuild(ctx, c, run)
	if err != nil {
		return err
	}
	if err := o.Check(ctx, plan.Next); err != nil {
		return err
	}
	if err := o.showPlan(plan); err != nil {
		return err
	}
	if err := o.ask(ctx, c, plan); err != nil {
		return err
	}
	t := &times{options: o, progress: progress, cluster: c, start: o.Time()}
	run.Began, run.Ended = t.began, t.ended
	run.Verify = func(ctx context.Context, next *config.Cluster) error {
		return readiness.Cluster(ctx, driver, next, readiness.Output{
			Out: o.Streams.Out, Status: o.Status(), Table: o.Table(), JSON: o.JSON(), Timeout: o.Timeout, Brief: true,
		})
	}
	notices := o.Notices()
	notices.Prepare(ctx, []*config.Cluster{c})
	err = o.Record(ctx, o.Status(), c, func(ctx context.Context) error {
		err := driver.Rebuild(ctx, c, plan, run)
		if left := new(teardown.LeftoversError); errors.As(err, &left) && o.Asks() && o.cannotAsk() == nil {
			if err := consent.AskAbout(ctx, o.Streams, o.Status(), left); err != nil {
				return err
			}
			run.Leftovers = teardown.DeleteLeftovers
			err = driver.Rebuild(ctx, c, plan, run)
		}
		return err
	})
	if err == nil {
		o.Looks.Forget(o.Status(), c.Name)
	}
	took := o.Time().Sub(t.start)
	notices.Send(ctx, notice.OfOne("rebuild", c, "Kubernetes "+plan.Version, took, err))
	if err != nil {
		o.Status().Plain("  `tombolo rebuild %s` goes on with the rebuild.", c.Name)
		return err
	}
	return t.end(plan, took)
}

// ask asks for the cluster's name as long as something is to be destroyed.
func (o *Options) ask(ctx context.Context, c *config.Cluster, plan automation.RebuildPlan) error {
	switch {
	case o.Yes || o.Names(c):
		return nil
	case !plan.Destroyed:
		return consent.AskForName(ctx, o.Streams, c.Name, "core and bootstrap")
	}
	return o.Streams.Confirm(ctx, fmt.Sprintf("Make %s again with Kubernetes %s?", c.Name, plan.Version), c.Name+" was not made")
}
