// Package drift is the command tombolo drift.
package drift

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/drift"
	"tombolo/automation/rollout"
	"tombolo/config"
	"tombolo/internal/cli/factory"
	"tombolo/internal/cli/fault"
	"tombolo/internal/cli/fleet"
)

// Driver is what the command needs of automation.Driver.
type Driver interface {
	Drift(context.Context, *config.Cluster) (drift.Report, error)
}

// Options of the command.
type Options struct {
	*fleet.Fleet
	Driver func(context.Context, automation.Observer) (Driver, error)
	Store  func() (drift.Store, error)

	// Report is the file for a report in Markdown; none when empty.
	Report string
}

// NewCmdDrift returns the command; runF, if not nil, runs in place of it.
func NewCmdDrift(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Fleet: fleet.New(f, fleet.Operation{Name: "drift", Order: rollout.Free}), Store: f.Drift,
		Driver: func(ctx context.Context, o automation.Observer) (Driver, error) { return f.Driver(ctx, o) },
	}
	cmd := &cobra.Command{
		Use:   "drift [<cluster>...]",
		Short: "Show what has changed since up",
		Long: strings.TrimSpace(`
Read every resource of both stacks again. Show what is missing, what has changed in
the cloud and on the cluster, and cloud resources with the cluster's tag that are
in neither stack. Nothing is written, and no lock is taken.

The exit code is 9 if anything differs. Resources that the cloud and controllers make
for a cluster are only counted. The last result of each cluster is kept, for
status.`),
		Example: strings.TrimSpace(`
  tombolo drift demo --lab
  tombolo drift --all
  tombolo drift --all --report drift.md
  tombolo drift demo --output json`),
		Args: opts.Args,
		RunE: func(cmd *cobra.Command, _ []string) error { return factory.Run(cmd.Context(), opts, runF, driftRun) },
	}
	opts.AddFlags(cmd)
	opts.AddChangedFlags(cmd)
	cmd.Flags().StringVar(&opts.Report, "report", "", "`file` for the differences, in Markdown; it is empty if there are none")
	return cmd
}

func driftRun(ctx context.Context, o *Options) error {
	all, err := o.Choose()
	if err != nil || len(all) == 0 {
		return err
	}
	store, err := o.Store()
	if err != nil {
		return err
	}
	var mu sync.Mutex
	reports := map[string]drift.Report{}
	err = fleet.With(ctx, o.Fleet, o.Driver, func(s *fleet.Session[Driver]) error {
		return s.Run(ctx, all, fleet.Tasks{Work: func(ctx context.Context, t fleet.Terminal, c *config.Cluster) (rollout.Work, error) {
			report, err := s.Driver.Drift(ctx, c)
			if ctx.Err() != nil {
				return rollout.Work{}, err // an incomplete result is not used
			}
			mu.Lock()
			reports[c.Name] = report
			mu.Unlock()
			return rollout.Work{Phase: "drift"}, cmp.Or(err, store.Save(report), o.write(t, report))
		}})
	})
	if o.Report != "" {
		err = cmp.Or(err, saveReport(o.Report, reports))
	}
	names := []string{}
	for _, c := range all {
		if r := reports[c.Name]; r.Drifted() {
			names = append(names, c.Name)
		}
	}
	if err != nil || len(names) == 0 {
		return err
	}
	return found(names)
}

// found is the error that says that something differs.
func found(clusters []string) error {
	names := strings.Join(clusters, " ")
	return &fault.Error{
		Class:   fault.Drift,
		Problem: "drift in " + strings.Join(clusters, ", "),
		Remedy: fmt.Sprintf("put back what is missing or changed with `tombolo up %s --refresh`, or change the cluster file; "+
			"what is unexpected is for you to delete", names),
	}
}
