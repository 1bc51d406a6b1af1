package automation

import (
	"cmp"
	"context"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"tombolo/automation/argocd"
	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/kube"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// deleteUnreachable has the Kubernetes provider drop from the state what is on a
// cluster that it cannot reach, instead of failing. It does not affect clusters
// that it can reach.
const deleteUnreachable = "PULUMI_K8S_DELETE_UNREACHABLE"

// unregister has the cluster's hub forget it before bootstrap is destroyed. It
// returns what the destruction needs in its environment when something that
// bootstrap reaches is gone.
func (d *Driver) unregister(ctx context.Context, c *config.Cluster, o DestroyOptions) (map[string]string, error) {
	stack := stacks.Name(c.Name, stacks.Bootstrap)
	st, err := d.backend.State(ctx, stack)
	if err != nil || st.Resources() == 0 {
		return nil, err
	}
	hub := hubOf(st, c)
	if hub == "" && !o.Unreachable {
		return nil, nil
	}
	own, err := d.probe(ctx, c)
	if err != nil {
		return nil, err
	}
	var env map[string]string
	if !own.answers() {
		if !o.Unreachable {
			return nil, unreachable(c, own)
		}
		env = map[string]string{deleteUnreachable: "true"}
		d.opts.Observer.Note(stack, fmt.Sprintf("%s: what is on the cluster is given up with it", own))
	}
	if registration, ok := registrationOf(st, c.Name); ok && isExternal(st, registration) {
		return env, d.leaveExternal(ctx, c, hub, o)
	}
	if c.HasExternalHub() && hub == c.Hub() { // it was not registered, or is deregistered
		return env, nil
	}
	switch hub {
	case "":
		return env, nil
	case c.Name:
		return env, d.closeHub(ctx, c, own)
	}
	return d.leaveHub(ctx, c, &config.Cluster{Name: hub}, own, env)
}

// hubOf is the name of the hub that the cluster is registered with, by the state
// of its bootstrap: the file may name another one meanwhile. "" without Argo CD.
func hubOf(st *backend.State, c *config.Cluster) string {
	if registration, ok := registrationOf(st, c.Name); ok {
		return cmp.Or(hubIn(st, registration), c.Hub())
	}
	return c.Hub()
}

func (p probe) String() string {
	if p.gone {
		return "core has no outputs, so there is no cluster"
	}
	return fmt.Sprintf("the Kubernetes API does not answer (%v)", p.silence)
}

// unreachable refuses to give up a cluster that may only be away for a moment.
func unreachable(c *config.Cluster, p probe) error {
	return &fault.Error{
		What: fmt.Sprintf("destroy %s: %s", c.Name, p),
		Remedy: fmt.Sprintf("nothing was changed: bring it back and run the command again; if it is gone for good, run "+
			"`tombolo destroy %s --unreachable`, which gives up what is on the cluster", c.Name),
		Err: p.silence,
	}
}

// closeHub deletes all Applications of a hub that has no spokes. Those of a hub that does not answer go with it.
func (d *Driver) closeHub(ctx context.Context, c *config.Cluster, own probe) error {
	if !own.answers() {
		return nil
	}
	if err := d.refuseWithSpokes(ctx, c, own.cluster); err != nil {
		return err
	}
	return d.deregister(ctx, c, own.cluster, argocd.Leaving{
		Cluster: argocd.Cluster{Name: c.Name, Server: argocd.InCluster}, Hub: true,
	})
}

// leaveHub deregisters a spoke. A hub that is gone has no registration of it.
func (d *Driver) leaveHub(ctx context.Context, c, hub *config.Cluster, own probe, env map[string]string) (map[string]string, error) {
	at, err := d.probe(ctx, hub)
	if err != nil {
		return nil, err
	}
	if at.gone {
		d.opts.Observer.Note(stacks.Name(c.Name, stacks.Bootstrap), fmt.Sprintf("hub %s is gone: there is nothing to deregister", hub.Name))
		return map[string]string{deleteUnreachable: "true"}, nil
	}
	if !at.answers() {
		return nil, silentHub(c, hub.Name, at)
	}
	return env, d.deregister(ctx, c, at.cluster, argocd.Leaving{
		Cluster: argocd.Cluster{Name: c.Name, Server: own.values.ClusterEndpoint},
		LetGo:   !own.answers() || c.GitOps.ArgoCD.Applications == config.LeavingKeep,
	})
}

// silentHub refuses to destroy a spoke whose hub cannot be told.
func silentHub(c *config.Cluster, hub string, at probe) error {
	return &fault.Error{
		What: fmt.Sprintf("destroy %s: of its hub %s, %s", c.Name, hub, at),
		Remedy: fmt.Sprintf("nothing was changed: bring the hub back and run the command again; if the hub is gone for good, "+
			"run `tombolo destroy %s --unreachable` before", hub),
		Err: at.silence,
	}
}

func (d *Driver) deregister(ctx context.Context, c *config.Cluster, hub kube.Cluster, l argocd.Leaving) error {
	stack := stacks.Name(c.Name, stacks.Bootstrap)
	at, err := d.argocd(ctx, c, hub)
	if err != nil {
		return err
	}
	theirs, err := at.Registration(ctx, c.Name)
	if err != nil {
		return notDeregistered(ctx, c, err)
	}
	if theirs != nil && !theirs.IsOf(at.Owner) {
		return d.leaveRegistration(ctx, c, *theirs)
	}
	err = at.Deregister(ctx, l, argocd.Options{
		Waiting: func(what string) { d.opts.Observer.Waiting(c.Name, what) },
		Note:    func(message string) { d.opts.Observer.Note(stack, message) },
	})
	if err != nil {
		return notDeregistered(ctx, c, err)
	}
	return nil
}

// argocd is the Argo CD of a hub, for what concerns the cluster.
func (d *Driver) argocd(ctx context.Context, c *config.Cluster, hub kube.Cluster) (argocd.Hub, error) {
	core, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Core))
	return argocd.Hub{Client: hub.Client, Owner: core.Owner()}, err
}

// leaveRegistration leaves a hub alone that has registered another owner's cluster of the
// name: a registration that the state has is forgotten, or the destruction would delete
// the other's.
func (d *Driver) leaveRegistration(ctx context.Context, c *config.Cluster, theirs argocd.Registration) error {
	stack := stacks.Name(c.Name, stacks.Bootstrap)
	d.opts.Observer.Note(stack, fmt.Sprintf("the hub has registered another cluster %s, whose owner is %s: its registration and its applications are left alone",
		c.Name, theirs.Owner()))
	return d.forgetRegistration(ctx, c)
}

// forgetRegistration takes the cluster's registration out of the state, if it is there.
func (d *Driver) forgetRegistration(ctx context.Context, c *config.Cluster) error {
	st, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Bootstrap))
	if err != nil {
		return err
	}
	ours, ok := registrationOf(st, c.Name)
	if !ok {
		return nil
	}
	edited, err := backend.Without(st.Raw, []resource.URN{ours.URN})
	if err != nil {
		return fmt.Errorf("forget the registration of %s: %w", c.Name, err)
	}
	s, err := d.open(ctx, c, stacks.Bootstrap, catalog.Options{}, true)
	if err != nil {
		return err
	}
	return s.importState(ctx, "forget the registration in", st, edited)
}
