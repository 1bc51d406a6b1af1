package automation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/handover"
	"tombolo/automation/preflight"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/stacks"
)

// Doctor looks for everything that would keep an up of the clusters from
// succeeding, before one starts. It changes nothing in the cloud, in a cluster or
// in a state, and finds all it can: one report for each cluster, in their order.
// What is judged together, such as a quota that several clusters count against,
// is judged for all of the clusters given.
//
// The error is only of an interruption: what is wrong is a finding.
func (d *Driver) Doctor(ctx context.Context, clusters []*config.Cluster) ([]preflight.Report, error) {
	shared := append(d.checkTools(ctx), d.checkBackend(ctx)...)
	return d.examineAll(ctx, clusters, func(x patient) []preflight.Finding {
		return append(slices.Clone(shared), d.examine(ctx, x)...)
	})
}

// Ready looks for what would keep a run of ups on several clusters from
// succeeding, so that none starts when one could not: what their files need, and,
// of those that are still to be made, credentials, account, region and quotas. It
// is the part of Doctor that is quick for clusters that exist. A report has what
// fails alone.
func (d *Driver) Ready(ctx context.Context, clusters []*config.Cluster) ([]preflight.Report, error) {
	reports, err := d.examineAll(ctx, clusters, func(x patient) []preflight.Finding {
		var found []preflight.Finding
		if x.core.Resources() == 0 {
			found = d.checkCloud(ctx, x.cluster, x.core, x.all)
		}
		return append(found, d.checkNeeds(ctx, x.cluster))
	})
	for i, r := range reports {
		reports[i].Findings = r.Failed()
	}
	return reports, err
}

// patient is a cluster that is examined.
type patient struct {
	cluster *config.Cluster
	// core is its state; nil when there is none, or it cannot be read.
	core *backend.State
	// all is the demand of the clusters that are judged together.
	all preflight.Demand
}

// examineAll examines clusters at the same time, and reports in their order.
func (d *Driver) examineAll(ctx context.Context, clusters []*config.Cluster, examine func(patient) []preflight.Finding) ([]preflight.Report, error) {
	states := make([]*backend.State, len(clusters))
	all := map[account]preflight.Demand{}
	for i, c := range clusters {
		// A state that cannot be read is a finding of the backend's.
		states[i], _ = d.backend.State(ctx, stacks.Name(c.Name, stacks.Core))
		all[accountOf(c)] = all[accountOf(c)].Plus(demand(c, states[i]))
	}
	reports := make([]preflight.Report, len(clusters))
	var work sync.WaitGroup
	for i, c := range clusters {
		work.Go(func() {
			reports[i] = preflight.Report{Cluster: c.Name, Findings: examine(patient{c, states[i], all[accountOf(c)]})}
		})
	}
	work.Wait()
	if err := ctx.Err(); err != nil {
		return reports, fmt.Errorf("examine the clusters: interrupted: %w", err)
	}
	return reports, nil
}

// examine is what concerns one cluster.
func (d *Driver) examine(ctx context.Context, x patient) []preflight.Finding {
	found := d.checkCloud(ctx, x.cluster, x.core, x.all)
	found = append(found, d.checkLocks(x.cluster)...)
	found = append(found, d.checkGit(ctx, x.cluster)...)
	found = append(found, d.checkNeeds(ctx, x.cluster))
	return append(found, d.checkAccess(ctx, x.cluster, x.core)...)
}

// checkCloud judges the credentials and what they lead to. all is the demand of
// the clusters that are judged together.
func (d *Driver) checkCloud(ctx context.Context, c *config.Cluster, core *backend.State, all preflight.Demand) []preflight.Finding {
	credentials := preflight.Source{Lookup: d.opts.lookupEnv, Profile: c.Cloud.Profile, Now: d.now()}.Credentials()
	if credentials.Level == preflight.Fail {
		return []preflight.Finding{credentials}
	}
	if _, err := d.pulumi.Program(ctx); err != nil {
		return []preflight.Finding{credentials, withoutCLI("account")}
	}
	return append([]preflight.Finding{credentials}, preflight.Cloud(d.facts(ctx, c), preflight.Wanted{
		Account: c.Cloud.Account, Region: c.Cloud.Region, Demand: demand(c, core), All: all,
	})...)
}

// readiness is a look at the account of a cluster that is to be made, which goes
// on while the stack is opened and previewed.
type readiness struct {
	cluster *config.Cluster
	work    sync.WaitGroup
	report  preflight.Report
}

// beforeMaking begins to look. A cluster that has a core was let in before: it is
// not looked at again.
func (d *Driver) beforeMaking(ctx context.Context, c *config.Cluster, k stacks.Kind, st *backend.State) *readiness {
	r := &readiness{cluster: c}
	if k == stacks.Core && st.Resources() == 0 {
		r.work.Go(func() { r.report.Findings = d.checkCloud(ctx, c, st, demand(c, st)) })
	}
	return r
}

// wait for the end of the look, which is bounded. The error is that of an up.
func (r *readiness) wait(ctx context.Context) error {
	r.work.Wait()
	if err := ctx.Err(); err != nil {
		return pulumicli.Interrupted(pulumicli.Failed{Stack: stacks.Name(r.cluster.Name, stacks.Core), Operation: "up"}, err)
	}
	found := r.report.Failed()
	if len(found) == 0 {
		return nil
	}
	reasons := make([]string, len(found))
	for i, f := range found {
		reasons[i] = fmt.Sprintf("%s: %s (%s)", f.Check, f.Message, f.Remedy)
	}
	return &fault.Precondition{
		What:   fmt.Sprintf("up %s: %s", r.cluster.Name, strings.Join(reasons, "; ")),
		Remedy: "nothing was started; `tombolo doctor " + r.cluster.Name + "` looks again",
	}
}

// demand is what the cluster will take of its account's quotas: what its core
// does not have yet.
func demand(c *config.Cluster, core *backend.State) preflight.Demand {
	have := map[string]int{}
	if core != nil {
		for _, r := range core.Deployment.Resources {
			have[string(r.Type)]++
		}
	}
	out := preflight.Demand{preflight.Clusters: max(0, 1-have[clusterType])}
	if c.Network.Existing != nil {
		return out
	}
	gateways := map[config.NAT]int{config.NATSingle: 1, config.NATPerZone: len(c.Network.Zones)}[c.Network.NAT]
	out[preflight.VPCs] = max(0, 1-have["aws:ec2/vpc:Vpc"])
	out[preflight.Addresses] = max(0, gateways-have["aws:ec2/eip:Eip"])
	return out
}

// checkBackend finds out whether the state can be read, and a lock be taken.
func (d *Driver) checkBackend(ctx context.Context) []preflight.Finding {
	const check = "state backend"
	if _, err := d.pulumi.Program(ctx); err != nil {
		return []preflight.Finding{withoutCLI(check)}
	}
	ws, err := d.pulumi.Reading(ctx)
	if err == nil {
		_, err = ws.ListStacks(ctx)
	}
	if err != nil {
		cause := d.pulumi.Failure(ctx, pulumicli.Failed{Stack: "the stacks", Operation: "list", Err: err})
		return []preflight.Finding{preflight.Bad(check, preflight.Fail, "log in with `pulumi login`, or set PULUMI_BACKEND_URL", "%v", cause)}
	}
	dir, local := d.backend.Directory()
	if !local {
		return []preflight.Finding{preflight.Good(check, "it answers; a lock is taken by the first operation")}
	}
	file, err := os.CreateTemp(dir, ".doctor-")
	if err == nil {
		err = errors.Join(file.Close(), os.Remove(file.Name()))
	}
	if err != nil {
		return []preflight.Finding{preflight.Bad(check, preflight.Fail, "make it writable, or free space on its disk", "no lock can be written: %v", err)}
	}
	if scarce := new(fault.Precondition); errors.As(d.backend.RequireSpace(), &scarce) {
		return []preflight.Finding{preflight.Bad(check, preflight.Fail, "free space on it", "%s", scarce.What)}
	}
	return []preflight.Finding{preflight.Good(check, "it can be read and written")}
}

// withoutCLI is the finding of a check that the Pulumi CLI is missing for, which
// is a finding of its own.
func withoutCLI(check string) preflight.Finding {
	return preflight.Bad(check, preflight.Warn, "install the Pulumi CLI first", "not asked for without the Pulumi CLI")
}

// checkLocks names those who work on the cluster's stacks.
func (d *Driver) checkLocks(c *config.Cluster) []preflight.Finding {
	var found []preflight.Finding
	for _, k := range stacks.Kinds() {
		stack := stacks.Name(c.Name, k)
		owners, err := d.backend.Owners(stack)
		if err != nil {
			found = append(found, preflight.Bad("lock", preflight.Fail, "", "%v", err))
		}
		for _, o := range owners {
			found = append(found, preflight.Bad("lock", preflight.Warn, "wait for it to end; an up releases it when its owner is gone",
				"stack %s is locked by %s", stack, o))
		}
	}
	return found
}

// checkGit reads the repository's branches with the engine's credentials.
func (d *Driver) checkGit(ctx context.Context, c *config.Cluster) []preflight.Finding {
	const check = "Git repository"
	if c.IsSpoke() {
		return nil // its hub reads it
	}
	repository := handover.Repository{URL: c.GitOps.URL, Branch: c.GitOps.Branch, Env: d.opts.Env}
	var err error
	if repository.Credentials, err = d.gitCredentials(ctx, c); err == nil {
		err = d.reachGit(ctx, repository)
	}
	if refused := new(handover.Error); errors.As(err, &refused) {
		return []preflight.Finding{preflight.Bad(check, preflight.Fail, refused.Remedy, "%s", refused.What)}
	}
	if err != nil {
		return []preflight.Finding{preflight.Bad(check, preflight.Fail, "make gitops.auth available where tombolo runs", "%s", oneLine(err))}
	}
	return []preflight.Finding{preflight.Good(check, "%s has branch %s", c.GitOps.URL, c.GitOps.Branch)}
}

// checkNeeds is what an up checks of the engine's distribution and of secrets.
func (d *Driver) checkNeeds(ctx context.Context, c *config.Cluster) preflight.Finding {
	const check = "distribution"
	if err := d.preflight(ctx, c, stacks.Options{Env: d.opts.Env}); err != nil {
		return preflight.Bad(check, preflight.Fail, "make it available, or correct the cluster file", "%s", oneLine(err))
	}
	if c.IsSpoke() {
		return preflight.Good(check, "hub %s has the engine", c.Hub())
	}
	return preflight.Good(check, "that of %s is there, with its checksum", c.GitOps.Engine)
}

// checkAccess asks a cluster that exists whether it knows this identity.
func (d *Driver) checkAccess(ctx context.Context, c *config.Cluster, core *backend.State) []preflight.Finding {
	const check = "access"
	if len(core.Outputs()) == 0 {
		return nil
	}
	p, err := d.probe(ctx, c)
	switch precondition := new(fault.Precondition); {
	case errors.As(err, &precondition):
		return []preflight.Finding{preflight.Bad(check, preflight.Fail, precondition.Remedy, "%s", precondition.What)}
	case err != nil:
		return []preflight.Finding{preflight.Bad(check, preflight.Fail, "", "%s", oneLine(err))}
	case !p.answers():
		return []preflight.Finding{preflight.Bad(check, preflight.Fail, "check the network between here and the cluster",
			"the Kubernetes API of %s does not answer: %v", c.Name, p.silence)}
	}
	return []preflight.Finding{preflight.Good(check, "the Kubernetes API takes this identity")}
}

func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
