// Package consent is what the commands that destroy clusters ask, and the flags that answer it.
package consent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tombolo/automation/teardown"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/flags"
	"tombolo/cmd/tombolo/cli/streams"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// Consent is what the command line says about destroying clusters without a question.
type Consent struct {
	// Yes skips questions, but for clusters that are protected.
	Yes bool
	// Named are the clusters that are destroyed without a question, even if protected.
	Named []string
}

// AddFlags adds its flags.
func (c *Consent) AddFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&c.Yes, "yes", "y", false, "do not ask")
	cmd.Flags().StringSliceVar(&c.Named, "yes-destroy", nil, "destroy this cluster without asking, even if it is protected")
}

// Names says that the cluster's name was given with --yes-destroy.
func (c *Consent) Names(one *config.Cluster) bool { return slices.Contains(c.Named, one.Name) }

// Refuse refuses, before anything starts, what needs a confirmation that cannot be asked
// for. cannotAsk is why nobody can be asked; nil when somebody can.
func (c *Consent) Refuse(all []*config.Cluster, cannotAsk error) error {
	for _, name := range c.Named {
		if !slices.ContainsFunc(all, func(one *config.Cluster) bool { return one.Name == name }) {
			return fault.NewUsage(fmt.Sprintf("--yes-destroy names %s, which is not among the clusters to destroy", name), "name it as an argument, too")
		}
	}
	var protected []string
	for _, one := range all {
		switch {
		case c.Names(one):
		case one.Protect && (c.Yes || cannotAsk != nil):
			protected = append(protected, one.Name)
		case !c.Yes && cannotAsk != nil:
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

// AskForName asks for a cluster's name before what of it is destroyed.
func AskForName(ctx context.Context, s *streams.Streams, cluster, what string) error {
	return s.AskFor(ctx, cluster, fmt.Sprintf("Type %s to destroy its %s permanently:", cluster, what), cluster+" was not destroyed")
}

// Remainder says what becomes of what a destruction does not destroy by itself.
type Remainder struct {
	// Leftovers says what to do with resources that controllers left in the cloud.
	Leftovers teardown.LeftoverPolicy
	// KeepData leaves buckets, file systems and snapshots where they are.
	KeepData bool
	// DrainTimeout bounds each wait for controllers and the cloud.
	DrainTimeout time.Duration
}

// askAtLeftovers is the policy that asks on a terminal, and stops without one.
const askAtLeftovers teardown.LeftoverPolicy = "ask"

// AddFlags adds its flags.
func (r *Remainder) AddFlags(cmd *cobra.Command) {
	r.Leftovers = askAtLeftovers
	leftovers := flags.NewEnum(&r.Leftovers, askAtLeftovers, teardown.StopAtLeftovers, teardown.DeleteLeftovers)
	cmd.Flags().Var(leftovers, "leftovers", "what to do with cloud resources that are left over, and with finalizers that no controller removes; with several clusters, or without a terminal, ask is stop")
	cmd.Flags().BoolVar(&r.KeepData, "keep-data", false, "keep buckets, file systems and snapshots in the cloud")
	cmd.Flags().DurationVar(&r.DrainTimeout, "drain-timeout", 10*time.Minute, "how long Argo CD, then controllers, and then the cloud may take to delete resources")
	factory.CompleteFlag(cmd, "leftovers", leftovers.Values())
}

// Policy is what the driver does with leftovers as long as nobody was asked.
func (r *Remainder) Policy() teardown.LeftoverPolicy {
	if r.Leftovers == askAtLeftovers {
		return teardown.StopAtLeftovers
	}
	return r.Leftovers
}

// Asks says that people are to be asked about leftovers: they have not chosen by a flag.
func (r *Remainder) Asks() bool { return r.Leftovers == askAtLeftovers }

// AskAbout asks for confirmation before leftovers are deleted, and names each.
func AskAbout(ctx context.Context, s *streams.Streams, status render.Status, left *teardown.LeftoversError) error {
	status.Failed("%s: these cloud resources are left over:", left.Cluster)
	for _, l := range left.Left {
		status.Plain("  %s (%s)", l, l.Proof)
	}
	answer, err := s.Ask(ctx, "Type delete to delete them permanently:")
	if err != nil {
		return err
	}
	if answer != "delete" {
		return left
	}
	return nil
}
