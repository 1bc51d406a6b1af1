package preflight

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"tombolo/automation/reach"
	"tombolo/config"
	"tombolo/stacks"
)

// Examine looks for everything that would keep an up of the clusters from
// succeeding, and finds all it can: one report for each cluster, in their order.
// What is judged together, such as a quota that several clusters count against,
// is judged for all of the clusters given.
//
// The error is only of an interruption: what is wrong is a finding.
func (d Doctor) Examine(ctx context.Context, clusters []*config.Cluster) ([]Report, error) {
	shared := append(d.checkTools(ctx, clusters), d.checkBackend(ctx)...)
	return d.each(ctx, clusters, func(x subject) []Finding {
		found := append(slices.Clone(shared), d.Account(ctx, x.cluster, x.core, x.all)...)
		found = append(found, d.checkLocks(x.cluster)...)
		git, needs := d.checkGit(ctx, x.cluster), d.checkNeeds(ctx, x.cluster)
		found = append(found, git...)
		// A token that is not there fails both.
		if !slices.ContainsFunc(git, func(f Finding) bool { return f.Message == needs.Message }) {
			found = append(found, needs)
		}
		found = append(found, d.checkReach(ctx, x.cluster, x.core)...)
		found = append(found, d.checkExternalHub(ctx, x.cluster)...)
		found = append(found, d.checkHub(ctx, x.cluster)...)
		return append(found, d.checkAccess(ctx, x.cluster, x.core)...)
	})
}

// Ready looks for what would keep a run of ups on several clusters from
// succeeding, so that none starts when one could not: what their files need, and,
// of those that are still to be made, credentials, account, region and quotas. It
// is the part of Examine that is quick for clusters that exist. A report has what
// fails alone.
func (d Doctor) Ready(ctx context.Context, clusters []*config.Cluster) ([]Report, error) {
	reports, err := d.each(ctx, clusters, func(x subject) []Finding {
		var found []Finding
		if len(x.core.Resources) == 0 || x.core.Awaits(x.cluster, d.Cloud(x.cluster).ClusterType()) {
			found = d.Account(ctx, x.cluster, x.core, x.all)
			found = append(found, d.checkReach(ctx, x.cluster, x.core)...)
		}
		return append(found, d.checkNeeds(ctx, x.cluster))
	})
	for i, r := range reports {
		reports[i].Findings = r.Of(Fail)
	}
	return reports, err
}

// subject is a cluster that is examined.
type subject struct {
	cluster *config.Cluster
	core    Core
	// all is the demand of the clusters that are judged together.
	all Demand
}

// each examines clusters at the same time, and reports in their order.
func (d Doctor) each(ctx context.Context, clusters []*config.Cluster, examine func(subject) []Finding) ([]Report, error) {
	cores := make([]Core, len(clusters))
	all := map[account]Demand{}
	for i, c := range clusters {
		cores[i] = d.Core(ctx, c)
		all[accountOf(c)] = all[accountOf(c)].Plus(d.Cloud(c).Demand(c, cores[i]))
	}
	reports := make([]Report, len(clusters))
	var work sync.WaitGroup
	for i, c := range clusters {
		work.Go(func() {
			reports[i] = Report{Cluster: c.Name, Findings: examine(subject{c, cores[i], all[accountOf(c)]})}
		})
	}
	work.Wait()
	if err := ctx.Err(); err != nil {
		return reports, fmt.Errorf("examine the clusters: interrupted: %w", err)
	}
	return reports, nil
}

// Account judges the credentials and what they lead to. all is the demand of the
// clusters that are judged together.
func (d Doctor) Account(ctx context.Context, c *config.Cluster, core Core, all Demand) []Finding {
	cloud := d.Cloud(c)
	credentials := cloud.Credentials(c, d.Env, time.Now())
	if credentials.Level == Fail {
		return []Finding{credentials}
	}
	if d.CLI(ctx) != nil {
		return []Finding{credentials, withoutCLI("account")}
	}
	facts := d.Accounts.Facts(c, cloud.Named(c), func() Facts { return cloud.Facts(ctx, c) })
	return append([]Finding{credentials}, d.placed(c, cloud.Judge(facts, Wanted{
		Cluster: c, Account: c.Cloud.Account, Region: c.Cloud.Region, Tenant: c.Cloud.Tenant, Version: c.Kubernetes.Version,
		Extended: c.Kubernetes.Support == config.ExtendedSupport,
		New:      core.Awaits(c, cloud.ClusterType()) || c.Rebuild != "", Demand: cloud.Demand(c, core), All: all,
	}))...)
}

// placed has the messages about keys of the cluster file begin with their places in it.
func (d Doctor) placed(c *config.Cluster, found []Finding) []Finding {
	if !slices.ContainsFunc(found, func(f Finding) bool { return f.Key != "" }) {
		return found
	}
	place := c.Places()
	for i, f := range found {
		if f.Key != "" {
			problem := place(f.Key, f.Message, "")
			if rel, err := filepath.Rel(d.Root, problem.File); err == nil && filepath.IsLocal(rel) {
				problem.File = rel
			}
			found[i].Message = problem.String()
		}
	}
	return found
}

// checkBackend finds out whether the state can be read, and a lock be taken.
func (d Doctor) checkBackend(ctx context.Context) []Finding {
	const check = "state backend"
	if d.CLI(ctx) != nil {
		return []Finding{withoutCLI(check)}
	}
	if err := d.ListStacks(ctx); err != nil {
		return []Finding{because(err, check, "log in with `pulumi login`, or set PULUMI_BACKEND_URL")}
	}
	dir, local := d.Dir()
	if !local {
		return []Finding{Good(check, "it answers; a lock is taken by the first operation")}
	}
	file, err := os.CreateTemp(dir, ".doctor-")
	if err == nil {
		err = errors.Join(file.Close(), os.Remove(file.Name()))
	}
	if err != nil {
		return []Finding{Bad(check, Fail, "make it writable, or free space on its disk", "no lock can be written: %v", err)}
	}
	if scarce := d.Scarce(); scarce != "" {
		return []Finding{Bad(check, Fail, "free space on it", "%s", scarce)}
	}
	return []Finding{Good(check, "it can be read and written")}
}

// checkLocks names those who work on the cluster's stacks.
func (d Doctor) checkLocks(c *config.Cluster) []Finding {
	var found []Finding
	for _, k := range stacks.Kinds() {
		stack := stacks.Name(c.Name, k)
		holders, err := d.Holders(stack)
		if err != nil {
			found = append(found, Bad("lock", Fail, "", "%v", err))
		}
		for _, h := range holders {
			found = append(found, Bad("lock", Warn, "wait for it to end; an up releases it when its owner is gone",
				"stack %s is %s", stack, h))
		}
	}
	return found
}

// checkGit reads the repository's branches with the engine's credentials.
func (d Doctor) checkGit(ctx context.Context, c *config.Cluster) []Finding {
	const check = "Git repository"
	if c.IsSpoke() {
		return nil // its hub reads it
	}
	if err := d.Repository(ctx, c); err != nil {
		found := because(err, check, "make gitops.auth available where tombolo runs")
		if c.GitOps.ByIdentity() { // which the engine's pods alone have
			found.Level, found.Remedy = Warn, "the engine reads it by an identity, and `tombolo verify` says whether it may; your own git, which doctor and push use, cannot read it from here"
		}
		return []Finding{found}
	}
	return []Finding{Good(check, "%s has branch %s", c.GitOps.URL, c.GitOps.Branch)}
}

// checkNeeds is what an up checks of the engine's distribution and of secrets.
func (d Doctor) checkNeeds(ctx context.Context, c *config.Cluster) Finding {
	const check = "distribution"
	if err := d.Needs(ctx, c); err != nil {
		return because(err, check, "make it available, or correct the cluster file")
	}
	if c.HasExternalHub() {
		return Good(check, "hub %s, which others run, has the engine; its token is there", c.Hub())
	}
	if c.IsSpoke() {
		return Good(check, "hub %s has the engine", c.Hub())
	}
	return Good(check, "that of %s is there, with its checksum", c.GitOps.Engine)
}

// Access is the name of the check that asks the Kubernetes API of a cluster that exists.
const Access = "access"

// checkReach judges whether this machine will reach the API of a cluster that is to be made;
// checkAccess asks one that exists.
func (d Doctor) checkReach(ctx context.Context, c *config.Cluster, core Core) []Finding {
	const check = "way to the API"
	if core.HandsOff {
		return nil
	}
	j, err := d.Reach(ctx, c)
	if err != nil {
		return []Finding{because(err, check, "")}
	}
	switch j.Verdict {
	case reach.Reachable:
		return []Finding{Good(check, "%s", j.Words(c.Name))}
	case reach.Unreachable:
		return []Finding{Bad(check, Fail, j.Remedy, "%s", j.Words(c.Name))}
	}
	return []Finding{Bad(check, Warn, j.Remedy, "%s", j.Words(c.Name))}
}

// checkExternalHub asks a hub that others run whether it lets the cluster register.
func (d Doctor) checkExternalHub(ctx context.Context, c *config.Cluster) []Finding {
	const check = "hub"
	if !c.HasExternalHub() {
		return nil
	}
	if err := d.Hub(ctx, c); err != nil {
		return []Finding{because(err, check, "check gitops.externalHub, and the rights of its token")}
	}
	return []Finding{Good(check, "hub %s may be asked for the registration of %s", c.Hub(), c.Name)}
}

// checkHub asks the hub of a spoke, if it exists, whether it knows this identity: bootstrap
// registers the spoke there, with the program and the credentials of the hub's cloud.
func (d Doctor) checkHub(ctx context.Context, c *config.Cluster) []Finding {
	const check = "hub"
	if !c.HasHubFile() {
		return nil
	}
	hub, err := d.HubOf(c)
	if err != nil {
		return []Finding{because(err, check, "correct the file of the hub")}
	}
	found := d.checkAccess(ctx, hub, d.Core(ctx, hub))
	for i := range found {
		found[i].Check = check
		if found[i].Level == OK {
			found[i].Message = "the Kubernetes API of " + hub.Name + " takes this identity"
		}
	}
	return found
}

// checkAccess asks a cluster that exists whether it knows this identity.
func (d Doctor) checkAccess(ctx context.Context, c *config.Cluster, core Core) []Finding {
	if !core.HandsOff {
		return nil
	}
	switch silence, err := d.API(ctx, c); {
	case err != nil:
		return []Finding{because(err, Access, "")}
	case silence != nil:
		remedy := "check the network between here and the cluster"
		if j, err := d.Reach(ctx, c); err == nil && j.Verdict == reach.Unreachable {
			return []Finding{Bad(Access, Fail, j.Remedy, "%s", j.Words(c.Name))}
		}
		return []Finding{Bad(Access, Fail, remedy, "the Kubernetes API of %s does not answer: %v", c.Name, silence)}
	}
	return []Finding{Good(Access, "the Kubernetes API takes this identity")}
}
