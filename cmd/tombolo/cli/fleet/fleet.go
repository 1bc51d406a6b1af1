// Package fleet is what commands on several clusters have in common: the flags
// that choose clusters and limit parallel work, the run itself, its output, and its
// journal.
package fleet

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tombolo/automation/cloud"
	"tombolo/automation/inputs"
	"tombolo/automation/rollout"
	"tombolo/automation/trace"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/notice"
	"tombolo/cmd/tombolo/cli/window"
	"tombolo/config"
	"tombolo/stacks/catalog"
)

// Operation is what a command does to clusters.
type Operation struct {
	// Name of the command.
	Name string
	// Order in which it reaches clusters.
	Order rollout.Order
	// Changes says that it changes clusters: then its runs have a journal.
	Changes bool
	// Undoing is the command that undoes this one. With it, a run can be resumed.
	Undoing string
}

// Fleet gives a command its clusters. Commands embed it in their options.
type Fleet struct {
	factory.Base
	Operation Operation
	// Journals record the command's runs.
	Journals func() (rollout.Journals, error)
	// Looks for drift are kept there.
	Looks Looks
	// Backend is the URL of the Pulumi state, without credentials; "" when it is not known.
	Backend func() (string, error)
	// Trace of the command; nil for none.
	Trace func() *trace.Run
	// Programs of the stacks, and Clouds that clusters are in.
	Programs catalog.Programs
	Clouds   cloud.Set
	// Notices tell channels how a run has ended; nil for none.
	Notices func() *notice.Sender

	// Choice of clusters.
	clusters.Choice
	// Parallel is how many clusters are processed at a time.
	Parallel int
	// FailFast starts nothing more after the first failure.
	FailFast bool
	// Resume continues the last run.
	Resume bool
	// NoGate and GateTimeout are about the check between two waves.
	NoGate      bool
	GateTimeout time.Duration
	// Bake is how long a wave has to stay healthy before the next starts.
	Bake time.Duration
	// Baking has the clock of a bake. Default: the machine's.
	Baking rollout.Bake
	// MaxFailures of the clusters.
	MaxFailures rollout.Failures
	// Guard holds the run to change windows.
	window.Guard
	// ChangedSince leaves out the clusters that have the same inputs as at this
	// commit; Tree is the platform tree that is compared as well.
	ChangedSince, Tree string
	// Changed is what ChangedSince found, after Choose; nil without it.
	Changed *inputs.Report
	// Unchanged are the clusters that it left out, of those that were chosen.
	Unchanged []string

	cmd *cobra.Command
	// resumed is the run that is continued.
	resumed *rollout.Record
}

// New returns the Fleet of a command.
func New(f *factory.Factory, o Operation) *Fleet {
	return &Fleet{
		Base: f.Base(), Operation: o, Choice: f.Choice(), Journals: f.Journals, Looks: f.Drift, Backend: f.Backend,
		Trace: f.Trace, Notices: f.Notices, Programs: f.Programs, Clouds: f.Clouds,
	}
}

// NameBackend says on which backend the command works. A backend that is not known is
// reported by the driver.
func (f *Fleet) NameBackend() {
	if at, err := f.Backend(); err == nil && at != "" {
		f.Status().Plain("state backend: %s", at)
	}
}

// DefaultGateTimeout is the longest wait at a gate when none is given: as long
// as verify waits.
const DefaultGateTimeout = 10 * time.Minute

// ownFlags are those of a run. The journal does not record them.
var ownFlags = []string{"all", "selector", "wave", "parallel", "fail-fast", "resume", "no-gate", "gate-timeout", "yes", "yes-destroy", "changed-since", "tree", "status", "outside-window"}

// AddFlags adds the flags that choose clusters, and those of the run.
func (f *Fleet) AddFlags(cmd *cobra.Command) {
	f.cmd = cmd
	f.Choice.AddFlags(cmd)
	flags := cmd.Flags()
	flags.IntVar(&f.Parallel, "parallel", 0, "how many `clusters` are worked on at a time (default: by cores and memory)")
	flags.BoolVar(&f.FailFast, "fail-fast", false, "start nothing more after the first failure")
	if f.Operation.Undoing != "" {
		flags.BoolVar(&f.Resume, "resume", false, "continue the last run that did not finish")
		f.AddFailuresFlag(cmd)
	}
	if f.Operation.Changes {
		f.AddFlag(cmd)
	}
}

// AddFailuresFlag adds that of how many clusters may fail.
func (f *Fleet) AddFailuresFlag(cmd *cobra.Command) {
	cmd.Flags().Var(&f.MaxFailures, "max-failures", "begin with no further cluster when more than so many have failed, or more than so much of the run's clusters (default: one that fails stops the next wave)")
}

// AddGateFlags adds those of the gate between two waves.
func (f *Fleet) AddGateFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.NoGate, "no-gate", false, "start the next wave without checking the health of the last one")
	cmd.Flags().DurationVar(&f.GateTimeout, "gate-timeout", DefaultGateTimeout, "longest wait for the health of a wave")
	cmd.Flags().DurationVar(&f.Bake, "bake", 0, "how long each wave has to stay healthy before the next one starts")
}

// Args takes the names of clusters. Without a name and without a flag that
// chooses clusters there is nothing to do.
func (f *Fleet) Args(cmd *cobra.Command, args []string) error {
	if err := f.Choice.Args(cmd, args); err != nil {
		return err
	}
	if err := f.checkChanged(); err != nil {
		return err
	}
	if err := f.checkSafety(cmd, args); err != nil {
		return err
	}
	switch {
	case f.Resume && !f.Selection.Empty():
		return fault.NewUsage(fmt.Sprintf("--resume and %s: a resumed run has its own clusters", f.Selection), "pass --resume alone")
	case f.Parallel < 0:
		return fault.NewUsage(fmt.Sprintf("--parallel is %d", f.Parallel), "pass 1 or more")
	case cmd.Flags().Changed("gate-timeout") && f.GateTimeout <= 0:
		return fault.NewUsage(fmt.Sprintf("--gate-timeout is %s", f.GateTimeout), "pass a duration such as 5m, or --no-gate")
	case f.Resume || !f.Selection.Empty():
		return nil
	}
	return fault.NewUsage("no cluster is selected", "pass names of clusters or paths of cluster files, or --all, --selector, --wave or --status")
}

// checkSafety checks the flags that limit what a run may do.
func (f *Fleet) checkSafety(cmd *cobra.Command, args []string) error {
	switch {
	case f.FailFast && f.MaxFailures.Given:
		return fault.NewUsage("--fail-fast and --max-failures: both say when nothing more starts", "pass one of them")
	case f.Bake < 0:
		return fault.NewUsage(fmt.Sprintf("--bake is %s", f.Bake), "pass a duration such as 30m")
	case f.Bake > 0 && f.NoGate:
		return fault.NewUsage("--bake and --no-gate: a bake looks at the health of a wave", "pass one of them")
	}
	return f.Check(cmd, args)
}

// Choose returns the clusters that the command line is about, in the order of
// their waves. For a resumed run, these are all of its clusters, and the
// operation's flags are set as they were, where the command line leaves them out.
// The list is empty when no selected cluster has changed.
func (f *Fleet) Choose() ([]*config.Cluster, error) {
	if f.Resume {
		return f.chooseResumed()
	}
	chosen, err := f.Choice.Choose()
	if err != nil || f.ChangedSince == "" {
		return chosen, err
	}
	return f.onlyChanged(chosen)
}

func (f *Fleet) chooseResumed() ([]*config.Cluster, error) {
	root, err := f.Root()
	if err != nil {
		return nil, err
	}
	journals, err := f.Journals()
	if err != nil {
		return nil, err
	}
	r, err := journals.Unfinished(f.Operation.Name, f.Operation.Undoing)
	if err == nil {
		err = r.Unchanged(root)
	}
	if err != nil {
		return nil, err
	}
	files := make([]string, len(r.Clusters))
	for i, c := range r.Clusters {
		files[i] = c.File
		if !filepath.IsAbs(c.File) {
			files[i] = filepath.Join(root, c.File)
		}
	}
	if err := f.restore(r.Options); err != nil {
		return nil, err
	}
	f.resumed, f.Selection = &r, r.Selection
	return clusters.Load(files)
}

// options are the operation's flags that the command line has.
func (f *Fleet) options() map[string]string {
	out := map[string]string{}
	f.cmd.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && !slices.Contains(ownFlags, flag.Name) {
			out[flag.Name] = flag.Value.String()
		}
	})
	return out
}

// restore sets the operation's flags as they were.
func (f *Fleet) restore(options map[string]string) error {
	for name, value := range options {
		if flag := f.cmd.Flags().Lookup(name); flag == nil || flag.Changed {
			continue
		}
		if err := f.cmd.Flags().Set(name, value); err != nil {
			return fault.NewPrecondition(fmt.Sprintf("the run had --%s %s, which this version does not accept", name, value),
				"run the command without --resume", err)
		}
	}
	return nil
}

// parallel is how many clusters are processed at a time.
func (f *Fleet) parallel() int {
	if f.Parallel > 0 {
		return f.Parallel
	}
	return rollout.DefaultParallel()
}
