// Package upgrade is the command tombolo upgrade.
package upgrade

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/upgrade"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/cmd/tombolo/cli/notice"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/internal/wording"
)

// Driver is what the command needs of automation.Driver.
type Driver interface {
	PlanUpgrade(context.Context, *config.Cluster, automation.UpgradeOptions) (automation.UpgradePlan, error)
	Upgrade(context.Context, *config.Cluster, automation.UpgradePlan, automation.UpgradeOptions) error
}

// Options of the command.
type Options struct {
	Clusters func([]string) ([]*config.Cluster, error)
	// Tools says what the lab lacks for the clusters.
	Tools  func([]*config.Cluster) error
	Driver func(context.Context, automation.Observer) (Driver, error)
	// Notices tell the cluster's channel how the upgrade has ended; nil for none.
	Notices func() *notice.Sender

	Name   string
	Yes    bool
	DryRun bool
	automation.UpgradeOptions
	fleet.Single
	accept []string
}

// NewCmdUpgrade returns the command; runF, if not nil, runs in place of it.
func NewCmdUpgrade(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Clusters: f.Clusters, Tools: f.LabTools,
		Driver:  func(ctx context.Context, o automation.Observer) (Driver, error) { return f.Driver(ctx, o) },
		Notices: f.Notices,
		Single:  fleet.NewSingle(f, "upgrade"),
	}
	cmd := &cobra.Command{
		Use:   "upgrade <cluster> --to <version>",
		Short: "Upgrade the Kubernetes of a cluster, minor by minor version",
		Long: strings.TrimSpace(`
Upgrade Kubernetes to a version, one minor version after another. For each, the
control plane goes first, then the managed addons and the node groups, then
Karpenter's nodes. After each step the command waits until the nodes have the
version, and everything that Git declares is ready.

Before anything starts, it shows the steps and what the cloud's upgrade insights say. It
refuses pinned addons, an engine that is not tested with the version, and errors
among the insights; --accept sets these aside.

The command writes each step into the cluster file before the step begins. If
something stops the command, run it again: it continues there. Commit the file
at the end.

With --hold-nodes, nodes and addons stay behind the last control plane. EKS can
take the control plane back for seven days, as long as no node is newer:
--rollback does that, the node groups first. AKS cannot. To upgrade the nodes,
run the command again without --hold-nodes. AKS holds no nodes, and takes both in
one step, unless kubernetes.upgrades.kubernetes is none.`),
		Example: strings.TrimSpace(`
  tombolo upgrade demo --to 1.35
  tombolo upgrade demo --to 1.35 --dry-run
  tombolo upgrade demo --to 1.35 --hold-nodes --yes
  tombolo upgrade demo --rollback`),
		Args: cobra.MatchAll(clusters.ClusterFile.One(1), opts.Check, opts.check),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Name = args[0]
			return factory.Run(cmd.Context(), opts, runF, upgradeRun)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&opts.To, "to", "", "the `version` of Kubernetes to go to, such as 1.35")
	fs.BoolVar(&opts.HoldNodes, "hold-nodes", false, "leave the nodes behind the last control plane")
	fs.BoolVar(&opts.Rollback, "rollback", false, "take Kubernetes back by one minor version")
	fs.StringSliceVar(&opts.accept, "accept", nil, "go on in spite of these `risks`: "+strings.Join(risks(), ", "))
	fs.BoolVar(&opts.DryRun, "dry-run", false, "show the steps and what the cloud says of them, and change nothing")
	fs.BoolVarP(&opts.Yes, "yes", "y", false, "do not ask")
	fs.BoolVar(&opts.NoGate, "no-gate", false, "do not wait for what Git declares after each step")
	fs.DurationVar(&opts.GateTimeout, "gate-timeout", fleet.DefaultGateTimeout, "longest wait for what Git declares, after each step")
	fs.DurationVar(&opts.NodeTimeout, "node-timeout", automation.DefaultNodeTimeout, "longest wait for nodes to have their version, in each step")
	opts.AddFlag(cmd)
	factory.CompleteFlag(cmd, "accept", risks())
	return cmd
}

func risks() []string {
	var names []string
	for _, r := range upgrade.Risks() {
		names = append(names, string(r))
	}
	return names
}

// check looks at the flags.
func (o *Options) check(cmd *cobra.Command, _ []string) error {
	if o.To == "" && !o.Rollback {
		return fault.NewUsage("no version is named", "pass --to <version>, such as --to 1.35")
	}
	if o.Rollback && o.HoldNodes {
		return fault.NewUsage("--rollback and --hold-nodes: nodes cannot be newer than their control plane", "pass one of them")
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"gate-timeout", o.GateTimeout}, {"node-timeout", o.NodeTimeout}} {
		if cmd.Flags().Changed(d.name) && d.value <= 0 {
			return fault.NewUsage(fmt.Sprintf("--%s is %s", d.name, d.value), "pass a duration such as 5m")
		}
	}
	for _, name := range o.accept {
		if !slices.Contains(risks(), name) {
			return fault.NewUsage(fmt.Sprintf("--accept %s: there is no such risk", name), "use "+strings.Join(risks(), ", "))
		}
		o.Accept = append(o.Accept, upgrade.Risk(name))
	}
	return nil
}

func upgradeRun(ctx context.Context, o *Options) error {
	all, err := o.Clusters([]string{o.Name})
	if err != nil {
		return err
	}
	if !o.Yes && !o.DryRun {
		if err := fault.CannotAsk("upgrade", o.JSON(), o.Streams.CanPrompt()); err != nil {
			return err
		}
	}
	if !o.DryRun {
		if err := o.Enter(o.Status(), all); err != nil {
			return err
		}
	}
	if err := o.Tools(all); err != nil {
		return err
	}
	return factory.With(ctx, o.Progress, o.Driver, func(driver Driver, p *render.Progress) error { return o.one(ctx, driver, p, all[0]) })
}

func (o *Options) one(ctx context.Context, driver Driver, progress *render.Progress, c *config.Cluster) error {
	o.Status().Doing("%s: asking what Kubernetes it has, and what is in the way", c.Name)
	plan, err := driver.PlanUpgrade(ctx, c, o.UpgradeOptions)
	if len(plan.Steps) > 0 || err == nil {
		if wErr := o.showPlan(plan); wErr != nil {
			return wErr
		}
	}
	if err != nil || o.DryRun {
		return err
	}
	if len(plan.Steps) > 0 && !o.Yes {
		if err := o.ask(ctx, c, plan); err != nil {
			return err
		}
	}
	start := o.Time()
	err = o.upgrade(ctx, driver, progress, c, plan)
	o.Notices().Send(ctx, notice.OfOne("upgrade", c, changed(plan), o.Time().Sub(start), err))
	if err != nil {
		return err
	}
	return o.end(c, plan)
}

// changed is what a channel is told of the plan; "" for one without steps.
func changed(p automation.UpgradePlan) string {
	if len(p.Steps) == 0 {
		return ""
	}
	return fmt.Sprintf("Kubernetes %s to %s in %s", p.Has.ControlPlane, p.To, wording.Count(len(p.Steps), "step"))
}

// upgrade goes through the plan, and says which step it is at.
func (o *Options) upgrade(ctx context.Context, driver Driver, progress *render.Progress, c *config.Cluster, plan automation.UpgradePlan) error {
	var began time.Time
	var wErr error
	run := o.UpgradeOptions
	say := func(f func()) { progress.Interlude(f) }
	run.Began = func(i int, s upgrade.Step) {
		began = o.Time()
		say(func() { o.Status().Doing("%s: step %d of %d: %s", c.Name, i+1, len(plan.Steps), plan.Terms.To(s)) })
	}
	run.Ended = func(i int, s upgrade.Step) {
		took := o.Time().Sub(began)
		say(func() {
			o.Status().Done("%s: step %d of %d: %s, in %s", c.Name, i+1, len(plan.Steps), plan.Terms.To(s), took.Round(time.Second))
			if o.JSON() {
				wErr = render.WriteJSON(o.Streams.Out, stepDocument{Type: "upgrade-step", Cluster: c.Name, Step: s, Seconds: took.Seconds()})
			}
		})
	}
	run.Asked = func(all []upgrade.Insight) { say(func() { o.showInsights(plan.Terms, all) }) }
	if len(plan.Steps) == 0 {
		return cmp.Or(driver.Upgrade(ctx, c, plan, run), wErr)
	}
	return cmp.Or(o.Record(ctx, o.Status(), c, func(ctx context.Context) error { return driver.Upgrade(ctx, c, plan, run) }), wErr)
}

func (o *Options) ask(ctx context.Context, c *config.Cluster, plan automation.UpgradePlan) error {
	what := "Upgrade"
	if o.Rollback {
		what = "Roll back"
	}
	question := fmt.Sprintf("%s %s from %s to %s in these steps?", what, c.Name, plan.Has.ControlPlane, plan.To)
	return o.Streams.Confirm(ctx, question, c.Name+" was not changed")
}
