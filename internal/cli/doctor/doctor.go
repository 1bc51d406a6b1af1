// Package doctor is the command tombolo doctor.
package doctor

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/preflight"
	"tombolo/config"
	"tombolo/internal/cli/clusters"
	"tombolo/internal/cli/factory"
	"tombolo/internal/cli/streams"
	"tombolo/internal/render"
	"tombolo/internal/wording"
)

// Driver is what the command needs of automation.Driver.
type Driver interface {
	Doctor(context.Context, []*config.Cluster) ([]preflight.Report, error)
}

// Options of the command.
type Options struct {
	Streams  *streams.Streams
	Status   func() render.Status
	Progress func() *render.Progress
	Driver   func(context.Context, automation.Observer) (Driver, error)
	JSON     func() bool
	Table    func() render.TableOptions

	clusters.Choice
}

// NewCmdDoctor returns the command; runF, if not nil, runs in place of it.
func NewCmdDoctor(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Streams: f.Streams, Status: f.Status, Progress: f.Progress, JSON: f.JSON, Table: f.Table,
		Choice: clusters.Choice{Clusters: f.ClustersOrAll},
		Driver: func(ctx context.Context, o automation.Observer) (Driver, error) { return f.Driver(ctx, o) },
	}
	cmd := &cobra.Command{
		Use:   "doctor [<cluster>...]",
		Short: "Look for what would keep an up from succeeding",
		Long: strings.TrimSpace(`
Look for everything that an up of the clusters, all of the project's when none is
chosen, needs: tools and plugins, the state backend, credentials that ask nobody,
the right account, the region, quotas for what is still to be made, the Git
repository, the engine's distribution, and access to a cluster that exists. All
findings come at once, each with its remedy, and nothing is changed.`),
		Example: strings.TrimSpace(`
  tombolo doctor
  tombolo doctor demo --lab
  tombolo doctor --wave 1`),
		Args: opts.Args,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return doctorRun(cmd.Context(), opts)
		},
	}
	opts.AddFlags(cmd)
	return cmd
}

func doctorRun(ctx context.Context, o *Options) error {
	all, err := o.Choose()
	if err != nil {
		return err
	}
	progress := o.Progress()
	defer progress.Close()
	driver, err := o.Driver(ctx, progress)
	if err != nil {
		return err
	}
	reports, err := driver.Doctor(ctx, all)
	if err != nil {
		return err
	}
	if err := o.write(reports); err != nil {
		return err
	}
	return refusal(reports, "do what is said beside each finding, and run `tombolo doctor` again")
}

func (o *Options) write(reports []preflight.Report) error {
	if o.JSON() {
		return writeJSON(o.Streams.Out, reports)
	}
	var rows [][]string
	for _, g := range group(reports) {
		f := g.finding
		rows = append(rows, []string{string(f.Level), strings.Join(g.clusters, ", "), f.Check, f.Message})
	}
	if err := render.Table(o.Streams.Out, o.Table(), []string{"RESULT", "CLUSTER", "CHECK", "FOUND"}, rows); err != nil {
		return err
	}
	advise(o.Status(), reports)
	for _, r := range reports {
		o.conclude(r)
	}
	return nil
}

func (o *Options) conclude(r preflight.Report) {
	failed, warned := r.Count(preflight.Fail), r.Count(preflight.Warn)
	switch {
	case failed > 0:
		o.Status().Failed("%s: %d of %d checks failed", r.Cluster, failed, len(r.Findings))
	case warned > 0:
		o.Status().Done("%s: ready, with %s", r.Cluster, wording.Count(warned, "warning"))
	default:
		o.Status().Done("%s: ready", r.Cluster)
	}
}
