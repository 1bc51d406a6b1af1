package rebuild

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/destroy"
	"tombolo/automation/fault"
	"tombolo/automation/hubs"
	"tombolo/automation/preflight"
	"tombolo/automation/reach"
	"tombolo/automation/upgrade"
	"tombolo/config"
	"tombolo/internal/wording"
	"tombolo/stacks"
)

// Plan finds out what a rebuild would do, and changes nothing. It refuses what would
// keep the cluster from being destroyed, and what would keep the new one from being made:
// strict.Problems when the cluster file says so, and a fault.Error for all else.
func (d Rebuilder) Plan(ctx context.Context, c *config.Cluster, o Options) (Plan, error) {
	p := Plan{Cluster: c.Name}
	if c.IsExisting() {
		return p, &fault.Error{
			What: fmt.Sprintf("rebuild %s: it is the existing cluster %s, which others make and destroy", c.Name, c.NameInCloud()),
			Remedy: fmt.Sprintf("have its owner make it anew: `tombolo destroy %s` before that takes away what Tombolo made on it, "+
				"and `tombolo up %[1]s` after that makes it again", c.Name),
		}
	}
	if err := d.Backend.RequireSpace(); err != nil {
		return p, err
	}
	if err := d.Backend.Mend(ctx, stacks.Names(c.Name)...); err != nil {
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
	if err := destroy.RefuseProtected(c, destroy.Options{Confirmed: o.Confirmed}); err != nil {
		return p, err
	}
	if err := d.refuseTakenName(ctx, &p); err != nil {
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
func (d Rebuilder) resumed(ctx context.Context, c *config.Cluster, o Options, p *Plan) error {
	st, err := d.Backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	if err != nil {
		return err
	}
	p.Record = Record{Began: d.Now().UTC().Truncate(time.Second), Version: o.Version, KeepData: o.KeepData}
	text := st.Rebuild()
	if text == "" {
		return nil
	}
	p.Resumes = true
	if err := json.Unmarshal([]byte(text), &p.Record); err != nil {
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
func next(c *config.Cluster, p *Plan, o Options) (*config.Cluster, error) {
	if o.Version == "" && (p.Version == "" || p.Version == c.Kubernetes.Version) {
		p.Version = c.Kubernetes.Version
		out := *c
		return &out, nil
	}
	return config.AtVersion(c.File, p.Version)
}

// compare compares the new cluster with the live one, and refuses what is not a rebuild of
// it, and a version that is not tested.
func (d Rebuilder) compare(ctx context.Context, c *config.Cluster, p *Plan, o Options) error {
	remains, err := d.Destroyer.Remains(ctx, c)
	if err != nil {
		return err
	}
	if remains.None() || len(remains.Resources) == 0 && !p.Resumes {
		return &fault.Error{What: c.Name + " is not deployed", Remedy: fmt.Sprintf("deploy it with `tombolo up %s`", c.Name)}
	}
	found, err := d.Live(ctx, c)
	if err != nil {
		return err
	}
	var elsewhere []string
	for _, change := range config.Compare(found, p.Next) {
		if slices.Contains(upgrade.Keys(), change.Path) {
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

// refuseTakenName refuses to destroy a key vault whose name the new cluster needs: Azure keeps the
// name of a deleted one for 90 days.
func (d Rebuilder) refuseTakenName(ctx context.Context, p *Plan) error {
	st, err := d.Backend.State(ctx, stacks.Name(p.Cluster, stacks.Core))
	if err != nil || p.KeepData {
		return err
	}
	had := slices.ContainsFunc(st.All(), func(r apitype.ResourceV3) bool { return vault.MatchString(string(r.Type)) })
	for a, needs := range p.Next.AddonNeeds() {
		if had && needs.Vault.IsMade() && !needs.Vault.Recover {
			return &fault.Error{
				What: fmt.Sprintf("rebuild %s: it would delete the key vault %s with its secrets, whose name Azure keeps for 90 days, and the new cluster needs it", p.Cluster, needs.Vault.Name),
				Remedy: fmt.Sprintf("nothing was changed: give --keep-data, which keeps the vault for the new cluster, or set addons.%s.recoverVault: true, "+
					"which brings it back and costs its time", a.Name),
			}
		}
	}
	return nil
}

// vault is the type of key vaults, of any version of the API.
var vault = regexp.MustCompile(`^azure-native:keyvault(/\w+)?:Vault$`)

func elsewhereError(c *config.Cluster, what string) error {
	return &fault.Error{
		What:   fmt.Sprintf("rebuild %s: the old cluster is destroyed by what the file says, and the live cluster has another %s", c.Name, what),
		Remedy: fmt.Sprintf("nothing was started: take the change back and run `tombolo destroy %s`, then change the file and run `tombolo up %[1]s`", c.Name),
	}
}

// saysWhere says that a destruction goes by a key: where the old cluster is, and which engine
// and hub it has to leave.
func saysWhere(path string) bool {
	keys := []string{"cloud.provider", "cloud.account", "cloud.region", "gitops.engine", "gitops.hub", "gitops.externalHub", "kubernetes.existing"}
	return slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(path+".", key+".") })
}

// refuseKept refuses what a destruction would refuse: a cluster or a hub that does not
// answer, and a hub that has spokes.
func (d Rebuilder) refuseKept(ctx context.Context, c *config.Cluster) error {
	st, err := d.Backend.State(ctx, stacks.Name(c.Name, stacks.Bootstrap))
	if err != nil || st.Resources() == 0 {
		return err
	}
	if hubs.TakesAway(st, c) {
		return elsewhereError(c, "engine or hub")
	}
	own, err := d.Connector.Probe(ctx, c)
	switch {
	case err != nil:
		return err
	case own.Gone:
		return nil
	case !own.Answers():
		return hubs.Unreachable(c, own)
	}
	registration, registered := hubs.RegistrationOf(st, c.Name)
	switch hub := hubs.Of(st, c); {
	case hub == c.Name:
		return d.Hubs.RefuseWithSpokes(ctx, c, own.Cluster)
	case hub == "" || registered && hubs.IsExternal(st, registration) || c.HasExternalHub():
		return nil // requireMaking asks it
	default:
		at, err := d.Connector.Probe(ctx, &config.Cluster{Name: hub})
		if err == nil && !at.Answers() {
			return hubs.SilentHub(c, hub, at)
		}
		return err
	}
}

// requireMaking refuses what would keep the new cluster from being made.
func (d Rebuilder) requireMaking(ctx context.Context, p Plan) error {
	if err := d.Prepare(ctx, p.Next); err != nil {
		return err
	}
	if err := d.Hubs.Require(ctx, p.Next); err != nil {
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
	// The cloud is asked as for a cluster that is not there yet.
	next := *p.Next
	next.Rebuild = p.encode()
	reports, err := d.Doctor(ctx, []*config.Cluster{&next})
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
func (d Rebuilder) requireNewReach(ctx context.Context, p Plan) error {
	if d.Reach.Assumed || !p.Resumes && !reach.ChangesEndpoint(p.Changes) {
		return nil
	}
	j, err := d.Reach.Judge(ctx, p.Next, nil)
	if err == nil && j.Verdict == reach.Unreachable {
		err = &fault.Error{What: fmt.Sprintf("rebuild %s: %s", p.Cluster, j.Words(p.Cluster)), Remedy: "nothing was changed: " + j.Remedy}
	}
	return err
}
