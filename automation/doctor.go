package automation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/handover"
	"tombolo/automation/health"
	"tombolo/automation/own"
	"tombolo/automation/preflight"
	"tombolo/automation/pulumicli"
	"tombolo/automation/reach"
	"tombolo/config"
	"tombolo/config/strict"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
	"tombolo/stacks/core/live"
)

// Doctor looks for everything that would keep an up of the clusters from
// succeeding, before one starts: see preflight.Doctor.
func (d *Driver) Doctor(ctx context.Context, clusters []*config.Cluster) ([]preflight.Report, error) {
	return d.doctor().Examine(ctx, clusters)
}

// Ready looks for what would keep a run of ups on several clusters from
// succeeding, so that none starts when one could not. The error is strict.Problems when
// a cluster's file asks for what its live cluster can never become.
func (d *Driver) Ready(ctx context.Context, clusters []*config.Cluster) ([]preflight.Report, error) {
	if err := d.refuseImpossible(ctx, clusters); err != nil {
		return nil, err
	}
	return d.doctor().Ready(ctx, clusters)
}

func (d *Driver) doctor() preflight.Doctor {
	h := host{d}
	return preflight.Doctor{Machine: h, Backend: h, Surroundings: h, Root: h.driver.opts.Root, Accounts: &d.asked}
}

// host answers what rooms ask of the driver: preflight here, drift in drift.go.
type host struct{ driver *Driver }

func (h host) Env(key string) string { return h.driver.opts.lookupEnv(key) }

func (h host) Has(program string) bool {
	_, err := pulumicli.LookPath(program, h.Env("PATH"))
	return err == nil
}

func (h host) CLI(ctx context.Context) error {
	_, err := h.driver.pulumi.Program(ctx)
	return err
}

func (h host) Home() string {
	home, err := pulumicli.Home(h.driver.opts.PulumiHome)
	if err != nil {
		return ""
	}
	return home
}

// runTimeout bounds a program that only says its version.
const runTimeout = 30 * time.Second

func (h host) Run(ctx context.Context, program string, args ...string) (string, error) {
	path, err := pulumicli.LookPath(program, h.Env("PATH"))
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), pulumicli.Environ(h.driver.env)...)
	out, err := cmd.Output()
	return string(out), err
}

func (h host) ListStacks(ctx context.Context) error {
	_, err := h.driver.pulumi.Stacks(ctx)
	return err
}

func (h host) Dir() (string, bool) { return h.driver.backend.Directory() }

func (h host) Scarce() string {
	if scarce := new(fault.Error); errors.As(h.driver.backend.RequireSpace(), &scarce) {
		return scarce.What
	}
	return ""
}

func (h host) Holders(stack string) ([]string, error) {
	owners, err := h.driver.backend.Owners(stack)
	names := make([]string, len(owners))
	for i, o := range owners {
		names[i] = o.Locked()
	}
	return names, err
}

func (h host) Core(ctx context.Context, c *config.Cluster) preflight.Core {
	st, _ := h.driver.backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	return coreOf(st)
}

func coreOf(st *backend.State) preflight.Core {
	core := preflight.Core{Resources: map[string]int{}, HandsOff: len(st.Outputs()) > 0}
	for _, r := range st.All() {
		if backend.Managed(r) {
			core.Resources[string(r.Type)]++
		}
	}
	return core
}

func (h host) Cloud(c *config.Cluster) preflight.Cloud { return h.driver.deps.cloud(c) }

func (h host) Repository(ctx context.Context, c *config.Cluster) error {
	credentials, err := handover.CredentialsOf(ctx, h.driver.connector(), c)
	if err != nil {
		return err
	}
	return h.driver.deps.reachGit(ctx, handover.Repository{
		URL: c.GitOps.URL, Branch: c.GitOps.Branch, Env: h.driver.opts.Env, Credentials: credentials,
	})
}

func (h host) Needs(ctx context.Context, c *config.Cluster) error {
	return h.driver.deps.preflight(ctx, c, catalog.Options{Env: h.driver.opts.Env})
}

func (h host) Reach(ctx context.Context, c *config.Cluster) (reach.Judgement, error) {
	if h.driver.assumesReach {
		return reach.Judgement{Verdict: reach.Reachable, Silent: true}, nil
	}
	st, _ := h.driver.backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	return h.driver.reach().Judge(ctx, c, st)
}

func (h host) API(ctx context.Context, c *config.Cluster) (silence, err error) {
	p, err := h.driver.connector().Probe(ctx, c)
	return p.Silence, err
}

func (h host) HubOf(c *config.Cluster) (*config.Cluster, error) { return h.driver.deps.loadHub(c) }

// Hub says why a hub that others run does not let the cluster register.
func (h host) Hub(ctx context.Context, c *config.Cluster) error {
	return h.driver.hubs().CheckExternal(ctx, c)
}

// The functions below find out what an operation needs to know before it begins. They change nothing of the cluster.

// prepare finds out before anything starts what will be missing: the CLI, and
// what the programs need besides the cluster file.
func (d *Driver) prepare(ctx context.Context, c *config.Cluster) error {
	if _, err := d.pulumi.Program(ctx); err != nil {
		return err
	}
	if err := d.deps.preflight(ctx, c, catalog.Options{Env: d.opts.Env}); err != nil {
		return &fault.Error{
			What:   fmt.Sprintf("up %s: %s", c.Name, strings.ReplaceAll(err.Error(), "\n", "; ")),
			Remedy: "nothing was started: make it available and run the command again", Err: err,
		}
	}
	return d.requireValues(ctx, c)
}

// requireValues refuses an up of a cluster whose file takes values from stacks that do
// not have them, or have them as secrets: core takes a quarter of an hour in a cloud, and
// bootstrap would then refuse them.
func (d *Driver) requireValues(ctx context.Context, c *config.Cluster) error {
	if len(c.References()) == 0 {
		return nil
	}
	outputs, err := d.connector().ReadValues(ctx, c)
	if err != nil {
		return err
	}
	first, err := d.own().Of(c)
	if err != nil {
		return err
	}
	for _, o := range own.In(first, config.BeforeCore, config.AfterCore) { // they put it out before bootstrap begins
		outputs[o.Whole(c.Name)] = nil
	}
	err = d.opts.Programs.CheckValues(ctx, c, outputs, d.opts.Env)
	if problems := (strict.Problems)(nil); errors.As(err, &problems) {
		return &fault.Error{
			What:   fmt.Sprintf("up %s: read the values of other stacks and sources: %s", c.Name, strings.ReplaceAll(err.Error(), "\n", "; ")),
			Remedy: "nothing was started: correct it and run the command again", Err: err,
		}
	}
	return err
}

// mend makes room for the states of stacks, and puts those together that were cut short.
func (d *Driver) mend(ctx context.Context, names []string) error {
	return errors.Join(d.backend.RequireSpace(), d.backend.Mend(ctx, names...))
}

// snapshot is what the states tell of a cluster.
type snapshot struct {
	// core and bootstrap are the states; nil of a stack that does not exist.
	core, bootstrap *backend.State
	// changes are the keys in which the cluster file differs from what the live cluster was made from, each
	// with its effect. There are none when no cluster lives.
	changes config.Changes
}

// takeSnapshot reads what is deployed. The error is strict.Problems when a change is refused.
func (d *Driver) takeSnapshot(ctx context.Context, c *config.Cluster) (snapshot, error) {
	var found snapshot
	var err error
	if found.core, err = d.backend.State(ctx, stacks.Name(c.Name, stacks.Core)); err != nil {
		return found, err
	}
	if found.bootstrap, err = d.backend.State(ctx, stacks.Name(c.Name, stacks.Bootstrap)); err != nil {
		return found, err
	}
	found.changes = config.Compare(d.liveIn(found.core, c), c)
	return found, found.changes.Problems(c).Err()
}

// noteGitIdentity says what becomes of an identity by which the engine reads Git, and which the file no longer
// asks for: core has no use for it before bootstrap has given the engine something in its place.
func (d *Driver) noteGitIdentity(c *config.Cluster, core *backend.State) {
	if id, _ := core.Outputs()["gitClientId"].(string); id == "" || c.GitOps.ByIdentity() {
		return
	}
	engine := health.EngineName(c)
	d.opts.Observer.Note(c.Name, fmt.Sprintf("core deletes the identity %s, by which %s reads Git, and bootstrap then gives %s the credentials of gitops.auth: "+
		"see with `tombolo doctor %s` that these read the repository. Azure DevOps would have to let another identity in to go back",
		config.GitIdentityName(c.Name), engine, engine, c.Name))
}

// FileChanges are the keys in which the file differs from what the live cluster was made
// from, each with its effect. There are none when no cluster lives.
func (d *Driver) FileChanges(ctx context.Context, c *config.Cluster) (config.Changes, error) {
	found, err := d.live(ctx, c)
	return config.Compare(found, c), err
}

// live is what the live cluster was made from, as the state of its core tells; nil when no
// cluster lives.
func (d *Driver) live(ctx context.Context, c *config.Cluster) (*config.Live, error) {
	st, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	if err != nil {
		return nil, err
	}
	return d.liveIn(st, c), nil
}

// liveIn is live by a state of the core that was read already.
func (d *Driver) liveIn(st *backend.State, c *config.Cluster) *config.Live {
	var all live.Resources
	for _, r := range st.All() {
		if !r.Delete { // else it was replaced, and only its deletion failed
			all = append(all, live.New(string(r.URN), string(r.Type), r.Outputs))
		}
	}
	return d.opts.Programs.Live(c, all)
}

// refuseImpossible reports what is refused of all clusters together. A state that cannot be read
// is left to the cluster's own up, which mends one that is cut short.
func (d *Driver) refuseImpossible(ctx context.Context, clusters []*config.Cluster) error {
	var all strict.Problems
	for _, c := range clusters {
		changes, err := d.FileChanges(ctx, c)
		if err != nil {
			continue
		}
		all = append(all, changes.Problems(c)...)
	}
	return all.InOrder().Err()
}
