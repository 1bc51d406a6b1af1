package destroy

import (
	"context"
	"fmt"
	"slices"

	"tombolo/automation/argocd"
	"tombolo/automation/backend"
	"tombolo/automation/hubs"
	"tombolo/automation/kube"
	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/internal/wording"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// drain empties the cluster before bootstrap is destroyed, while the controllers
// live that give back what they have in the cloud. A cluster that does not
// answer is left as it is, unless it is given up. applications are those of its Argo CD
// that were there before.
func (d Destroyer) drain(ctx context.Context, c *config.Cluster, o Options, env map[string]string, applications []string) error {
	st, err := d.Runner.Recovery(c).Recover(ctx, c, stacks.Bootstrap, env)
	if err != nil || st.Resources() == 0 {
		return err
	}
	own, err := d.Connector.Probe(ctx, c)
	switch {
	case err != nil:
		return err
	case own.Gone, !own.Answers() && o.Unreachable:
		return nil // the search for leftovers tells what it had
	case !own.Answers():
		return hubs.Unreachable(c, own)
	}
	k := teardown.Cluster{Cluster: own.Cluster}
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

func (d Destroyer) drainOptions(c *config.Cluster, o Options) teardown.Options {
	return teardown.Options{
		Timeout: o.DrainTimeout,
		TakeOff: o.Leftovers == teardown.DeleteLeftovers,
		Waiting: func(what string) { d.Runner.Observer.Waiting(c.Name, what) },
		Note:    d.note(c),
	}
}

// note says what people should know of the cluster's bootstrap.
func (d Destroyer) note(c *config.Cluster) func(string) {
	return func(message string) { d.Runner.Note(stacks.Name(c.Name, stacks.Bootstrap), message) }
}

// applications are those of the Argo CD of a cluster that others own, as its marks on objects
// name them: those outside of its namespace with theirs. Another Argo CD may manage the
// cluster, too, with the same marks. Source: AppInstanceName in
// https://github.com/argoproj/argo-cd/blob/v3.2.0/util/argo/argo.go
func (d Destroyer) applications(ctx context.Context, c *config.Cluster) ([]string, error) {
	if !c.IsExisting() || !c.IsHub() {
		return nil, nil
	}
	own, err := d.Connector.Probe(ctx, c)
	if err != nil || !own.Answers() {
		return nil, err
	}
	return applicationsOn(ctx, own.Cluster)
}

func applicationsOn(ctx context.Context, k kube.Cluster) ([]string, error) {
	all, err := argocd.Hub{Client: k.Client}.Applications(ctx)
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
func (d Destroyer) oursOf(ctx context.Context, c *config.Cluster, st *backend.State) (*teardown.Ours, error) {
	found, err := d.Live(ctx, c)
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
		d.Runner.Observer.Note(stacks.Name(c.Name, stacks.Bootstrap),
			fmt.Sprintf("the engine in the namespace %s was there before, and stays", c.EngineNamespace()))
	}
	return ours, nil
}

// suspendFlux keeps Flux from making things again. That is written down first,
// so that an up that comes instead of the rest of the destruction resumes it.
func (d Destroyer) suspendFlux(ctx context.Context, c *config.Cluster, k teardown.Cluster, st *backend.State, ours *teardown.Ours) error {
	if !st.Draining() {
		if err := d.markDraining(ctx, c, st); err != nil {
			return err
		}
	}
	if err := k.Suspend(ctx, ours, d.note(c)); err != nil {
		return fmt.Errorf("destroy %s: %w", c.Name, err)
	}
	return nil
}

func (d Destroyer) markDraining(ctx context.Context, c *config.Cluster, st *backend.State) error {
	edited, err := backend.WithDraining(st.Raw)
	if err != nil {
		return fmt.Errorf("destroy %s: write down that it is being emptied: %w", c.Name, err)
	}
	s, err := d.Runner.Open(ctx, c, stacks.Bootstrap, catalog.Options{}, true)
	if err != nil {
		return err
	}
	return s.Import(ctx, "write down that the cluster is being emptied in", st, edited)
}

// Resume undoes what a destruction that was not ended has suspended.
func (d Destroyer) Resume(ctx context.Context, c *config.Cluster, st *backend.State) error {
	if !st.Draining() {
		return nil
	}
	own, _, err := d.Connector.Connect(ctx, c)
	if err != nil {
		return err
	}
	n, err := teardown.Cluster{Cluster: own}.Resume(ctx)
	if err != nil {
		return fmt.Errorf("up %s: resume what a destruction has suspended: %w", c.Name, err)
	}
	if n > 0 {
		d.Runner.Observer.Note(stacks.Name(c.Name, stacks.Bootstrap),
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
	return teardown.BothKept(c.Name, err.Error(), teardown.RemedyFor(err), err)
}
