package clusters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/internal/wording"
)

// Choice is which clusters a command is about: those that it names, and those
// that flags choose among all. Commands embed it in their options.
type Choice struct {
	// Clusters loads clusters by names or paths; all without any.
	Clusters func(names []string) ([]*config.Cluster, error)
	// Recorded is what is recorded of clusters.
	Recorded func() (Records, error)
	// Tell says what people should know of the choice.
	Tell func() render.Status
	// Selection that the command line makes.
	Selection rollout.Selection
}

// Records are the statuses of a cluster, as they are recorded. known says that anything is recorded
// of it: without that it may have any status.
type Records func(cluster string) (statuses []string, known bool, err error)

// AddFlags adds the flags that choose clusters.
func (c *Choice) AddFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&c.Selection.All, "all", false, "all clusters of the project")
	flags.StringVarP(&c.Selection.Selector, "selector", "l", "", "only clusters with these `labels`, such as environment=prod,logging!=off")
	flags.IntSliceVar(&c.Selection.Waves, "wave", nil, "only clusters of these `waves`")
	flags.StringSliceVar(&c.Selection.Status, "status", nil, "only clusters that are recorded with one of these `statuses`: failed, drifted, pending")
	_ = cmd.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(rollout.Statuses(), cobra.ShellCompDirectiveNoFileComp))
}

// Args takes the names of clusters.
func (c *Choice) Args(cmd *cobra.Command, args []string) error {
	c.Selection.Names = args
	if err := c.Selection.Check(); err != nil {
		return fault.NewUsage(err.Error(), fmt.Sprintf("see `%s --help`", cmd.CommandPath()))
	}
	return nil
}

// Choose returns the chosen clusters in the order of their waves. None at all is
// an error of class fault.Usage, but none with a status is well: the list is empty.
func (c *Choice) Choose() ([]*config.Cluster, error) {
	all, err := c.Clusters(c.Selection.Names)
	if err != nil {
		return nil, err
	}
	chosen, err := c.Selection.Filter(all)
	if err == nil && len(chosen) == 0 {
		err = fault.NewUsage(fmt.Sprintf("no cluster matches %s", c.Selection), "`tombolo list` shows the clusters; their labels are in their files")
	}
	if err != nil || len(c.Selection.Status) == 0 {
		return chosen, err
	}
	return c.withStatus(chosen)
}

// withStatus are the clusters that are recorded with one of the statuses. It says of which ones
// nothing is recorded: they may be failed all the same, as a run of another checkout has left them.
func (c *Choice) withStatus(all []*config.Cluster) ([]*config.Cluster, error) {
	recorded, err := c.Recorded()
	if err != nil {
		return nil, err
	}
	var chosen, unknown []*config.Cluster
	for _, of := range all {
		has, known, err := recorded(of.Name)
		if err != nil {
			return nil, err
		}
		if !known {
			unknown = append(unknown, of)
		}
		if slices.ContainsFunc(has, func(s string) bool { return slices.Contains(c.Selection.Status, s) }) {
			chosen = append(chosen, of)
		}
	}
	if len(unknown) > 0 {
		c.Tell().Plain("! nothing is recorded here of %s: --status knows what was done from this checkout alone", Names(unknown))
	}
	if len(chosen) == 0 {
		c.Tell().Done("no cluster is recorded as %s", wording.Or(c.Selection.Status))
	}
	return chosen, nil
}

// Names lists clusters for people: see Listed.
func Names(all []*config.Cluster) string { return Listed(NamesOf(all)) }

// NamesOf are the clusters' names.
func NamesOf(all []*config.Cluster) []string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Name
	}
	return names
}

// Listed lists names of clusters for people: a few of them, many by their number.
func Listed(names []string) string {
	const few = 5
	if len(names) > few {
		return fmt.Sprintf("%d clusters", len(names))
	}
	return strings.Join(names, ", ")
}
