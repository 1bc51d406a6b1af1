// Package up is the command tombolo up.
package up

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/config"
	"tombolo/internal/cli/factory"
	"tombolo/internal/cli/fault"
	"tombolo/internal/cli/push"
	"tombolo/internal/cli/result"
	"tombolo/internal/cli/streams"
	"tombolo/internal/cli/verify"
	"tombolo/internal/render"
)

// Driver is what the command needs of automation.Driver.
type Driver interface {
	Preview(context.Context, *config.Cluster, automation.PreviewOptions) (automation.Result, error)
	Up(context.Context, *config.Cluster, automation.UpOptions) (automation.Result, error)
	verify.Driver
	push.Driver
}

// Options of the command.
type Options struct {
	Streams  *streams.Streams
	Status   func() render.Status
	Progress func() *render.Progress
	Clusters func([]string) ([]*config.Cluster, error)
	// Tools says what the lab lacks for the clusters.
	Tools  func([]*config.Cluster) error
	Driver func(context.Context, automation.Observer) (Driver, error)
	JSON   func() bool
	Lab    func() bool
	Style  func(terminal bool) render.Style
	Table  func() render.TableOptions

	Names   []string
	Yes     bool
	Refresh bool
	Push    bool
	Verify  bool
	Timeout time.Duration
}

// NewCmdUp returns the command; runF, if not nil, runs in place of it.
func NewCmdUp(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Streams: f.Streams, Status: f.Status, Progress: f.Progress, Clusters: f.Clusters,
		JSON: f.JSON, Style: f.Style, Table: f.Table,
		Lab:    func() bool { return f.Globals.Lab },
		Tools:  f.LabTools,
		Driver: func(ctx context.Context, o automation.Observer) (Driver, error) { return f.Driver(ctx, o) },
	}
	cmd := &cobra.Command{
		Use:   "up <cluster>...",
		Short: "Make clusters what their files say",
		Long: strings.TrimSpace(`
Deploy both stacks of each cluster: core, then bootstrap, which takes core's
outputs and hands the cluster over to Git. Several clusters go in the order of
their waves, a hub before its spokes.

On a terminal the plan is shown first and you are asked; --yes goes ahead
without. Without a terminal --yes is required. A failed up can be run again.`),
		Example: strings.TrimSpace(`
  tombolo up demo --lab
  tombolo up demo staging --yes --push --verify
  tombolo up hub spoke-a spoke-b --yes
  tombolo up ./clusters/demo.yaml --yes --output json`),
		Args: factory.SomeClusters,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Names = args
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return upRun(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVarP(&opts.Yes, "yes", "y", false, "go ahead without asking")
	cmd.Flags().BoolVar(&opts.Refresh, "refresh", false, "compare with the cloud first, not only with the state")
	cmd.Flags().BoolVar(&opts.Push, "push", false, "hand the engine itself over to Git afterwards, as push does")
	cmd.Flags().BoolVar(&opts.Verify, "verify", false, "wait afterwards until everything that Git declares is ready")
	cmd.Flags().DurationVar(&opts.Timeout, "timeout", verify.DefaultTimeout, "longest wait of --verify")
	return cmd
}

func upRun(ctx context.Context, o *Options) error {
	all, err := o.Clusters(o.Names)
	if err != nil {
		return err
	}
	if !o.Yes && (o.JSON() || !o.Streams.CanPrompt()) {
		return fault.NewUsage("nobody can be asked before up changes something", "give --yes to go ahead")
	}
	if err := o.Tools(all); err != nil {
		return err
	}
	return factory.Each(ctx, all, o.Progress, o.Driver, func(driver Driver, progress *render.Progress, c *config.Cluster) error {
		return o.one(ctx, driver, progress, c)
	})
}

// one brings one cluster up.
func (o *Options) one(ctx context.Context, driver Driver, progress *render.Progress, c *config.Cluster) error {
	wanted := o.Yes
	if !o.Yes {
		var err error
		if wanted, err = o.ask(ctx, driver, progress, c); err != nil {
			return err
		}
	}
	var done automation.Result
	if wanted {
		var err error
		if done, err = o.up(ctx, driver, c); err != nil {
			return err
		}
	}
	if o.Push {
		if err := push.Cluster(ctx, driver, c, push.Output{Out: o.Streams.Out, Status: o.Status(), JSON: o.JSON()}); err != nil {
			return err
		}
	}
	if o.Verify {
		if err := verify.Cluster(ctx, driver, c, verify.Output{
			Out: o.Streams.Out, Status: o.Status(), Table: o.Table(), JSON: o.JSON(), Timeout: o.Timeout,
		}); err != nil {
			return err
		}
	}
	summarize(o.Status(), c, done, o.Lab())
	return nil
}

func (o *Options) up(ctx context.Context, driver Driver, c *config.Cluster) (automation.Result, error) {
	r, err := driver.Up(ctx, c, automation.UpOptions{Refresh: o.Refresh, Plan: o.plan(), Previewed: !o.Yes})
	if err != nil || !o.JSON() {
		return r, err
	}
	return r, result.Write(o.Streams.Out, "up", r)
}

// plan says whether to find out first how much there is to do. A person who
// watches wants to know; who was asked has seen it already.
func (o *Options) plan() bool {
	return o.Yes && !o.JSON() && o.Streams.ErrIsTerminal()
}

// ask shows the plan and asks whether to go on. There is nothing to ask, and
// nothing to do, about a plan without changes.
func (o *Options) ask(ctx context.Context, driver Driver, progress *render.Progress, c *config.Cluster) (bool, error) {
	r, err := driver.Preview(ctx, c, automation.PreviewOptions{Refresh: o.Refresh})
	if err != nil {
		return false, err
	}
	changed, placeholders := 0, false
	for _, s := range r.Stacks {
		changed += s.Changes.Total()
		placeholders = placeholders || s.Placeholders
	}
	if changed == 0 && !placeholders {
		o.Status().Done("%s: nothing to change", c.Name)
		return false, nil
	}
	for _, plan := range result.Plans(progress, r) {
		render.WritePlan(o.Streams.ErrOut, plan, render.PlanOptions{
			Style: o.Style(o.Streams.ErrIsTerminal()), Width: o.Streams.ErrWidth(),
		})
	}
	answer, err := o.Streams.Ask(ctx, fmt.Sprintf("Change %s as planned? [y/N]", c.Name))
	if err != nil {
		return false, err
	}
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		return false, &fault.Error{Class: fault.Declined, Problem: fmt.Sprintf("%s was left as it is", c.Name)}
	}
	return true, nil
}
