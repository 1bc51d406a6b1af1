package automation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/argocd"
	"tombolo/automation/backend"
	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/internal/wording"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// drainingOutput is an output of a bootstrap stack whose cluster is being
// emptied. The next up finds it where it looks anyway, and writes it no more.
const drainingOutput = "tomboloDraining"

// drain empties the cluster before bootstrap is destroyed, while the controllers
// live that give back what they have in the cloud. A cluster that does not
// answer is left as it is, unless it is given up. applications are those of its Argo CD
// that were there before.
func (d *Driver) drain(ctx context.Context, c *config.Cluster, o DestroyOptions, env map[string]string, applications []string) error {
	st, err := d.recovery(c).Recover(ctx, c, stacks.Bootstrap, env)
	if err != nil || st.Resources() == 0 {
		return err
	}
	own, err := d.probe(ctx, c)
	switch {
	case err != nil:
		return err
	case own.gone, !own.answers() && o.Unreachable:
		return nil // the search for leftovers tells what it had
	case !own.answers():
		return unreachable(c, own)
	}
	k := teardown.Cluster{Cluster: own.cluster}
	options := d.drainOptions(c, o)
	if options.Ours, err = d.oursOf(ctx, c, st); err != nil {
		return err
	}
	if options.Ours != nil {
		options.Ours.Applications = applications
	}
	if c.GitOps.Engine != config.ArgoCD { // its Applications were deleted before
		if err := d.suspendFlux(ctx, c, k, st, options.Ours); err != nil {
			return err
		}
	}
	if err := k.Drain(ctx, options); err != nil {
		return notDrained(ctx, c, err)
	}
	return k.Release(ctx)
}

func (d *Driver) drainOptions(c *config.Cluster, o DestroyOptions) teardown.Options {
	return teardown.Options{
		Timeout: o.DrainTimeout,
		TakeOff: o.Leftovers == teardown.DeleteLeftovers,
		Waiting: func(what string) { d.opts.Observer.Waiting(c.Name, what) },
		Note:    d.noter(stacks.Name(c.Name, stacks.Bootstrap)),
	}
}

// applications are those of the Argo CD of a cluster that others own, as its marks on objects
// name them: those outside of its namespace with theirs. Another Argo CD may manage the
// cluster, too, with the same marks. Source: AppInstanceName in
// https://github.com/argoproj/argo-cd/blob/v3.2.0/util/argo/argo.go
func (d *Driver) applications(ctx context.Context, c *config.Cluster) ([]string, error) {
	if !c.IsExisting() || !c.IsHub() {
		return nil, nil
	}
	own, err := d.probe(ctx, c)
	if err != nil || !own.answers() {
		return nil, err
	}
	all, err := argocd.Hub{Client: own.cluster.Client}.Applications(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(all))
	for i, a := range all {
		if out[i] = a.GetName(); a.GetNamespace() != argocd.Namespace {
			out[i] = a.GetNamespace() + "_" + a.GetName()
		}
	}
	return out, nil
}

// oursOf is what a destruction may delete on a cluster that others own; nil for a cluster
// of our own, where that is everything. The state of core tells which of them it is, too: the
// file may have changed.
func (d *Driver) oursOf(ctx context.Context, c *config.Cluster, st *backend.State) (*teardown.Ours, error) {
	found, err := d.live(ctx, c)
	if err != nil || !c.IsExisting() && (found == nil || !found.Cluster.IsExisting()) {
		return nil, err
	}
	ours := &teardown.Ours{}
	if !c.IsSpoke() {
		ours.Engine = c.GitOps.Engine
	}
	for _, r := range st.All() {
		if r.Type == "kubernetes:core/v1:Namespace" && !r.External {
			ours.Namespaces = append(ours.Namespaces, string(r.ID))
		}
	}
	// Bootstrap makes the engine's namespace where it installs the engine.
	ours.TakenOver = ours.Engine != "" && !slices.Contains(ours.Namespaces, c.EngineNamespace())
	if ours.TakenOver {
		d.opts.Observer.Note(stacks.Name(c.Name, stacks.Bootstrap),
			fmt.Sprintf("the engine in the namespace %s was there before, and stays", c.EngineNamespace()))
	}
	return ours, nil
}

// suspendFlux keeps Flux from making things again. That is written down first,
// so that an up that comes instead of the rest of the destruction resumes it.
func (d *Driver) suspendFlux(ctx context.Context, c *config.Cluster, k teardown.Cluster, st *backend.State, ours *teardown.Ours) error {
	if !draining(st) {
		if err := d.markDraining(ctx, c, st); err != nil {
			return err
		}
	}
	if err := k.Suspend(ctx, ours, d.noter(stacks.Name(c.Name, stacks.Bootstrap))); err != nil {
		return fmt.Errorf("destroy %s: %w", c.Name, err)
	}
	return nil
}

// draining says that the cluster is being emptied.
func draining(s *backend.State) bool {
	is, _ := s.Outputs()[drainingOutput].(bool)
	return is
}

func (d *Driver) markDraining(ctx context.Context, c *config.Cluster, st *backend.State) error {
	edited, err := marked(st.Raw)
	if err != nil {
		return fmt.Errorf("destroy %s: write down that it is being emptied: %w", c.Name, err)
	}
	s, err := d.open(ctx, c, stacks.Bootstrap, catalog.Options{}, true)
	if err != nil {
		return err
	}
	return s.importState(ctx, "write down that the cluster is being emptied in", st, edited)
}

// marked is the state with the output that says so.
func marked(raw apitype.UntypedDeployment) (apitype.UntypedDeployment, error) {
	return backend.WithOutput(raw, func(outputs map[string]json.RawMessage) { outputs[drainingOutput] = json.RawMessage("true") })
}

// resume undoes what a destruction that was not ended has suspended.
func (d *Driver) resume(ctx context.Context, c *config.Cluster, st *backend.State) error {
	if !draining(st) {
		return nil
	}
	own, _, err := d.reach(ctx, c)
	if err != nil {
		return err
	}
	n, err := teardown.Cluster{Cluster: own}.Resume(ctx)
	if err != nil {
		return fmt.Errorf("up %s: resume what a destruction has suspended: %w", c.Name, err)
	}
	if n > 0 {
		d.opts.Observer.Note(stacks.Name(c.Name, stacks.Bootstrap),
			fmt.Sprintf("recovered: Flux goes on, %s no longer suspended", wording.Plural(n, "object is", "objects are")))
	}
	return nil
}

// notDrained puts the error of a drain into its class.
func notDrained(ctx context.Context, c *config.Cluster, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("destroy %s: interrupted while controllers give back what they have in the cloud; "+
			"run the same command again to go on from there, or tombolo up to keep the cluster: %w", c.Name, ctx.Err())
	}
	return bothKept(c, err.Error(), teardown.RemedyFor(err), err)
}
