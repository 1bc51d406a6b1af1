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
	"tombolo/automation/approved"
	"tombolo/automation/drift"
	"tombolo/automation/health"
	"tombolo/automation/rollout"
	"tombolo/cmd/tombolo/cli/change"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/fleet"
	"tombolo/config"
)

// Driver is what the command needs of automation.Driver.
type Driver interface {
	Drift(context.Context, *config.Cluster, automation.DriftOptions) (drift.Report, error)
	Preview(context.Context, *config.Cluster, automation.PreviewOptions) (automation.Result, error)
	Up(context.Context, *config.Cluster, automation.UpOptions) (automation.Result, error)
	Verify(context.Context, *config.Cluster, health.Options) (health.Verification, error)
}

// Options of the command.
type Options struct {
	*fleet.Fleet
	Driver func(context.Context, automation.Observer) (Driver, error)

	// Report is the file for a report in Markdown; none when empty.
	Report string
	// Remediate puts drift right, where the cluster files allow that.
	Remediate bool
	automation.DriftOptions
}

// NewCmdDrift returns the command; runF, if not nil, runs in place of it.
func NewCmdDrift(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Fleet:  fleet.New(f, fleet.Operation{Name: "drift", Order: rollout.Free}),
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
status.

With --without-secrets, the command decrypts nothing, and needs no key or
passphrase of the states. It then does not compare Secrets of Kubernetes, and
objects on a hub that others run. Use it in jobs that only read.

With --remediate, the command corrects missing and changed resources if
drift.remediate of the cluster file allows that, as up --refresh does, without a
question. It plans first. It leaves a cluster to people if its file has changes
that were not applied, if it would delete or replace something that holds data
or that others depend on, or if the policy requires an approval. It never
deletes unexpected resources. It compares the clusters again afterwards. It
works wave by wave, as up does: --max-failures, --bake and the flags of the gate
say how carefully.`),
		Example: strings.TrimSpace(`
  tombolo drift demo --lab
  tombolo drift --all
  tombolo drift --all --report drift.md
  tombolo drift --all --remediate --max-failures 5% --bake 10m
  tombolo drift demo --output json`),
		Args: cobra.MatchAll(opts.checkRemediation, opts.Args),
		RunE: func(cmd *cobra.Command, _ []string) error { return factory.Run(cmd.Context(), opts, runF, driftRun) },
	}
	opts.AddFlags(cmd)
	opts.AddChangedFlags(cmd)
	opts.AddFailuresFlag(cmd)
	opts.AddGateFlags(cmd)
	cmd.Flags().BoolVar(&opts.Remediate, "remediate", false, "put right what is missing or changed, where drift.remediate of the cluster file allows it")
	factory.AddWithoutSecrets(cmd, &opts.WithoutSecrets)
	cmd.Flags().StringVar(&opts.Report, "report", "", "`file` for the differences, in Markdown; it is empty if there are none")
	return cmd
}

// checkRemediation refuses the flags of a run that changes clusters where none does.
func (o *Options) checkRemediation(cmd *cobra.Command, _ []string) error {
	if o.Remediate && o.WithoutSecrets {
		return fault.NewUsage("--remediate and --without-secrets: what puts right changes clusters, and needs the states' secrets", "leave one of both out")
	}
	if o.Remediate {
		return nil
	}
	for _, name := range []string{"max-failures", "bake", "no-gate", "gate-timeout"} {
		if cmd.Flags().Changed(name) {
			return fault.NewUsage(fmt.Sprintf("--%s without --remediate: a comparison changes no cluster", name), "pass --remediate too, or leave it out")
		}
	}
	return nil
}

func driftRun(ctx context.Context, o *Options) error {
	all, err := o.Choose()
	if err != nil || len(all) == 0 {
		return err
	}
	store, err := o.Looks()
	if err != nil {
		return err
	}
	reports := &found{store: store, reports: map[string]drift.Report{}}
	m := &remedy{Options: o, seen: &change.Collector{}, plans: map[string]*approved.Cluster{}, left: map[string]string{}}
	err = fleet.With(ctx, o.Fleet, change.Before(m.seen, o.Driver), func(s *fleet.Session[Driver]) error {
		err := s.Run(ctx, all, fleet.Tasks{Work: func(ctx context.Context, t fleet.Terminal, c *config.Cluster) (rollout.Work, error) {
			return rollout.Work{Phase: "drift"}, o.look(ctx, s.Driver, t, c, reports)
		}})
		if !o.Remediate || ctx.Err() != nil {
			return err
		}
		m.session = s
		return cmp.Or(err, m.run(ctx, all, reports))
	})
	if o.Report != "" {
		err = cmp.Or(err, saveReport(o.Report, reports.reports, m.left))
	}
	names := []string{}
	for _, c := range all {
		if r := reports.get(c.Name); r.Drifted() {
			names = append(names, c.Name)
		}
	}
	if err != nil || len(names) == 0 {
		return err
	}
	return drifted(names)
}

// found are the last reports of the clusters, which are kept as well.
type found struct {
	store   drift.Store
	mu      sync.Mutex
	reports map[string]drift.Report
}

func (f *found) get(cluster string) drift.Report {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reports[cluster]
}

func (f *found) keep(r drift.Report) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reports[r.Cluster] = r
	return f.store.Save(r)
}

// look compares a cluster, keeps what it finds, and shows it.
func (o *Options) look(ctx context.Context, driver Driver, t fleet.Terminal, c *config.Cluster, reports *found) error {
	report, err := driver.Drift(ctx, c, o.DriftOptions)
	if ctx.Err() != nil {
		return err // an incomplete result is not used
	}
	return cmp.Or(err, reports.keep(report), o.write(t, report))
}

// drifted is the error that says that something differs.
func drifted(clusters []string) error {
	names := strings.Join(clusters, " ")
	return &fault.Error{
		Class:   fault.Drift,
		Problem: "drift in " + strings.Join(clusters, ", "),
		Remedy: fmt.Sprintf("put back what is missing or changed with `tombolo up %s --refresh`, or change the cluster file; "+
			"what is unexpected is for you to delete", names),
	}
}
