// Package doctor is the command tombolo doctor.
package doctor

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/automation/preflight"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/findings"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/internal/wording"
)

// Driver is what the command needs of automation.Driver.
type Driver interface {
	Doctor(context.Context, []*config.Cluster) ([]preflight.Report, error)
}

// Options of the command.
type Options struct {
	factory.Base
	Driver func(context.Context, automation.Observer) (Driver, error)

	clusters.Choice
}

// NewCmdDoctor returns the command; runF, if not nil, runs in place of it.
func NewCmdDoctor(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Base: f.Base(), Choice: f.Choice(),
		Driver: func(ctx context.Context, o automation.Observer) (Driver, error) { return f.Driver(ctx, o) },
	}
	cmd := &cobra.Command{
		Use:   "doctor [<cluster>...]",
		Short: "Check what would make an up fail",
		Long: strings.TrimSpace(`
Check everything that an up needs: tools and plugins, the state backend,
credentials that need no prompt, the right account, the region, quotas for
clusters that do not exist yet, what the cloud has of what the files name (zones,
versions, instance types, keys), the Git repository, the engine's distribution,
whether this machine will reach the Kubernetes API, and access to clusters that
exist. Without a selection, check all clusters of the
project. All findings are shown at once, each with its remedy; so are the warnings of
the cluster files. Nothing is changed.`),
		Example: strings.TrimSpace(`
  tombolo doctor
  tombolo doctor demo --lab
  tombolo doctor --wave 1`),
		Args: opts.Args,
		RunE: func(cmd *cobra.Command, _ []string) error { return factory.Run(cmd.Context(), opts, runF, doctorRun) },
	}
	opts.AddFlags(cmd)
	return cmd
}

func doctorRun(ctx context.Context, o *Options) error {
	all, err := o.Choose()
	if err != nil {
		return err
	}
	clusters.Warn(o.Status(), all...)
	return factory.With(ctx, o.Progress, o.Driver, func(driver Driver, _ *render.Progress) error {
		reports, err := driver.Doctor(ctx, all)
		if err != nil {
			return err
		}
		if err := o.write(all, reports); err != nil {
			return err
		}
		return findings.Refusal(reports, "follow the remedy of each finding, and run `tombolo doctor` again")
	})
}

func (o *Options) write(all []*config.Cluster, reports []preflight.Report) error {
	if o.JSON() {
		return findings.WriteJSON(o.Streams.Out, reports, all)
	}
	var rows [][]string
	for _, g := range findings.Group(reports) {
		f := g.Finding
		rows = append(rows, []string{string(f.Level), strings.Join(g.Clusters, ", "), f.Check, f.Message})
	}
	if err := render.Table(o.Streams.Out, o.Table(), []string{"RESULT", "CLUSTER", "CHECK", "FOUND"}, rows); err != nil {
		return err
	}
	findings.Advise(o.Status(), reports)
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
