// Package destroy is the command tombolo destroy.
package destroy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/rollout"
	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/internal/cli/factory"
	"tombolo/internal/cli/fault"
	"tombolo/internal/cli/flags"
	"tombolo/internal/cli/fleet"
	"tombolo/internal/cli/result"
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

	Yes     bool
	Only    string
	Refresh bool
	Remove  bool
	// Unreachable continues if a cluster's API does not answer, and leaves its objects.
	Unreachable bool
	// Named are the clusters that are destroyed without a question, even if protected.
	Named []string
	// Leftovers says what to do with resources that controllers left in the cloud.
	Leftovers teardown.LeftoverPolicy
	// KeepData leaves buckets, file systems and snapshots where they are.
	KeepData bool
	// DrainTimeout bounds each wait for controllers and the cloud.
	DrainTimeout time.Duration
}

// askAtLeftovers is the policy that asks on a terminal, and stops without one.
const askAtLeftovers teardown.LeftoverPolicy = "ask"

// NewCmdDestroy returns the command; runF, if not nil, runs in place of it.
func NewCmdDestroy(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Fleet:  fleet.New(f, fleet.Operation{Name: "destroy", Order: rollout.Reverse, Changes: true, Undoing: "up"}),
		Driver: func(ctx context.Context, o automation.Observer) (Driver, error) { return f.Driver(ctx, o) },
	}
	var which only
	cmd := &cobra.Command{
		Use:   "destroy [<cluster>...]",
		Short: "Take clusters down",
		Long: strings.TrimSpace(`
Destroy both stacks of each cluster: bootstrap, then core. If bootstrap cannot be
destroyed, core is kept.

Several clusters are destroyed in the reverse order of their waves, spokes before
their hub, some of them in parallel. A cluster that fails stops the next wave and
its hub, but not the other clusters of its wave; --resume continues.

The cluster is emptied first. A cluster with Argo CD leaves its hub: generators
stop selecting it, its applications are deleted with their objects (or kept, if
the cluster file says so), and its registration is deleted. A hub is refused
while spokes are registered with it. With Flux, Flux is suspended. Controllers
then delete load balancers, volumes and Karpenter's nodes. Before core is
destroyed, and again afterwards, the cloud is searched for what is left over: what
has the cluster's identity as a tag, and what controllers made for its control plane.
--leftovers says what to do with it; each resource is named with its proof.
--keep-data keeps buckets, file systems and snapshots, and names them.

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
	opts.AddFlags(cmd)
	stack := flags.NewEnum(&which, "core", "bootstrap")
	cmd.Flags().Var(stack, "only", "destroy only this stack; core is refused while bootstrap has resources")
	cmd.Flags().BoolVarP(&opts.Yes, "yes", "y", false, "do not ask")
	cmd.Flags().StringSliceVar(&opts.Named, "yes-destroy", nil, "destroy this cluster without asking, even if it is protected")
	cmd.Flags().BoolVar(&opts.Refresh, "refresh", false, "compare with the cloud first, not only with the state")
	cmd.Flags().BoolVar(&opts.Remove, "remove", false, "also remove the empty stacks and their history")
	cmd.Flags().BoolVar(&opts.Unreachable, "unreachable", false,
		"continue if a cluster's Kubernetes API does not answer, and leave its objects")
	opts.Leftovers = askAtLeftovers
	leftovers := flags.NewEnum(&opts.Leftovers, askAtLeftovers, teardown.StopAtLeftovers, teardown.DeleteLeftovers)
	cmd.Flags().Var(leftovers, "leftovers", "what to do with cloud resources that are left over, and with finalizers that no controller removes; with several clusters, or without a terminal, ask is stop")
	cmd.Flags().BoolVar(&opts.KeepData, "keep-data", false, "keep buckets, file systems and snapshots in the cloud")
	cmd.Flags().DurationVar(&opts.DrainTimeout, "drain-timeout", 10*time.Minute, "how long controllers, and then the cloud, may take to delete resources")
	factory.CompleteFlag(cmd, "leftovers", leftovers.Values())
	factory.CompleteFlag(cmd, "only", stack.Values())
	return cmd
}

func destroyRun(ctx context.Context, o *Options) error {
	all, err := o.Choose()
	if err != nil {
		return err
	}
	if err := o.refuseUnconfirmed(all); err != nil {
		return err
	}
	o.NameBackend()
	return fleet.With(ctx, o.Fleet, o.Driver, func(s *fleet.Session[Driver]) error {
		if err := o.ask(ctx, all); err != nil {
			return err
		}
		return s.Run(ctx, all, fleet.Tasks{Work: func(ctx context.Context, t fleet.Terminal, c *config.Cluster) (rollout.Work, error) {
			r, err := o.one(ctx, s.Driver, t, c)
			return result.Work(r), err
		}})
	})
}

// refuseUnconfirmed refuses, before anything starts, what needs a confirmation that
// cannot be asked for.
func (o *Options) refuseUnconfirmed(all []*config.Cluster) error {
	for _, name := range o.Named {
		if !slices.ContainsFunc(all, func(c *config.Cluster) bool { return c.Name == name }) {
			return fault.NewUsage(fmt.Sprintf("--yes-destroy names %s, which is not among the clusters to destroy", name), "name it as an argument, too")
		}
	}
	var protected []string
	cannotAsk := fault.CannotAsk("destroy", o.JSON(), o.Streams.CanPrompt())
	for _, c := range all {
		switch {
		case o.named(c):
		case c.Protect && (o.Yes || cannotAsk != nil):
			protected = append(protected, c.Name)
		case !o.Yes && cannotAsk != nil:
			return cannotAsk
		}
	}
	if len(protected) == 0 {
		return nil
	}
	return fault.NewUsage(fmt.Sprintf("%s protected, and --yes does not destroy what is protected", isOrAre(protected)),
		"pass --yes-destroy "+strings.Join(protected, ",")+", or type the name on a terminal")
}

func isOrAre(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return strings.Join(names, ", ") + " are"
}

// named says that the cluster's name was given with --yes-destroy.
func (o *Options) named(c *config.Cluster) bool { return slices.Contains(o.Named, c.Name) }

func (o *Options) one(ctx context.Context, driver Driver, t fleet.Terminal, c *config.Cluster) (automation.Result, error) {
	do := automation.DestroyOptions{
		Refresh: o.Refresh, Remove: o.Remove, Unreachable: o.Unreachable,
		KeepData: o.KeepData, DrainTimeout: o.DrainTimeout, Leftovers: o.Leftovers,
		Confirmed: o.named(c) || !o.Yes, // the user types the name at the prompt
	}
	if o.Leftovers == askAtLeftovers {
		do.Leftovers = teardown.StopAtLeftovers
	}
	switch o.Only {
	case "core":
		do.Only = "core"
	case "bootstrap":
		do.Only = "bootstrap"
	}
	r, err := driver.Destroy(ctx, c, do)
	if left := new(teardown.LeftoversError); errors.As(err, &left) && t.Alone && o.mayAsk() {
		if err := o.askAbout(ctx, left); err != nil {
			return r, err
		}
		do.Leftovers = teardown.DeleteLeftovers
		r, err = driver.Destroy(ctx, c, do)
	}
	if err != nil {
		return r, err
	}
	if !slices.ContainsFunc(r.Stacks, touched) {
		t.Status.Done("%s: nothing to destroy", c.Name)
	}
	if o.JSON() {
		return r, result.Write(t.Out, "destroy", r)
	}
	return r, nil
}

// mayAsk says that the user can be asked about leftovers, and has not chosen by a flag.
func (o *Options) mayAsk() bool {
	return o.Leftovers == askAtLeftovers && fault.CannotAsk("destroy", o.JSON(), o.Streams.CanPrompt()) == nil
}

// askAbout asks for confirmation before leftovers are deleted, and names each.
func (o *Options) askAbout(ctx context.Context, left *teardown.LeftoversError) error {
	o.Status().Failed("%s: these cloud resources are left over:", left.Cluster)
	for _, l := range left.Left {
		o.Status().Plain("  %s (%s)", l, l.Proof)
	}
	answer, err := o.Streams.Ask(ctx, "Type delete to delete them permanently:")
	if err != nil {
		return err
	}
	if answer != "delete" {
		return left
	}
	return nil
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
		case o.named(c):
		case !c.Protect:
			others = append(others, c.Name)
		default:
			if err := o.askForName(ctx, c.Name); err != nil {
				return err
			}
		}
	}
	switch n := len(others); n {
	case 0:
		return nil
	case 1:
		return o.askForName(ctx, others[0])
	default:
		question := fmt.Sprintf("%s\nType %d to destroy %s of these clusters permanently:", strings.Join(others, "\n"), n, o.what())
		return o.askFor(ctx, strconv.Itoa(n), question, fmt.Sprintf("%d clusters were not destroyed", n))
	}
}

// what is destroyed of each cluster.
func (o *Options) what() string {
	if o.Only != "" {
		return o.Only
	}
	return "core and bootstrap"
}

func (o *Options) askForName(ctx context.Context, cluster string) error {
	return o.askFor(ctx, cluster, fmt.Sprintf("Type %s to destroy its %s permanently:", cluster, o.what()), cluster+" was not destroyed")
}

// askFor asks a question. Any other answer than the wanted one is an error.
func (o *Options) askFor(ctx context.Context, want, question, left string) error {
	answer, err := o.Streams.Ask(ctx, question)
	if err != nil {
		return err
	}
	if answer != want {
		return &fault.Error{Class: fault.Declined, Problem: left}
	}
	return nil
}
