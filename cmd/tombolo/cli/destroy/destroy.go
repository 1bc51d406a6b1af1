// Package destroy is the command tombolo destroy.
package destroy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/rollout"
	"tombolo/automation/teardown"
	"tombolo/cmd/tombolo/cli/consent"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/flags"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/cmd/tombolo/cli/result"
	"tombolo/config"
)

// Driver is what the command needs of automation.Driver.
type Driver interface {
	Destroy(context.Context, *config.Cluster, automation.DestroyOptions) (automation.Result, error)
}

// only is one of a cluster's stacks.
type only string

// Options of the command.
type Options struct {
	*fleet.Fleet
	Driver func(context.Context, automation.Observer) (Driver, error)

	// OwnStacks are those that the project's file names.
	OwnStacks func() ([]config.OwnStack, error)

	consent.Consent
	consent.Remainder
	Only    string
	Refresh bool
	Remove  bool
	// Unreachable continues if a cluster's API does not answer, and leaves its objects.
	Unreachable bool

	// takesOwn says that own stacks go with the clusters.
	takesOwn bool
}

// NewCmdDestroy returns the command; runF, if not nil, runs in place of it.
func NewCmdDestroy(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Fleet:  fleet.New(f, fleet.Operation{Name: "destroy", Order: rollout.Reverse, Changes: true, Undoing: "up"}),
		Driver: func(ctx context.Context, o automation.Observer) (Driver, error) { return f.Driver(ctx, o) },

		OwnStacks: f.OwnStacks,
	}
	var which only
	cmd := &cobra.Command{
		Use:   "destroy [<cluster>...]",
		Short: "Take clusters down",
		Long: strings.TrimSpace(`
Destroy both stacks of each cluster: bootstrap, then core. If bootstrap cannot be
destroyed, core is kept. The cluster's own stacks, which tombolo.stacks.yaml names,
go in the reverse of their places; with --keep-data and --only they stay.

Several clusters are destroyed in the reverse order of their waves, spokes before
their hub, some of them in parallel. A cluster that fails stops the next wave and
its hub, but not the other clusters of its wave; --resume continues. With
--max-failures, the run goes on to the next wave as long as no more have failed.

A cluster with change windows is destroyed only in these windows: see up.
--outside-window goes ahead, and records the reason.

The cluster is emptied first. A cluster with Argo CD leaves its hub: generators
stop selecting it, its applications are deleted with their objects (or kept, if
the cluster file says so), and its registration is deleted. A hub is refused
while spokes are registered with it. A cluster with Flux has it suspended. Controllers then delete
load balancers, volumes and Karpenter's nodes. Before core is destroyed, and
again afterwards, the command searches the cloud for leftovers: resources with
the cluster's identity as a tag, and resources that controllers made for its
control plane. It names each with its proof, and --leftovers says what to do
with them. --keep-data keeps buckets, file systems and snapshots, and names
them.

On a terminal, the command asks for the cluster's name, or for the number of
several clusters; --yes skips the question. Without a terminal, --yes is required.
For a cluster with protect: true, --yes is not enough: type its name, or pass it
with --yes-destroy.`),
		Example: strings.TrimSpace(`
  tombolo destroy demo --lab
  tombolo destroy demo --only bootstrap --yes
  tombolo destroy spoke --unreachable
  tombolo destroy --selector environment=test --yes
  tombolo destroy prod --yes-destroy prod`),
		Args: opts.Args,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.Only = string(which)
			return factory.Run(cmd.Context(), opts, runF, destroyRun)
		},
	}
	opts.Fleet.AddFlags(cmd)
	opts.Consent.AddFlags(cmd)
	opts.Remainder.AddFlags(cmd)
	stack := flags.NewEnum(&which, "core", "bootstrap")
	cmd.Flags().Var(stack, "only", "destroy only this stack; core is refused while bootstrap has resources")
	cmd.Flags().BoolVar(&opts.Refresh, "refresh", false, "compare with the cloud first, not only with the state")
	cmd.Flags().BoolVar(&opts.Remove, "remove", false, "also remove the empty stacks and their history")
	cmd.Flags().BoolVar(&opts.Unreachable, "unreachable", false,
		"continue if a cluster's Kubernetes API does not answer, and leave its objects")
	factory.CompleteFlag(cmd, "only", stack.Values())
	return cmd
}

func destroyRun(ctx context.Context, o *Options) error {
	all, err := o.Choose()
	if err != nil || len(all) == 0 {
		return err
	}
	if err := o.Refuse(all, o.cannotAsk()); err != nil {
		return err
	}
	if err := o.Enter(all); err != nil {
		return err
	}
	if err := o.nameOwnStacks(all); err != nil {
		return err
	}
	o.NameBackend()
	return fleet.With(ctx, o.Fleet, o.Driver, func(s *fleet.Session[Driver]) error {
		if err := o.ask(ctx, all); err != nil {
			return err
		}
		return s.Run(ctx, all, fleet.Tasks{Changes: func(context.Context, *config.Cluster) bool { return true }, Work: func(ctx context.Context, t fleet.Terminal, c *config.Cluster) (rollout.Work, error) {
			r, err := o.one(ctx, s.Driver, t, c)
			return result.Work(r), err
		}})
	})
}

// nameOwnStacks says which own stacks go with the clusters: they may have data.
func (o *Options) nameOwnStacks(all []*config.Cluster) error {
	own, err := o.OwnStacks()
	if err != nil || o.Only != "" {
		return err
	}
	verb := "goes with it, and all that it has"
	if o.KeepData {
		verb = "stays, with --keep-data"
	}
	for _, c := range all {
		for _, s := range own {
			if s.Has(c.RegistrationLabels()) {
				o.takesOwn = !o.KeepData
				o.Status().Plain("! %s: own stack %s (program in %s) %s", c.Name, s.Stack(c.Name), s.Program, verb)
			}
		}
	}
	return nil
}

// cannotAsk is why nobody can be asked; nil when somebody can.
func (o *Options) cannotAsk() error {
	return fault.CannotAsk("destroy", o.JSON(), o.Streams.CanPrompt())
}

func (o *Options) one(ctx context.Context, driver Driver, t fleet.Terminal, c *config.Cluster) (automation.Result, error) {
	do := automation.DestroyOptions{
		Refresh: o.Refresh, Remove: o.Remove, Unreachable: o.Unreachable,
		KeepData: o.KeepData, DrainTimeout: o.DrainTimeout, Leftovers: o.Policy(),
		Confirmed: o.Names(c) || !o.Yes, // the user types the name at the prompt
	}
	switch o.Only {
	case "core":
		do.Only = "core"
	case "bootstrap":
		do.Only = "bootstrap"
	}
	r, err := driver.Destroy(ctx, c, do)
	if left := new(teardown.LeftoversError); errors.As(err, &left) && t.Alone && o.Asks() && o.cannotAsk() == nil {
		if err := consent.AskAbout(ctx, o.Streams, o.Status(), left); err != nil {
			return r, err
		}
		do.Leftovers = teardown.DeleteLeftovers
		r, err = driver.Destroy(ctx, c, do)
	}
	if err != nil {
		return r, err
	}
	if o.Only != "bootstrap" {
		o.Looks.Forget(t.Status, c.Name)
	}
	if !slices.ContainsFunc(r.Stacks, touched) {
		t.Status.Done("%s: nothing to destroy", c.Name)
	}
	if o.JSON() {
		return r, result.Write(t.Out, "destroy", r)
	}
	return r, nil
}

// touched says that destroy did something to a stack: one that is empty is kept
// for its history, and destroying it again does nothing.
func touched(s automation.StackResult) bool { return len(s.Changes) > 0 || s.Removed }

// ask asks for confirmation, as destroy cannot be undone: for the name of each
// protected cluster, for the name of a single other one, and for the number of
// several others.
func (o *Options) ask(ctx context.Context, all []*config.Cluster) error {
	if o.Yes {
		return nil
	}
	var others []string
	for _, c := range slices.Backward(all) {
		switch {
		case o.Names(c):
		case !c.Protect:
			others = append(others, c.Name)
		default:
			if err := consent.AskForName(ctx, o.Streams, c.Name, o.what()); err != nil {
				return err
			}
		}
	}
	switch n := len(others); n {
	case 0:
		return nil
	case 1:
		return consent.AskForName(ctx, o.Streams, others[0], o.what())
	default:
		question := fmt.Sprintf("%s\nType %d to destroy %s of these clusters permanently:", strings.Join(others, "\n"), n, o.what())
		return o.Streams.AskFor(ctx, strconv.Itoa(n), question, fmt.Sprintf("%d clusters were not destroyed", n))
	}
}

// what is destroyed of each cluster.
func (o *Options) what() string {
	if o.Only != "" {
		return o.Only
	}
	if o.takesOwn {
		return "core, bootstrap and own stacks"
	}
	return "core and bootstrap"
}
