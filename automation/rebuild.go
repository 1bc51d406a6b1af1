package automation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/health"
	"tombolo/automation/preflight"
	"tombolo/automation/reach"
	"tombolo/automation/teardown"
	"tombolo/automation/upgrade"
	"tombolo/config"
	"tombolo/internal/wording"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// RebuildOptions of a rebuild.
type RebuildOptions struct {
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
	Began func(RebuildPhase)
	Ended func(RebuildPhase, time.Duration)
}

// RebuildPhase is a part of a rebuild whose time is told.
type RebuildPhase struct {
	// Operation is destroy or up.
	Operation string `json:"operation"`
	// Part of it: drain, bootstrap or core of a destroy; core, bootstrap or verify of an up.
	Part string `json:"part"`
}

// String is the phase as people read it.
func (p RebuildPhase) String() string { return p.Operation + ", " + p.Part }

// RebuildRecord says how far a rebuild has come. It is an output of core, so that it is
// where the state is, and whoever has the state can go on.
type RebuildRecord struct {
	// Began is when.
	Began time.Time `json:"began"`
	// Version of Kubernetes that the new cluster gets, major.minor.
	Version string `json:"version"`
	// KeepData is that of RebuildOptions.
	KeepData bool `json:"keepData,omitempty"`
	// Destroyed says that nothing is left of the old cluster but what was kept.
	Destroyed bool `json:"destroyed,omitempty"`
}

func (r RebuildRecord) encode() string { return string(backend.Encode(r)) }

// RebuildPlan says what a rebuild is going to do.
type RebuildPlan struct {
	// Cluster is the cluster's name.
	Cluster string `json:"cluster"`
	// From is the version of Kubernetes of the live cluster; "" when it is not known.
	From string `json:"from,omitempty"`
	// Resumes says that a rebuild that did not end goes on.
	Resumes bool `json:"resumes"`
	// RebuildRecord is the rebuild that goes on, or the one that is to begin.
	RebuildRecord
	// Changes are the keys, besides the version, in which the file differs from what the
	// live cluster was made from: the new cluster has them.
	Changes config.Changes `json:"changes,omitempty"`
	// Next is the cluster as its file will describe it.
	Next *config.Cluster `json:"-"`
}

// PlanRebuild finds out what a rebuild would do, and changes nothing. It refuses what would
// keep the cluster from being destroyed, and what would keep the new one from being made:
// strict.Problems when the cluster file says so, and a fault.Error for all else.
func (d *Driver) PlanRebuild(ctx context.Context, c *config.Cluster, o RebuildOptions) (RebuildPlan, error) {
	p := RebuildPlan{Cluster: c.Name}
	if c.IsExisting() {
		return p, &fault.Error{
			What: fmt.Sprintf("rebuild %s: it is the existing cluster %s, which others make and destroy", c.Name, c.NameInCloud()),
			Remedy: fmt.Sprintf("have its owner make it anew: `tombolo destroy %s` before that takes away what Tombolo made on it, "+
				"and `tombolo up %[1]s` after that makes it again", c.Name),
		}
	}
	if err := d.backend.RequireSpace(); err != nil {
		return p, err
	}
	if err := d.backend.Mend(ctx, stackNames(c)...); err != nil {
		return p, err
	}
	if err := d.resumed(ctx, c, o, &p); err != nil {
		return p, err
	}
	var err error
	if p.Next, err = next(c, &p, o); err != nil {
		return p, err
	}
	if p.Destroyed {
		return p, d.requireMaking(ctx, p)
	}
	if err := refuseProtected(c, DestroyOptions{Confirmed: o.Confirmed}); err != nil {
		return p, err
	}
	if err := d.compare(ctx, c, &p, o); err != nil {
		return p, err
	}
	if err := d.refuseKept(ctx, c); err != nil {
		return p, err
	}
	return p, d.requireMaking(ctx, p)
}

// resumed is the rebuild that did not end; else the plan gets the one that is to begin.
func (d *Driver) resumed(ctx context.Context, c *config.Cluster, o RebuildOptions, p *RebuildPlan) error {
	st, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	if err != nil {
		return err
	}
	p.RebuildRecord = RebuildRecord{Began: d.now().UTC().Truncate(time.Second), Version: o.Version, KeepData: o.KeepData}
	text := st.Rebuild()
	if text == "" {
		return nil
	}
	p.Resumes = true
	if err := json.Unmarshal([]byte(text), &p.RebuildRecord); err != nil {
		return &fault.Error{
			What:   fmt.Sprintf("rebuild %s: read how far the last one has come from the outputs of stack %s: %v", c.Name, stacks.Name(c.Name, stacks.Core), err),
			Remedy: fmt.Sprintf("use the release of Tombolo that began it, or run `tombolo up %s`, which makes the cluster and ends the rebuild", c.Name), Err: err,
		}
	}
	if o.Version != "" && o.Version != p.Version {
		return &fault.Error{
			Class: fault.Usage,
			What: fmt.Sprintf("rebuild %s: the rebuild that began %s is not finished, and goes to Kubernetes %s, not to %s",
				c.Name, p.Began.Format(time.RFC3339), p.Version, o.Version),
			Remedy: "leave --version out to finish it, and rebuild again after that",
		}
	}
	if o.KeepData && !p.Destroyed {
		p.KeepData = true
	}
	return nil
}

// next is the cluster as its file will describe it; without a version in the plan it is as
// it does, and the plan gets that one.
func next(c *config.Cluster, p *RebuildPlan, o RebuildOptions) (*config.Cluster, error) {
	if o.Version == "" && (p.Version == "" || p.Version == c.Kubernetes.Version) {
		p.Version = c.Kubernetes.Version
		out := *c
		return &out, nil
	}
	return config.AtVersion(c.File, p.Version)
}

// compare compares the new cluster with the live one, and refuses what is not a rebuild of
// it, and a version that is not tested.
func (d *Driver) compare(ctx context.Context, c *config.Cluster, p *RebuildPlan, o RebuildOptions) error {
	remains, err := d.Remains(ctx, c)
	if err != nil {
		return err
	}
	if remains.None() || len(remains.Resources) == 0 && !p.Resumes {
		return &fault.Error{What: c.Name + " is not deployed", Remedy: fmt.Sprintf("deploy it with `tombolo up %s`", c.Name)}
	}
	found, err := d.live(ctx, c)
	if err != nil {
		return err
	}
	var elsewhere []string
	for _, change := range config.Compare(found, p.Next) {
		if change.Path == versionKeys[0] || change.Path == versionKeys[1] {
			continue
		}
		p.Changes = append(p.Changes, change)
		if saysWhere(change.Path) {
			elsewhere = append(elsewhere, change.Path)
		}
	}
	if len(elsewhere) > 0 {
		return elsewhereError(c, wording.And(elsewhere))
	}
	if found != nil { // else a destruction has begun
		p.From = found.Cluster.Kubernetes.Version
	}
	from := cmp.Or(p.From, c.Kubernetes.Version)
	if p.Resumes || from == p.Version {
		return nil
	}
	step := upgrade.Step{Phase: upgrade.ControlPlane, From: from, To: p.Version}
	return upgrade.Refusals(p.Next, []upgrade.Step{step}, o.Accept).Err()
}

func elsewhereError(c *config.Cluster, what string) error {
	return &fault.Error{
		What:   fmt.Sprintf("rebuild %s: the old cluster is destroyed by what the file says, and the live cluster has another %s", c.Name, what),
		Remedy: fmt.Sprintf("nothing was started: take the change back and run `tombolo destroy %s`, then change the file and run `tombolo up %[1]s`", c.Name),
	}
}

// saysWhere says that a destruction goes by a key: where the old cluster is, and which engine
// and hub it has to leave.
func saysWhere(path string) bool {
	for _, key := range []string{"cloud.provider", "cloud.account", "cloud.region", "gitops.engine", "gitops.hub", "gitops.externalHub", "kubernetes.existing"} {
		if path == key || strings.HasPrefix(path, key+".") {
			return true
		}
	}
	return false
}

// refuseKept refuses what a destruction would refuse: a cluster or a hub that does not
// answer, and a hub that has spokes.
func (d *Driver) refuseKept(ctx context.Context, c *config.Cluster) error {
	st, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Bootstrap))
	if err != nil || st.Resources() == 0 {
		return err
	}
	if mayLose(st, c) {
		return elsewhereError(c, "engine or hub")
	}
	own, err := d.probe(ctx, c)
	switch {
	case err != nil:
		return err
	case own.gone:
		return nil
	case !own.answers():
		return unreachable(c, own)
	}
	registration, registered := registrationOf(st, c.Name)
	switch hub := hubOf(st, c); {
	case hub == c.Name:
		return d.refuseWithSpokes(ctx, c, own.cluster)
	case hub == "" || registered && isExternal(st, registration) || c.HasExternalHub():
		return nil // requireMaking asks it
	default:
		at, err := d.probe(ctx, &config.Cluster{Name: hub})
		if err == nil && !at.answers() {
			return silentHub(c, hub, at)
		}
		return err
	}
}

// requireMaking refuses what would keep the new cluster from being made.
func (d *Driver) requireMaking(ctx context.Context, p RebuildPlan) error {
	if err := d.prepare(ctx, p.Next); err != nil {
		return err
	}
	if err := d.requireHub(ctx, p.Next); err != nil {
		return err
	}
	if err := d.requireNewReach(ctx, p); err != nil {
		return err
	}
	if own := p.Next.Kubernetes.OwnProvider(p.Next.Addons); own != "" {
		return &fault.Error{
			What:   fmt.Sprintf("rebuild %s: the new cluster could not be made with the identity provider that is its own addon %s", p.Cluster, own),
			Remedy: "nothing was changed: take kubernetes.identityProvider out of the file, and add it with an up when the new cluster's provider answers",
		}
	}
	reports, err := d.Doctor(ctx, []*config.Cluster{p.Next})
	if err != nil {
		return err
	}
	var reasons []string
	for _, f := range reports[0].Of(preflight.Fail) {
		if f.Check == preflight.Access { // of the old cluster, which refuseKept asks as long as it is needed
			continue
		}
		reasons = append(reasons, fmt.Sprintf("%s: %s (%s)", f.Check, f.Message, f.Remedy))
	}
	if len(reasons) == 0 {
		return nil
	}
	return &fault.Error{
		What:   fmt.Sprintf("rebuild %s: the new cluster could not be made: %s", p.Cluster, strings.Join(reasons, "; ")),
		Remedy: fmt.Sprintf("nothing was changed; `tombolo doctor %s` looks again", p.Cluster),
	}
}

// requireNewReach judges by the file whether this machine will reach the new cluster, where
// the file says another thing about that than the old cluster, which answers, was made with.
func (d *Driver) requireNewReach(ctx context.Context, p RebuildPlan) error {
	if d.assumesReach || !p.Resumes && !changesEndpoint(p.Changes) {
		return nil
	}
	j, err := d.judgeReach(ctx, p.Next, nil)
	if err == nil && j.Verdict == reach.Unreachable {
		err = &fault.Error{What: fmt.Sprintf("rebuild %s: %s", p.Cluster, j.Words(p.Cluster)), Remedy: "nothing was changed: " + j.Remedy}
	}
	return err
}

// Rebuild destroys the cluster and makes it again, as a plan of PlanRebuild says. How far it
// has come is an output of core: interrupted at any moment, the next plan goes on from there.
// An up that is not a rebuild's makes the cluster too, and ends the rebuild.
func (d *Driver) Rebuild(ctx context.Context, c *config.Cluster, p RebuildPlan, o RebuildOptions) error {
	r := &rebuild{driver: d, file: c.File, record: p.RebuildRecord, options: o, old: *c, next: *p.Next}
	for _, step := range []func(context.Context) error{r.write, r.destroy, r.clear, r.edit, r.up, r.verify, r.end} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// rebuild is one that goes on. Each step does nothing when it was done before.
type rebuild struct {
	driver    *Driver
	file      string
	record    RebuildRecord
	options   RebuildOptions
	old, next config.Cluster
	// kept says that the destruction has left something of the cluster in the cloud.
	kept bool
	// phase that goes on, and since when.
	phase RebuildPhase
	since time.Time
}

// write writes down that the rebuild begins.
func (r *rebuild) write(ctx context.Context) error {
	if r.record.Destroyed {
		return nil
	}
	return r.driver.writeRebuild(ctx, &r.old, r.record.encode())
}

func (r *rebuild) destroy(ctx context.Context) error {
	if r.record.Destroyed {
		return nil
	}
	r.old.Rebuild = r.record.encode()
	result, err := r.driver.Destroy(ctx, &r.old, DestroyOptions{
		Confirmed: r.options.Confirmed, Leftovers: r.options.Leftovers, DrainTimeout: r.options.DrainTimeout,
		KeepData: r.record.KeepData, began: r.begins("destroy"),
	})
	if err != nil {
		return err
	}
	r.ended()
	core, _ := result.Stack(stacks.Core)
	r.kept = len(core.Kept) > 0
	return nil
}

// clear writes down that the old cluster is gone, and takes what described it out of core's
// state.
func (r *rebuild) clear(ctx context.Context) error {
	if r.record.Destroyed {
		return nil
	}
	r.record.Destroyed = true
	s, err := r.driver.open(ctx, &r.old, stacks.Core, catalog.Options{}, true)
	if err != nil {
		return err
	}
	st, err := r.driver.backend.State(ctx, s.name)
	if err != nil {
		return err
	}
	edited, err := backend.Afresh(st.Raw, s.name, r.record.encode(), r.kept)
	if err != nil {
		return fmt.Errorf("rebuild %s: write down that the old cluster is gone: %w", r.old.Name, err)
	}
	return s.importState(ctx, "write down that the old cluster is gone in", st, edited)
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
	_, err := r.driver.Up(ctx, &r.next, UpOptions{Previewed: true, began: r.begins("up")})
	return err
}

func (r *rebuild) verify(ctx context.Context) error {
	r.begins("up")("verify")
	var err error
	if r.options.Verify != nil {
		err = r.options.Verify(ctx, &r.next)
	} else {
		_, err = r.driver.Verify(ctx, &r.next, health.Options{Timeout: defaultGateTimeout})
	}
	if err == nil {
		r.ended()
	}
	return err
}

func (r *rebuild) end(ctx context.Context) error { return r.driver.endRebuild(ctx, &r.next) }

// begins tells of the phases of an operation.
func (r *rebuild) begins(operation string) func(string) {
	return func(part string) {
		r.ended()
		r.phase, r.since = RebuildPhase{Operation: operation, Part: part}, r.driver.now()
		if r.options.Began != nil {
			r.options.Began(r.phase)
		}
	}
}

// ended tells of the end of the phase that goes on.
func (r *rebuild) ended() {
	if r.phase.Part != "" && r.options.Ended != nil {
		r.options.Ended(r.phase, r.driver.now().Sub(r.since))
	}
	r.phase = RebuildPhase{}
}

// endRebuild takes the record of a rebuild out of core's outputs, if there is one.
func (d *Driver) endRebuild(ctx context.Context, c *config.Cluster) error {
	return d.writeRebuild(ctx, c, "")
}

// writeRebuild gives core's outputs a record of a rebuild, or takes it away.
func (d *Driver) writeRebuild(ctx context.Context, c *config.Cluster, record string) error {
	st, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	if err != nil || st == nil || st.Rebuild() == record {
		return err
	}
	edited, err := backend.WithRebuild(st.Raw, record)
	if err != nil {
		return fmt.Errorf("rebuild %s: write down how far it has come: %w", c.Name, err)
	}
	if record == "" && c.Rebuild == "" {
		d.opts.Observer.Note(stacks.Name(c.Name, stacks.Core), "the rebuild that was not finished has ended: the cluster is as its file says")
	}
	s, err := d.open(ctx, c, stacks.Core, catalog.Options{}, true)
	if err != nil {
		return err
	}
	return s.importState(ctx, "write down how far the rebuild has come in", st, edited)
}
