// Package drift is the command tombolo drift.
package drift

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/drift"
	"tombolo/config"
	"tombolo/internal/cli/factory"
	"tombolo/internal/cli/fault"
	"tombolo/internal/cli/streams"
	"tombolo/internal/render"
)

// Driver is what the command needs of automation.Driver.
type Driver interface {
	Drift(context.Context, *config.Cluster) (drift.Report, error)
}

// Options of the command.
type Options struct {
	Streams  *streams.Streams
	Status   func() render.Status
	Progress func() *render.Progress
	Clusters func([]string) ([]*config.Cluster, error)
	Driver   func(context.Context, automation.Observer) (Driver, error)
	Store    func() (drift.Store, error)
	JSON     func() bool
	Table    func() render.TableOptions

	Names []string
}

// NewCmdDrift returns the command; runF, if not nil, runs in place of it.
func NewCmdDrift(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Streams: f.Streams, Status: f.Status, Progress: f.Progress, Clusters: f.Clusters, Store: f.Drift,
		JSON: f.JSON, Table: f.Table,
		Driver: func(ctx context.Context, o automation.Observer) (Driver, error) { return f.Driver(ctx, o) },
	}
	return &cobra.Command{
		Use:   "drift <cluster>...",
		Short: "Show what is no longer as up left it",
		Long: strings.TrimSpace(`
Read every resource of both stacks again, and show what is missing and what has
changed in the cloud and on the cluster, and cloud resources with the cluster's
tag that are in neither stack. Nothing is written, and no lock is taken.

The exit code is 9 when anything differs. What AWS and controllers make for a
cluster is left out, and counted. The last result of each cluster is kept, for
status.`),
		Example: strings.TrimSpace(`
  tombolo drift demo --lab
  tombolo drift demo --output json`),
		Args: factory.SomeClusters,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Names = args
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return driftRun(cmd.Context(), opts)
		},
	}
}

func driftRun(ctx context.Context, o *Options) error {
	all, err := o.Clusters(o.Names)
	if err != nil {
		return err
	}
	store, err := o.Store()
	if err != nil {
		return err
	}
	var drifted []string
	err = factory.Each(ctx, all, o.Progress, o.Driver, func(driver Driver, _ *render.Progress, c *config.Cluster) error {
		report, err := driver.Drift(ctx, c)
		if ctx.Err() != nil {
			return err // half a look is no result
		}
		if report.Drifted() {
			drifted = append(drifted, c.Name)
		}
		if kErr := store.Save(report); kErr != nil && err == nil {
			err = kErr
		}
		if wErr := o.write(report); wErr != nil && err == nil {
			err = wErr
		}
		return err
	})
	if err != nil || len(drifted) == 0 {
		return err
	}
	return found(drifted)
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
