// Package up is the command tombolo up.
package up

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"tombolo/automation"
	"tombolo/automation/preflight"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/findings"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/cmd/tombolo/cli/handover"
	"tombolo/cmd/tombolo/cli/readiness"
	"tombolo/cmd/tombolo/cli/result"
	"tombolo/config"
)

// Driver is what the command needs of automation.Driver.
type Driver interface {
	Preview(context.Context, *config.Cluster, automation.PreviewOptions) (automation.Result, error)
	Up(context.Context, *config.Cluster, automation.UpOptions) (automation.Result, error)
	Unchanged(context.Context, *config.Cluster) (automation.LastUp, bool)
	Ready(context.Context, []*config.Cluster) ([]preflight.Report, error)
	Applied(context.Context, *config.Cluster) (string, error)
	RecordApplied(context.Context, *config.Cluster, string) error
	readiness.Driver
	handover.Driver
}

// Options of the command.
type Options struct {
	*fleet.Fleet
	// Tools says what the lab lacks for the clusters.
	Tools  func([]*config.Cluster) error
	Driver func(context.Context, automation.Observer) (Driver, error)
	Lab    func() bool

	Yes     bool
	Refresh bool
	Force   bool
	Push    bool
	Verify  bool
	Timeout time.Duration
	// AssumeReachable goes on where a cluster's API seems to be out of reach.
	AssumeReachable bool
	Approved
}

// NewCmdUp returns the command; runF, if not nil, runs in place of it.
func NewCmdUp(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Fleet: fleet.New(f, fleet.Operation{Name: "up", Order: rollout.Forward, Changes: true, Undoing: "destroy"}),
		Lab:   func() bool { return f.Globals.Lab },
		Tools: f.LabTools,
	}
	opts.Driver = func(ctx context.Context, o automation.Observer) (Driver, error) {
		driver, err := f.Driver(ctx, o)
		if err == nil && opts.AssumeReachable {
			driver.AssumeReachable()
		}
		return driver, err
	}
	opts.Lookup = f.Lookup
	cmd := &cobra.Command{
		Use:   "up [<cluster>...]",
		Short: "Deploy clusters as their files say",
		Long: strings.TrimSpace(`
Deploy both stacks of each cluster: core, then bootstrap, which takes core's
outputs and hands the cluster over to Git. A failed up can be run again. Own
stacks, which tombolo.stacks.yaml names, are made in their places, by each up.

Several clusters are deployed in the order of their waves, a hub before its
spokes, some of them in parallel. No cluster starts if a check fails for one of
them; doctor runs these checks, and more. A cluster that fails stops the next
wave, but not the other clusters of its wave. A wave that does not become ready
in time also stops the next wave. --resume continues.

With --max-failures, the run goes on to the next wave as long as no more
clusters have failed, and begins with no further cluster when more have. At most
one cluster more fails. With --bake, each wave has to stay healthy for that time
before the next one starts.

A cluster with change windows is changed only in these windows. If a cluster of
the first wave is outside of its windows, nothing starts. A cluster of a later
wave stays pending. --outside-window goes ahead, and records the reason.

The command makes no cluster whose Kubernetes API this machine will not reach,
by kubernetes.endpoint of its file and the addresses of this machine. It
connects to an API that exists. If there is a way that this machine cannot see,
such as address translation between a VPN and the network, add
--assume-reachable, or set TOMBOLO_ADDRESSES to the addresses that the network
sees.

The Pulumi engine does not start for a cluster that is unchanged since its last
up. The command compares the program, the cluster file, the files and values
that it names, and the states. --refresh and drift find changes in the cloud and
on the cluster. After a change that core does not depend on, such as of labels
or the repository, the engine starts for bootstrap alone. --force starts it in
any case.

On a terminal, the command shows the plan and asks; --yes skips the question.
Without a terminal, --yes is required.

With --plan, the command asks nothing and does what the plan of preview --plan
says, and nothing else. If the program, a cluster file, the clusters, a state or
a step differs from the plan, it shows the difference and changes nothing. It
also checks the policy.`),
		Example: strings.TrimSpace(`
  tombolo up demo --lab
  tombolo up demo staging --yes --push --verify
  tombolo up --all --yes --parallel 8
  tombolo up --selector environment=dev --wave 0 --yes
  tombolo up --resume --yes
  tombolo up --all --yes --max-failures 5% --bake 30m
  tombolo up --status failed,pending --yes
  tombolo up --all --plan plan.json --plan-digest "$DIGEST" --verify
  tombolo up ./clusters/demo.yaml --yes --output json`),
		Args: cobra.MatchAll(opts.checkPlan, opts.Args),
		RunE: func(cmd *cobra.Command, _ []string) error { return factory.Run(cmd.Context(), opts, runF, upRun) },
	}
	opts.AddFlags(cmd)
	opts.AddChangedFlags(cmd)
	opts.AddGateFlags(cmd)
	cmd.Flags().BoolVarP(&opts.Yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&opts.Refresh, "refresh", false, "compare with the cloud first, not only with the state")
	cmd.Flags().BoolVar(&opts.Force, "force", false, "start the Pulumi engine for clusters that are unchanged since their last up, too")
	cmd.Flags().BoolVar(&opts.Push, "push", false, "afterwards hand the engine itself over to Git, as push does")
	cmd.Flags().BoolVar(&opts.Verify, "verify", false, "afterwards wait until everything that Git declares is ready")
	cmd.Flags().BoolVar(&opts.AssumeReachable, "assume-reachable", false,
		"go on where this machine seems not to reach a cluster's Kubernetes API, as through a network that it cannot see")
	opts.addFlags(cmd)
	cmd.Flags().DurationVar(&opts.Timeout, "timeout", readiness.DefaultTimeout, "longest wait of --verify")
	return cmd
}

func upRun(ctx context.Context, o *Options) error {
	all, err := o.Choose()
	if err != nil {
		return err
	}
	if o.Plan != "" {
		return o.approvedRun(ctx, all)
	}
	if len(all) == 0 {
		return nil
	}
	if !o.Yes {
		if err := fault.CannotAsk("up", o.JSON(), o.Streams.CanPrompt()); err != nil {
			return err
		}
	}
	if err := o.Tools(all); err != nil {
		return err
	}
	o.NameBackend()
	return fleet.With(ctx, o.Fleet, o.Driver, func(s *fleet.Session[Driver]) error {
		changed := o.changed(ctx, s.Driver, all)
		if err := o.Enter(o.touched(all, changed)); err != nil {
			return err
		}
		if err := o.ready(ctx, s, changed); err != nil {
			return err
		}
		wanted := all
		if !o.Yes {
			if wanted, err = o.ask(ctx, s, changed); err != nil {
				return err
			}
		}
		tasks := o.tasks(s.Driver, wanted)
		if len(changed) == 0 {
			tasks.Gate = nil // no wave has to wait for one that stays as it is
		}
		return s.Run(ctx, all, tasks)
	})
}

// changed are the clusters that an up has to look at.
func (o *Options) changed(ctx context.Context, driver Driver, all []*config.Cluster) []*config.Cluster {
	if o.Refresh || o.Force {
		return all
	}
	same := make([]bool, len(all))
	lasts := make([]automation.LastUp, len(all))
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i, c := range all {
		group.Go(func() error {
			lasts[i], same[i] = driver.Unchanged(ctx, c)
			return nil
		})
	}
	_ = group.Wait()
	var out []*config.Cluster
	for i, c := range all {
		switch {
		case !same[i]:
			out = append(out, c)
		case !o.Yes:
			o.Status().Done("%s: nothing to change, unchanged since the %s", c.Name, lasts[i])
		}
	}
	return out
}

// unchanged says that an up of the cluster would not start the engine now.
func (o *Options) unchanged(ctx context.Context, driver Driver, c *config.Cluster) bool {
	if o.Refresh || o.Force || o.Plan != "" {
		return false
	}
	_, unchanged := driver.Unchanged(ctx, c)
	return unchanged
}

// ready refuses a run on several clusters if one of them could not succeed. A single
// cluster is checked while it is previewed.
func (o *Options) ready(ctx context.Context, s *fleet.Session[Driver], all []*config.Cluster) error {
	if len(all) <= 1 {
		return nil
	}
	reports, err := s.Driver.Ready(ctx, all)
	if err != nil {
		return err
	}
	return findings.Refuse(findings.Output{Out: o.Streams.Out, Status: o.Status(), JSON: o.JSON()}, reports)
}

// touched are the clusters that are changed: a push changes what Git has for the others, too.
func (o *Options) touched(all, wanted []*config.Cluster) []*config.Cluster {
	if o.Push {
		return all
	}
	return wanted
}

// tasks are what is done to each cluster: those that are not wanted have nothing
// to change.
func (o *Options) tasks(driver Driver, wanted []*config.Cluster) fleet.Tasks {
	return o.Gated(fleet.Tasks{
		Work: func(ctx context.Context, t fleet.Terminal, c *config.Cluster) (rollout.Work, error) {
			return o.one(ctx, driver, t, c, slices.Contains(wanted, c))
		},
		Changes: func(ctx context.Context, c *config.Cluster) bool {
			return o.Push || slices.Contains(wanted, c) && !o.unchanged(ctx, driver, c)
		},
	}, driver)
}

// one brings one cluster up.
func (o *Options) one(ctx context.Context, driver Driver, t fleet.Terminal, c *config.Cluster, wanted bool) (rollout.Work, error) {
	var done automation.Result
	if wanted {
		var err error
		if done, err = o.up(ctx, driver, t, c); err != nil {
			return result.Work(done), err
		}
	}
	work := result.Work(done)
	if o.Push {
		work.Phase = "push"
		if err := handover.Cluster(ctx, driver, c, handover.Output{Out: t.Out, Status: t.Status, JSON: o.JSON()}); err != nil {
			return work, err
		}
	}
	if o.Verify {
		work.Phase = "verify"
		if err := readiness.Cluster(ctx, driver, c, readiness.Output{
			Out: t.Out, Status: t.Status, Table: o.Table(), JSON: o.JSON(), Timeout: o.Timeout, Brief: !t.Alone,
		}); err != nil {
			return work, err
		}
	}
	if t.Alone {
		summarize(t.Status, c, done, o.Lab())
	}
	return work, nil
}

func (o *Options) up(ctx context.Context, driver Driver, t fleet.Terminal, c *config.Cluster) (automation.Result, error) {
	up := automation.UpOptions{Refresh: o.Refresh, Force: o.Force, Plan: o.foretells(), Previewed: !o.Yes}
	if o.Plan != "" {
		up = automation.UpOptions{Refresh: o.plan.Refresh, Approved: o.plan.Cluster(c.Name)}
	}
	r, err := driver.Up(ctx, c, up)
	if err == nil && up.Refresh {
		o.Looks.PutBack(t.Status, c.Name)
	}
	if err == nil && o.Plan != "" {
		o.record(ctx, driver, c)
	}
	err = o.show(ctx, []*config.Cluster{c}, err)
	if err != nil || !o.JSON() {
		return r, err
	}
	return r, result.Write(t.Out, "up", r)
}

// foretells says whether to find out first how much there is to do. A person at a
// terminal wants to know, unless the plan was shown with the question.
func (o *Options) foretells() bool {
	return o.Yes && !o.JSON() && o.Streams.ErrIsTerminal()
}
