package hubs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"tombolo/automation/argocd"
	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/kube"
	"tombolo/config"
	"tombolo/internal/wording"
	"tombolo/stacks"
)

// This file is about hubs that others run. There the token may read and write one
// Secret, the registration; whether it may list Applications is for the hub's owners to
// say. A destruction deletes the registration itself, with the token of the file: the
// one in the state may be an old one.

// External connects to the hub that the cluster's file refers to.
func (h Hubs) External(ctx context.Context, c *config.Cluster) (argocd.Hub, error) {
	kubeconfig, err := h.Connector.Programs.HubKubeconfig(c, h.Connector.Env, h.Connector.Kept(ctx, c))
	if err != nil {
		return argocd.Hub{}, err
	}
	k, err := h.DialHub(kubeconfig)
	if err != nil {
		return argocd.Hub{}, fmt.Errorf("connect to hub %s: %w", c.Hub(), err)
	}
	return h.argoCD(ctx, c, k)
}

// askExternal reads the cluster's registration on its hub; nil when there is none. It
// asks again until the hub answers, for as long as any Kubernetes API may take.
func (h Hubs) askExternal(ctx context.Context, c *config.Cluster) (argocd.Hub, *argocd.Registration, error) {
	at, err := h.External(ctx, c)
	if err != nil {
		return at, nil, err
	}
	var found *argocd.Registration
	err = kube.UntilAnswered(ctx, h.Connector.ProbeTimeout, func(ctx context.Context) (err error) {
		found, err = at.Registration(ctx, c.Name)
		return err
	})
	if ctx.Err() != nil {
		return at, nil, fmt.Errorf("ask hub %s: interrupted: %w", c.Hub(), ctx.Err())
	}
	return at, found, err
}

// ForgetMissing makes good what a destruction has begun and not ended, or somebody has
// deleted: a registration that an external hub no longer has is taken out of the state,
// so that the up to come makes it again. It returns the state to go on with.
func (h Hubs) ForgetMissing(ctx context.Context, c *config.Cluster, st *backend.State) (*backend.State, error) {
	registration, ok := RegistrationOf(st, c.Name)
	if !ok || !c.HasExternalHub() || !IsExternal(st, registration) || hubIn(st, registration) != c.Hub() {
		return st, nil
	}
	_, found, err := h.askExternal(ctx, c)
	if err != nil {
		return st, notAsked(c, "up", err)
	}
	if found != nil {
		return st, nil
	}
	if err := h.forgetRegistration(ctx, c); err != nil {
		return st, err
	}
	stack := stacks.Name(c.Name, stacks.Bootstrap)
	h.Runner.Note(stack, fmt.Sprintf("recovered: hub %s has no registration of %s any more, and gets it again", c.Hub(), c.Name))
	return h.Backend.State(ctx, stack)
}

// notAsked says that an external hub could not be asked.
func notAsked(c *config.Cluster, operation string, err error) error {
	refused := new(fault.Error)
	if errors.As(err, &refused) {
		return err
	}
	return &fault.Error{
		What: fmt.Sprintf("%s %s: hub %s, which others run, cannot be asked: %v", operation, c.Name, c.Hub(), err),
		Remedy: fmt.Sprintf("nothing was changed: check gitops.externalHub and that its token may get, create, patch, update and delete Secret %s/%s",
			argocd.Namespace, argocd.SecretName(c.Name)),
		Err: err,
	}
}

// leaveExternal deletes the registration of a cluster on a hub that others run, before
// anything else of bootstrap. hub is its name by the state.
func (h Hubs) leaveExternal(ctx context.Context, c *config.Cluster, hub string, o LeaveOptions) error {
	if !c.HasExternalHub() || c.Hub() != hub {
		return h.giveUpExternal(ctx, c, hub, o, &fault.Error{
			What:   fmt.Sprintf("destroy %s: it is registered with hub %s, which others run, and its file does not refer to that hub", c.Name, hub),
			Remedy: "nothing was changed: put the gitops.externalHub of that hub back, and run the command again",
		})
	}
	at, found, err := h.askExternal(ctx, c)
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		return h.giveUpExternal(ctx, c, hub, o, notAsked(c, "destroy", err))
	case found == nil:
		return h.forgetRegistration(ctx, c)
	case !found.IsOf(at.Owner):
		return h.leaveRegistration(ctx, c, *found)
	}
	if err := h.refuseWithApplications(ctx, c, at, *found, o); err != nil {
		return err
	}
	if err := at.DeleteRegistration(ctx, *found); err != nil {
		return notAsked(c, "destroy", err)
	}
	return h.forgetRegistration(ctx, c)
}

// giveUpExternal leaves the registration on a hub that is gone, where that is asked for.
func (h Hubs) giveUpExternal(ctx context.Context, c *config.Cluster, hub string, o LeaveOptions, why error) error {
	if !o.Unreachable {
		return fmt.Errorf("%w; if the hub is gone for good, add --unreachable", why)
	}
	h.Runner.Note(stacks.Name(c.Name, stacks.Bootstrap), fmt.Sprintf("hub %s is given up: if it is there still, its owners should delete Secret %s/%s (%v)",
		hub, argocd.Namespace, argocd.SecretName(c.Name), why))
	return h.forgetRegistration(ctx, c)
}

// refuseWithApplications keeps a cluster that a hub of others has Applications of: they
// are not ours to delete, and without the cluster Argo CD could not end their deletion.
func (h Hubs) refuseWithApplications(ctx context.Context, c *config.Cluster, at argocd.Hub, r argocd.Registration, o LeaveOptions) error {
	stack := stacks.Name(c.Name, stacks.Bootstrap)
	left, err := applicationsOf(ctx, at, argocd.Cluster{Name: c.Name, Server: r.Server()})
	switch {
	case apierrors.IsForbidden(err):
		h.Runner.Note(stack, fmt.Sprintf("hub %s does not let the token list Applications: whether it has any of %s is not known", c.Hub(), c.Name))
		return nil
	case err != nil:
		return notAsked(c, "destroy", err)
	case len(left) == 0:
		return nil
	case o.Unreachable:
		h.Runner.Note(stack, fmt.Sprintf("hub %s keeps %s of %s: its owners should delete them", c.Hub(), kube.Names(left, mostApplications), c.Name))
		return nil
	}
	return &fault.Error{
		What: fmt.Sprintf("destroy %s: hub %s, which others run, has %s for it: %s", c.Name, c.Hub(),
			wording.Plural(len(left), "application", "applications"), kube.Names(left, mostApplications)),
		Remedy: "nothing was changed: have the hub's owners delete them, while the cluster is there, and run the command again",
	}
}

// mostApplications is how many Applications are named; the others are counted.
const mostApplications = 3

// applicationsOf are the Applications of a cluster in Argo CD's own namespace, which is
// all that a Role can let the token list.
func applicationsOf(ctx context.Context, at argocd.Hub, c argocd.Cluster) ([]argocd.Application, error) {
	all, err := at.OwnApplications(ctx)
	return slices.DeleteFunc(all, func(a argocd.Application) bool { return !a.IsOf(c) }), err
}

// externalUsers says what depends on the cluster's registration on a hub of others.
func (h Hubs) externalUsers(ctx context.Context, c *config.Cluster, hub string) (string, error) {
	if !c.HasExternalHub() || c.Hub() != hub {
		return fmt.Sprintf("hub %s, which the file no longer refers to, cannot be asked for applications", hub), nil
	}
	at, found, err := h.askExternal(ctx, c)
	if err != nil {
		return fmt.Sprintf("hub %s cannot be asked for applications: %v", hub, err), nil
	}
	if found == nil {
		return "", nil
	}
	left, err := applicationsOf(ctx, at, argocd.Cluster{Name: c.Name, Server: found.Server()})
	if err != nil {
		return fmt.Sprintf("hub %s cannot be asked for applications: %v", hub, err), nil
	}
	return stillHas(hub, left), nil
}
