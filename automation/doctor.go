package automation

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"time"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/handover"
	"tombolo/automation/preflight"
	"tombolo/automation/pulumicli"
	"tombolo/automation/reach"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
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
	return preflight.Doctor{Machine: h, Backend: h, Surroundings: h, Accounts: &d.asked}
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
