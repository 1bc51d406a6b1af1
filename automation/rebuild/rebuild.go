// Package rebuild destroys a cluster and makes it again, and goes on after any interruption.
package rebuild

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tombolo/automation/backend"
	"tombolo/automation/connect"
	"tombolo/automation/destroy"
	"tombolo/automation/hubs"
	"tombolo/automation/operation"
	"tombolo/automation/preflight"
	"tombolo/automation/reach"
	"tombolo/automation/step"
	"tombolo/automation/teardown"
	"tombolo/automation/upgrade"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// Options of a rebuild.
type Options struct {
	// Version of Kubernetes that the new cluster gets, major.minor. Default: the one in the
	// cluster file.
	Version string
	// KeepData leaves buckets, file systems and snapshots in the cloud; the new cluster uses
	// the buckets and file systems.
	KeepData bool
	// Accept are the risks of another version that are set aside.
	Accept []upgrade.Risk
	// Confirmed, Leftovers and DrainTimeout are those of DestroyOptions.
	Confirmed    bool
	Leftovers    teardown.LeftoverPolicy
	DrainTimeout time.Duration
	// Verify waits until the new cluster is ready. Default: Driver.Verify with a timeout of 10m.
	Verify func(context.Context, *config.Cluster) error
	// Began and Ended, if not nil, are called before and after each phase.
	Began func(Phase)
	Ended func(Phase, time.Duration)
}

// Phase is a part of a rebuild whose time is told.
type Phase struct {
	// Operation is destroy or up.
	Operation string `json:"operation"`
	// Part of it: drain, bootstrap or core of a destroy; core, bootstrap or verify of an up.
	Part string `json:"part"`
}

// String is the phase as people read it.
func (p Phase) String() string { return p.Operation + ", " + p.Part }

// Record says how far a rebuild has come. It is an output of core, so that it is
// where the state is, and whoever has the state can go on.
type Record struct {
	// Began is when.
	Began time.Time `json:"began"`
	// Version of Kubernetes that the new cluster gets, major.minor.
	Version string `json:"version"`
	// KeepData is that of Options.
	KeepData bool `json:"keepData,omitempty"`
	// Destroyed says that nothing is left of the old cluster but what was kept.
	Destroyed bool `json:"destroyed,omitempty"`
}

func (r Record) encode() string { return string(backend.Encode(r)) }

// Plan says what a rebuild is going to do.
type Plan struct {
	// Cluster is the cluster's name.
	Cluster string `json:"cluster"`
	// From is the version of Kubernetes of the live cluster; "" when it is not known.
	From string `json:"from,omitempty"`
	// Resumes says that a rebuild that did not end goes on.
	Resumes bool `json:"resumes"`
	// Record is the rebuild that goes on, or the one that is to begin.
	Record
	// Changes are the keys, besides the version, in which the file differs from what the
	// live cluster was made from: the new cluster has them.
	Changes config.Changes `json:"changes,omitempty"`
	// Next is the cluster as its file will describe it.
	Next *config.Cluster `json:"-"`
}

// Rebuilder rebuilds clusters. All fields are required.
type Rebuilder struct {
	Backend   *backend.Backend
	Connector connect.Connector
	Hubs      hubs.Hubs
	Destroyer destroy.Destroyer
	Reach     reach.Check
	Progress  Progress
	// Live is what the live cluster was made from; nil when no cluster lives.
	Live func(context.Context, *config.Cluster) (*config.Live, error)
	// Prepare finds out what an up of the cluster will miss, and Doctor what keeps it from succeeding.
	Prepare func(context.Context, *config.Cluster) error
	Doctor  func(context.Context, []*config.Cluster) ([]preflight.Report, error)
	// Destroy destroys a cluster, and Up makes it; began is called when they come to a part.
	Destroy func(context.Context, *config.Cluster, destroy.Options) ([]operation.StackResult, error)
	Up      func(ctx context.Context, c *config.Cluster, began func(string)) error
	Verify  func(context.Context, *config.Cluster) error
	// Now is the time.
	Now func() time.Time
}

// Steps of a rebuild as its plan says. How far it has come is an output of core: interrupted at any moment, the
// next plan goes on from there. An up that is not a rebuild's makes the cluster too, and ends the rebuild.
func (d Rebuilder) Steps(c *config.Cluster, p Plan, o Options) []step.Step {
	r := &rebuild{Rebuilder: d, file: c.File, record: p.Record, options: o, old: *c, next: *p.Next}
	var out []step.Step
	if !r.record.Destroyed {
		out = append(out,
			step.Step{Name: "write down that the rebuild begins", Do: r.write},
			step.Step{Name: "destroy", Do: r.destroy},
			step.Step{Name: "write down that the old cluster is gone", Do: r.clear},
		)
	}
	return append(out,
		step.Step{Name: "write the version", Do: r.edit},
		step.Step{Name: "up", Do: r.up},
		step.Step{Name: "verify", Do: r.verify},
		step.Step{Name: "end the rebuild", Do: func(ctx context.Context) error { return r.Progress.End(ctx, &r.next) }},
	)
}

// rebuild is one that goes on.
type rebuild struct {
	Rebuilder
	file      string
	record    Record
	options   Options
	old, next config.Cluster
	// kept says that the destruction has left something of the cluster in the cloud.
	kept bool
	// phase that goes on, and since when.
	phase Phase
	since time.Time
}

// write writes down that the rebuild begins.
func (r *rebuild) write(ctx context.Context) error {
	return r.Progress.Write(ctx, &r.old, r.record.encode())
}

func (r *rebuild) destroy(ctx context.Context) error {
	r.old.Rebuild = r.record.encode()
	results, err := r.Destroy(ctx, &r.old, destroy.Options{
		Confirmed: r.options.Confirmed, Leftovers: r.options.Leftovers, DrainTimeout: r.options.DrainTimeout,
		KeepData: r.record.KeepData, Began: r.begins("destroy"),
	})
	if err != nil {
		return err
	}
	r.ended()
	r.kept = slices.ContainsFunc(results, func(s operation.StackResult) bool { return s.Kind == stacks.Core && len(s.Kept) > 0 })
	return nil
}

// clear writes down that the old cluster is gone, and takes what described it out of core's
// state.
func (r *rebuild) clear(ctx context.Context) error {
	r.record.Destroyed = true
	s, err := r.Progress.Runner.Open(ctx, &r.old, stacks.Core, catalog.Options{}, true)
	if err != nil {
		return err
	}
	st, err := r.Backend.State(ctx, s.Name)
	if err != nil {
		return err
	}
	edited, err := backend.Afresh(st.Raw, s.Name, r.record.encode(), r.kept)
	if err != nil {
		return fmt.Errorf("rebuild %s: write down that the old cluster is gone: %w", r.old.Name, err)
	}
	return s.Import(ctx, "write down that the old cluster is gone in", st, edited)
}

// edit has the cluster file say the version.
func (r *rebuild) edit(context.Context) error {
	if r.next.Kubernetes.Version == r.old.Kubernetes.Version {
		return nil
	}
	return config.SetVersions(r.file, r.next.Kubernetes.Version, r.next.Kubernetes.NodeVersion)
}

func (r *rebuild) up(ctx context.Context) error {
	r.next.Rebuild = r.record.encode()
	return r.Up(ctx, &r.next, r.begins("up"))
}

func (r *rebuild) verify(ctx context.Context) error {
	r.begins("up")("verify")
	verify := r.Verify
	if r.options.Verify != nil {
		verify = r.options.Verify
	}
	if err := verify(ctx, &r.next); err != nil {
		return err
	}
	r.ended()
	return nil
}

// begins tells of the phases of an operation.
func (r *rebuild) begins(operation string) func(string) {
	return func(part string) {
		r.ended()
		r.phase, r.since = Phase{Operation: operation, Part: part}, r.Now()
		if r.options.Began != nil {
			r.options.Began(r.phase)
		}
	}
}

// ended tells of the end of the phase that goes on.
func (r *rebuild) ended() {
	if r.phase.Part != "" && r.options.Ended != nil {
		r.options.Ended(r.phase, r.Now().Sub(r.since))
	}
	r.phase = Phase{}
}

// Progress is how far rebuilds have come, by the outputs of core.
type Progress struct{ Runner *operation.Runner }

// End takes the record of a rebuild out of core's outputs, if there is one.
func (p Progress) End(ctx context.Context, c *config.Cluster) error {
	return p.Write(ctx, c, "")
}

// Write gives core's outputs a record of a rebuild, or takes it away.
func (p Progress) Write(ctx context.Context, c *config.Cluster, record string) error {
	st, err := p.Runner.Backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	if err != nil || st == nil || st.Rebuild() == record {
		return err
	}
	edited, err := backend.WithRebuild(st.Raw, record)
	if err != nil {
		return fmt.Errorf("rebuild %s: write down how far it has come: %w", c.Name, err)
	}
	if record == "" && c.Rebuild == "" {
		p.Runner.Note(stacks.Name(c.Name, stacks.Core), "the rebuild that was not finished has ended: the cluster is as its file says")
	}
	s, err := p.Runner.Open(ctx, c, stacks.Core, catalog.Options{}, true)
	if err != nil {
		return err
	}
	return s.Import(ctx, "write down how far the rebuild has come in", st, edited)
}
