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
	// Unreachable gives up what is on clusters whose API does not answer.
	Unreachable bool
	// Named are clusters that go without being asked about, protected or not.
	Named []string
	// Leftovers says what becomes of what controllers have left in the cloud.
	Leftovers automation.LeftoverPolicy
	// KeepData leaves buckets, file systems and snapshots where they are.
	KeepData bool
	// DrainTimeout bounds each wait for controllers and the cloud.
	DrainTimeout time.Duration
}

// askAtLeftovers is the policy that asks whoever is at the terminal, and stops
// where nobody is.
const askAtLeftovers automation.LeftoverPolicy = "ask"

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
Destroy both stacks of each cluster: bootstrap, then core. When bootstrap could
not be destroyed, core is kept.

Several clusters go in the reverse order of their waves, spokes before their hub,
and some at a time. A cluster that fails stops the next wave and its hub, not its
neighbours; --resume goes on from there.

A cluster with Argo CD leaves its hub first: generators stop reaching it, its
applications are deleted with what they have made, or left where the cluster
file says so, and then its registration goes. A hub is refused while spokes are
registered with it.

Before that the cluster is emptied: Flux is suspended, and load balancers,
volumes and Karpenter's nodes are given back by their controllers. Before core is
destroyed, and again afterwards, the cloud is searched for what is left over.
--leftovers says what becomes of that. --keep-data leaves buckets, file systems
and snapshots where they are, and names them.

On a terminal you are asked for the cluster's name, or for the number of several;
--yes goes ahead without. Without a terminal --yes is required. A cluster that
its file protects is not destroyed by --yes: its name is typed, or given with
--yes-destroy.`),
		Example: strings.TrimSpace(`
  tombolo destroy demo --lab
  tombolo destroy demo --only bootstrap --yes
  tombolo destroy spoke --unreachable
  tombolo destroy --selector environment=test --yes
  tombolo destroy prod --yes-destroy prod`),
		Args: opts.Args,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.Only = string(which)
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return destroyRun(cmd.Context(), opts)
		},
	}
	opts.AddFlags(cmd)
	stack := flags.NewEnum(&which, "core", "bootstrap")
	cmd.Flags().Var(stack, "only", "destroy only this stack; core is refused while bootstrap has resources")
	cmd.Flags().BoolVarP(&opts.Yes, "yes", "y", false, "go ahead without asking")
	cmd.Flags().StringSliceVar(&opts.Named, "yes-destroy", nil, "go ahead with this cluster without asking, though it is protected")
	cmd.Flags().BoolVar(&opts.Refresh, "refresh", false, "compare with the cloud first, not only with the state")
	cmd.Flags().BoolVar(&opts.Remove, "remove", false, "remove the empty stacks too, with their history")
	cmd.Flags().BoolVar(&opts.Unreachable, "unreachable", false,
		"go on where a cluster's Kubernetes API does not answer: what is on it is given up")
	opts.Leftovers = askAtLeftovers
	leftovers := flags.NewEnum(&opts.Leftovers, askAtLeftovers, automation.StopAtLeftovers, automation.DeleteLeftovers)
	cmd.Flags().Var(leftovers, "leftovers", "what becomes of cloud resources that are left over, and of finalizers that nobody takes off; of several clusters, or without a terminal, ask stops")
	cmd.Flags().BoolVar(&opts.KeepData, "keep-data", false, "leave buckets, file systems and snapshots in the cloud")
	cmd.Flags().DurationVar(&opts.DrainTimeout, "drain-timeout", 10*time.Minute, "how long controllers, and then the cloud, may take to give things back")
	factory.CompleteFlag(cmd, "leftovers", leftovers.Values())
	factory.CompleteFlag(cmd, "only", stack.Values())
	return cmd
}

func destroyRun(ctx context.Context, o *Options) error {
	all, err := o.Choose()
	if err != nil {
		return err
	}
	if err := o.refuseUnasked(all); err != nil {
		return err
	}
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

// refuseUnasked finds out, before anything starts, whom nobody could be asked
// about.
func (o *Options) refuseUnasked(all []*config.Cluster) error {
	for _, name := range o.Named {
		if !slices.ContainsFunc(all, func(c *config.Cluster) bool { return c.Name == name }) {
			return fault.NewUsage(fmt.Sprintf("--yes-destroy names %s, which is not among the clusters to destroy", name), "name it as an argument too")
		}
	}
	var protected []string
	nobody := o.JSON() || !o.Streams.CanPrompt()
	for _, c := range all {
		switch {
		case o.named(c):
		case c.Protect && (o.Yes || nobody):
			protected = append(protected, c.Name)
		case !o.Yes && nobody:
			return fault.NewUsage("nobody can be asked before destroy takes something away", "give --yes to go ahead")
		}
	}
	if len(protected) == 0 {
		return nil
	}
	return fault.NewUsage(fmt.Sprintf("%s protected, and --yes does not destroy what is protected", isOrAre(protected)),
		"give --yes-destroy "+strings.Join(protected, ",")+", or type the name on a terminal")
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
		Confirmed: o.named(c) || !o.Yes, // whoever is asked types the name
	}
	if o.Leftovers == askAtLeftovers {
		do.Leftovers = automation.StopAtLeftovers
	}
	switch o.Only {
	case "core":
		do.Only = "core"
	case "bootstrap":
		do.Only = "bootstrap"
	}
	r, err := driver.Destroy(ctx, c, do)
	if left := new(automation.LeftoversError); errors.As(err, &left) && t.Alone && o.mayAsk() {
		if err := o.askAbout(ctx, left); err != nil {
			return r, err
		}
		do.Leftovers = automation.DeleteLeftovers
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

// mayAsk says that somebody can be asked about leftovers, and wants to be.
func (o *Options) mayAsk() bool {
	return o.Leftovers == askAtLeftovers && !o.JSON() && o.Streams.CanPrompt()
}

// askAbout has the deletion of what is left over confirmed, each by its name.
func (o *Options) askAbout(ctx context.Context, left *automation.LeftoversError) error {
	o.Status().Failed("%s has left over in the cloud:", left.Cluster)
	for _, l := range left.Left {
		o.Status().Plain("  %s", l)
	}
	answer, err := o.Streams.Ask(ctx, "Type delete to delete them for good:")
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

// ask has the names of clusters typed, as there is no way back: of each that is
// protected, of another alone, and of several others their number.
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
		question := fmt.Sprintf("%s\nType %d to destroy %s of these clusters for good:", strings.Join(others, "\n"), n, o.what())
		return o.askFor(ctx, strconv.Itoa(n), question, fmt.Sprintf("%d clusters were left as they are", n))
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
	return o.askFor(ctx, cluster, fmt.Sprintf("Type %s to destroy its %s for good:", cluster, o.what()), cluster+" was left as it is")
}

// askFor wants an answer, and says what was left without it.
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
