package hubs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"tombolo/automation/argocd"
	"tombolo/automation/backend"
	"tombolo/automation/connect"
	"tombolo/automation/fault"
	"tombolo/automation/kube"
	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/stacks"
)

// LeaveOptions say how a cluster leaves its hub.
type LeaveOptions struct {
	// Unreachable goes on without a Kubernetes API that does not answer.
	Unreachable bool
	// Timeout is how long Argo CD may take to delete the Applications, with what they have made. Default 15m.
	Timeout time.Duration
	// TakeOff lets go the Applications that it has not deleted in that time.
	TakeOff bool
}

// deleteUnreachable has the Kubernetes provider drop from the state what is on a
// cluster that it cannot reach, instead of failing. It does not affect clusters
// that it can reach.
const deleteUnreachable = "PULUMI_K8S_DELETE_UNREACHABLE"

// Leave has the cluster's hub forget it before bootstrap is destroyed. It
// returns what the destruction needs in its environment when something that
// bootstrap reaches is gone.
func (h Hubs) Leave(ctx context.Context, c *config.Cluster, o LeaveOptions) (map[string]string, error) {
	stack := stacks.Name(c.Name, stacks.Bootstrap)
	st, err := h.Backend.State(ctx, stack)
	if err != nil || st.Resources() == 0 {
		return nil, err
	}
	hub := Of(st, c)
	if hub == "" && !o.Unreachable {
		return nil, nil
	}
	own, err := h.Connector.Probe(ctx, c)
	if err != nil {
		return nil, err
	}
	var env map[string]string
	if !own.Answers() {
		if !o.Unreachable {
			return nil, Unreachable(c, own)
		}
		env = map[string]string{deleteUnreachable: "true"}
		h.Runner.Note(stack, fmt.Sprintf("%s: what is on the cluster is given up with it", own))
	}
	if registration, ok := RegistrationOf(st, c.Name); ok && IsExternal(st, registration) {
		return env, h.leaveExternal(ctx, c, hub, o)
	}
	if c.HasExternalHub() && hub == c.Hub() { // it was not registered, or is deregistered
		return env, nil
	}
	switch hub {
	case "":
		return env, nil
	case c.Name:
		return env, h.closeHub(ctx, c, own, o)
	}
	return h.leaveHub(ctx, c, &config.Cluster{Name: hub}, own, env, o)
}

// Of is the name of the hub that the cluster is registered with, by the state
// of its bootstrap: the file may name another one meanwhile. "" without Argo CD.
func Of(st *backend.State, c *config.Cluster) string {
	if registration, ok := RegistrationOf(st, c.Name); ok {
		return cmp.Or(hubIn(st, registration), c.Hub())
	}
	return c.Hub()
}

// Unreachable refuses to give up a cluster that may only be away for a moment.
func Unreachable(c *config.Cluster, p connect.Probe) error {
	return &fault.Error{
		What: fmt.Sprintf("destroy %s: %s", c.Name, p),
		Remedy: fmt.Sprintf("nothing was changed: bring it back and run the command again; if it is gone for good, run "+
			"`tombolo destroy %s --unreachable`, which gives up what is on the cluster", c.Name),
		Err: p.Silence,
	}
}

// closeHub deletes all Applications of a hub that has no spokes. Those of a hub that does not answer go with it.
func (h Hubs) closeHub(ctx context.Context, c *config.Cluster, own connect.Probe, o LeaveOptions) error {
	if !own.Answers() {
		return nil
	}
	if err := h.RefuseWithSpokes(ctx, c, own.Cluster); err != nil {
		return err
	}
	return h.deregister(ctx, c, own.Cluster, argocd.Leaving{
		Cluster: argocd.Cluster{Name: c.Name, Server: argocd.InCluster}, Hub: true,
	}, o)
}

// leaveHub deregisters a spoke. A hub that is gone has no registration of it.
func (h Hubs) leaveHub(ctx context.Context, c, hub *config.Cluster, own connect.Probe, env map[string]string, o LeaveOptions) (map[string]string, error) {
	at, err := h.Connector.Probe(ctx, hub)
	if err != nil {
		return nil, err
	}
	if at.Gone {
		h.Runner.Note(stacks.Name(c.Name, stacks.Bootstrap), fmt.Sprintf("hub %s is gone: there is nothing to deregister", hub.Name))
		return map[string]string{deleteUnreachable: "true"}, nil
	}
	if !at.Answers() {
		return nil, SilentHub(c, hub.Name, at)
	}
	return env, h.deregister(ctx, c, at.Cluster, argocd.Leaving{
		Cluster: argocd.Cluster{Name: c.Name, Server: own.Values.ClusterEndpoint},
		LetGo:   !own.Answers() || c.GitOps.ArgoCD.Applications == config.LeavingKeep,
	}, o)
}

// SilentHub refuses to destroy a spoke whose hub cannot be told.
func SilentHub(c *config.Cluster, hub string, at connect.Probe) error {
	return &fault.Error{
		What: fmt.Sprintf("destroy %s: of its hub %s, %s", c.Name, hub, at),
		Remedy: fmt.Sprintf("nothing was changed: bring the hub back and run the command again; if the hub is gone for good, "+
			"run `tombolo destroy %s --unreachable` before", hub),
		Err: at.Silence,
	}
}

func (h Hubs) deregister(ctx context.Context, c *config.Cluster, hub kube.Cluster, l argocd.Leaving, o LeaveOptions) error {
	stack := stacks.Name(c.Name, stacks.Bootstrap)
	at, err := h.argoCD(ctx, c, hub)
	if err != nil {
		return err
	}
	theirs, err := at.Registration(ctx, c.Name)
	if err != nil {
		return notDeregistered(ctx, c, err)
	}
	if theirs != nil && !theirs.IsOf(at.Owner) {
		return h.leaveRegistration(ctx, c, *theirs)
	}
	err = at.Deregister(ctx, l, argocd.Options{
		Timeout: o.Timeout, TakeOff: o.TakeOff,
		Waiting: func(what string) { h.Runner.Observer.Waiting(c.Name, what) },
		Note:    func(message string) { h.Runner.Note(stack, message) },
	})
	if err != nil {
		return notDeregistered(ctx, c, err)
	}
	return nil
}

// notDeregistered puts the error of a deregistration into its class.
func notDeregistered(ctx context.Context, c *config.Cluster, err error) error {
	why := new(fault.Error)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("destroy %s: interrupted while its hub forgets it; run the same command again to go on from there: %w", c.Name, ctx.Err())
	case !errors.As(err, &why):
		return fmt.Errorf("destroy %s: deregister it at its hub: %w", c.Name, err)
	case why.Class == fault.Precondition:
		return &fault.Error{What: fmt.Sprintf("destroy %s: %s", c.Name, why.What), Remedy: why.Remedy, Err: why}
	}
	return teardown.BothKept(c.Name, why.What, why.Remedy, why)
}
