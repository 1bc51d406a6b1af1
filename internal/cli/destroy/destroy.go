// Package destroy is the command tombolo destroy.
package destroy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/config"
	"tombolo/internal/cli/factory"
	"tombolo/internal/cli/fault"
	"tombolo/internal/cli/flags"
	"tombolo/internal/cli/result"
	"tombolo/internal/cli/streams"
	"tombolo/internal/render"
)

// Driver is what the command needs of automation.Driver.
type Driver interface {
	Destroy(context.Context, *config.Cluster, automation.DestroyOptions) (automation.Result, error)
}

// only is one of a cluster's stacks.
type only string

// Options of the command.
type Options struct {
	Streams  *streams.Streams
	Status   func() render.Status
	Progress func() *render.Progress
	Clusters func([]string) ([]*config.Cluster, error)
	Driver   func(context.Context, automation.Observer) (Driver, error)
	JSON     func() bool

	Names   []string
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
		Streams: f.Streams, Status: f.Status, Progress: f.Progress, Clusters: f.Clusters, JSON: f.JSON,
		Driver: func(ctx context.Context, o automation.Observer) (Driver, error) { return f.Driver(ctx, o) },
	}
	var which only
	cmd := &cobra.Command{
		Use:   "destroy <cluster>...",
		Short: "Take clusters down",
		Long: strings.TrimSpace(`
Destroy both stacks of each cluster: bootstrap, then core. When bootstrap could
not be destroyed, core is kept. Several clusters go in the reverse order of
their waves, spokes before their hub.

A cluster with Argo CD leaves its hub first: generators stop reaching it, its
applications are deleted with what they have made, or left where the cluster
file says so, and then its registration goes. A hub is refused while spokes are
registered with it.

Before that the cluster is emptied: Flux is suspended, and load balancers,
volumes and Karpenter's nodes are given back by their controllers. Before core is
destroyed, and again afterwards, the cloud is searched for what is left over.
--leftovers says what becomes of that. --keep-data leaves buckets, file systems
and snapshots where they are, and names them.

On a terminal you are asked for the cluster's name; --yes goes ahead without.
Without a terminal --yes is required. A cluster that its file protects is not
destroyed by --yes: its name is typed, or given with --yes-destroy.`),
		Example: strings.TrimSpace(`
  tombolo destroy demo --lab
  tombolo destroy demo --only bootstrap --yes
  tombolo destroy spoke --unreachable
  tombolo destroy prod --yes-destroy prod`),
		Args: factory.SomeClusters,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Names, opts.Only = args, string(which)
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return destroyRun(cmd.Context(), opts)
		},
	}
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
	cmd.Flags().Var(leftovers, "leftovers", "what becomes of cloud resources that are left over, and of finalizers that nobody takes off; without a terminal, ask stops")
	cmd.Flags().BoolVar(&opts.KeepData, "keep-data", false, "leave buckets, file systems and snapshots in the cloud")
	cmd.Flags().DurationVar(&opts.DrainTimeout, "drain-timeout", 10*time.Minute, "how long controllers, and then the cloud, may take to give things back")
	factory.CompleteFlag(cmd, "leftovers", leftovers.Values())
	factory.CompleteFlag(cmd, "only", stack.Values())
	return cmd
}

func destroyRun(ctx context.Context, o *Options) error {
	all, err := o.Clusters(o.Names)
	if err != nil {
		return err
	}
	if err := o.refuseUnasked(all); err != nil {
		return err
	}
	slices.Reverse(all)
	return factory.Each(ctx, all, o.Progress, o.Driver, func(driver Driver, _ *render.Progress, c *config.Cluster) error {
		return o.one(ctx, driver, c)
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

func (o *Options) one(ctx context.Context, driver Driver, c *config.Cluster) error {
	if err := o.ask(ctx, c); err != nil {
		return err
	}
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
	if left := new(automation.LeftoversError); errors.As(err, &left) && o.mayAsk() {
		if err := o.askAbout(ctx, left); err != nil {
			return err
		}
		do.Leftovers = automation.DeleteLeftovers
		r, err = driver.Destroy(ctx, c, do)
	}
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(r.Stacks, touched) {
		o.Status().Done("%s: nothing to destroy", c.Name)
	}
	if o.JSON() {
		return result.Write(o.Streams.Out, "destroy", r)
	}
	return nil
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

// ask has the cluster's name typed, as there is no way back.
func (o *Options) ask(ctx context.Context, c *config.Cluster) error {
	if o.Yes || o.named(c) {
		return nil
	}
	what := "core and bootstrap"
	if o.Only != "" {
		what = o.Only
	}
	answer, err := o.Streams.Ask(ctx, fmt.Sprintf("Type %s to destroy its %s for good:", c.Name, what))
	if err != nil {
		return err
	}
	if answer != c.Name {
		return &fault.Error{Class: fault.Declined, Problem: fmt.Sprintf("%s was left as it is", c.Name)}
	}
	return nil
}
