package automation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"

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

// externalHub connects to the hub that the cluster's file refers to.
func (d *Driver) externalHub(ctx context.Context, c *config.Cluster) (argocd.Hub, error) {
	kubeconfig, err := d.opts.Programs.HubKubeconfig(c, d.opts.Env, func(key string) (string, error) { return d.kept(ctx, c, key) })
	if err != nil {
		return argocd.Hub{}, err
	}
	k, err := d.dialHub(kubeconfig)
	if err != nil {
		return argocd.Hub{}, fmt.Errorf("connect to hub %s: %w", c.Hub(), err)
	}
	return d.argocd(ctx, c, k)
}

// askExternalHub reads the cluster's registration on its hub; nil when there is none. It
// asks again until the hub answers, for as long as any Kubernetes API may take.
func (d *Driver) askExternalHub(ctx context.Context, c *config.Cluster) (argocd.Hub, *argocd.Registration, error) {
	at, err := d.externalHub(ctx, c)
	if err != nil {
		return at, nil, err
	}
	var found *argocd.Registration
	var last error
	err = wait.PollUntilContextTimeout(ctx, time.Second, d.probeTimeout, true, func(ctx context.Context) (bool, error) {
		found, last = at.Registration(ctx, c.Name)
		return last == nil || kube.Refused(last), nil
	})
	switch {
	case ctx.Err() != nil:
		return at, nil, fmt.Errorf("ask hub %s: interrupted: %w", c.Hub(), ctx.Err())
	case last != nil:
		return at, nil, last
	}
	return at, found, err
}

// forgetMissing makes good what a destruction has begun and not ended, or somebody has
// deleted: a registration that an external hub no longer has is taken out of the state,
// so that the up to come makes it again. It returns the state to go on with.
func (d *Driver) forgetMissing(ctx context.Context, c *config.Cluster, st *backend.State) (*backend.State, error) {
	registration, ok := registrationOf(st, c.Name)
	if !ok || !c.HasExternalHub() || !isExternal(st, registration) || hubIn(st, registration) != c.Hub() {
		return st, nil
	}
	_, found, err := d.askExternalHub(ctx, c)
	if err != nil {
		return st, notAsked(c, "up", err)
	}
	if found != nil {
		return st, nil
	}
	if err := d.forgetRegistration(ctx, c); err != nil {
		return st, err
	}
	stack := stacks.Name(c.Name, stacks.Bootstrap)
	d.opts.Observer.Note(stack, fmt.Sprintf("recovered: hub %s has no registration of %s any more, and gets it again", c.Hub(), c.Name))
	return d.backend.State(ctx, stack)
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
func (d *Driver) leaveExternal(ctx context.Context, c *config.Cluster, hub string, o DestroyOptions) error {
	if !c.HasExternalHub() || c.Hub() != hub {
		return d.giveUpExternal(ctx, c, hub, o, &fault.Error{
			What:   fmt.Sprintf("destroy %s: it is registered with hub %s, which others run, and its file does not refer to that hub", c.Name, hub),
			Remedy: "nothing was changed: put the gitops.externalHub of that hub back, and run the command again",
		})
	}
	at, found, err := d.askExternalHub(ctx, c)
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		return d.giveUpExternal(ctx, c, hub, o, notAsked(c, "destroy", err))
	case found == nil:
		return d.forgetRegistration(ctx, c)
	case !found.IsOf(at.Owner):
		return d.leaveRegistration(ctx, c, *found)
	}
	if err := d.refuseWithApplications(ctx, c, at, *found, o); err != nil {
		return err
	}
	if err := at.DeleteRegistration(ctx, *found); err != nil {
		return notAsked(c, "destroy", err)
	}
	return d.forgetRegistration(ctx, c)
}

// giveUpExternal leaves the registration on a hub that is gone, where that is asked for.
func (d *Driver) giveUpExternal(ctx context.Context, c *config.Cluster, hub string, o DestroyOptions, why error) error {
	if !o.Unreachable {
		return fmt.Errorf("%w; if the hub is gone for good, add --unreachable", why)
	}
	d.opts.Observer.Note(stacks.Name(c.Name, stacks.Bootstrap), fmt.Sprintf("hub %s is given up: if it is there still, its owners should delete Secret %s/%s (%v)",
		hub, argocd.Namespace, argocd.SecretName(c.Name), why))
	return d.forgetRegistration(ctx, c)
}

// refuseWithApplications keeps a cluster that a hub of others has Applications of: they
// are not ours to delete, and without the cluster Argo CD could not end their deletion.
func (d *Driver) refuseWithApplications(ctx context.Context, c *config.Cluster, at argocd.Hub, r argocd.Registration, o DestroyOptions) error {
	stack := stacks.Name(c.Name, stacks.Bootstrap)
	left, err := applicationsOf(ctx, at, argocd.Cluster{Name: c.Name, Server: r.Server()})
	switch {
	case apierrors.IsForbidden(err):
		d.opts.Observer.Note(stack, fmt.Sprintf("hub %s does not let the token list Applications: whether it has any of %s is not known", c.Hub(), c.Name))
		return nil
	case err != nil:
		return notAsked(c, "destroy", err)
	case len(left) == 0:
		return nil
	case o.Unreachable:
		d.opts.Observer.Note(stack, fmt.Sprintf("hub %s keeps %s of %s: its owners should delete them", c.Hub(), kube.Names(left, mostApplications), c.Name))
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
	if err != nil {
		return nil, err
	}
	var out []argocd.Application
	for _, a := range all {
		if a.IsOf(c) {
			out = append(out, a)
		}
	}
	return out, nil
}

// externalUsers says what depends on the cluster's registration on a hub of others.
func (d *Driver) externalUsers(ctx context.Context, c *config.Cluster, hub string) (string, error) {
	if !c.HasExternalHub() || c.Hub() != hub {
		return fmt.Sprintf("hub %s, which the file no longer refers to, cannot be asked for applications", hub), nil
	}
	at, found, err := d.askExternalHub(ctx, c)
	if err != nil {
		return fmt.Sprintf("hub %s cannot be asked for applications: %v", hub, err), nil
	}
	if found == nil {
		return "", nil
	}
	left, err := applicationsOf(ctx, at, argocd.Cluster{Name: c.Name, Server: found.Server()})
	switch {
	case err != nil:
		return fmt.Sprintf("hub %s cannot be asked for applications: %v", hub, err), nil
	case len(left) == 0:
		return "", nil
	}
	return fmt.Sprintf("hub %s has %s for it", hub, wording.Plural(len(left), "application", "applications")), nil
}

// dropFromExternalHub takes addons from the registration on a hub of others.
func (d *Driver) dropFromExternalHub(ctx context.Context, c *config.Cluster, addons []string) error {
	at, err := d.externalHub(ctx, c)
	if err != nil {
		return err
	}
	if err := at.DropAddons(ctx, c.Name, addons); err != nil {
		return fmt.Errorf("up %s: turn %s off at the hub: %w", c.Name, strings.Join(addons, ", "), err)
	}
	d.opts.Observer.Note(stacks.Name(c.Name, stacks.Bootstrap), fmt.Sprintf("%s: hub %s, which others run, was told; whether it has removed what it made cannot be seen from here",
		strings.Join(addons, ", "), c.Hub()))
	return nil
}

// requireExternalHub refuses an up whose registration the hub would refuse at its end, when
// the cluster is made.
func (d *Driver) requireExternalHub(ctx context.Context, c *config.Cluster) error {
	at, found, err := d.askExternalHub(ctx, c)
	if err != nil {
		return notAsked(c, "up", err)
	}
	if err := anothers(c, at, found); err != nil {
		return &fault.Error{
			What:   fmt.Sprintf("up %s: %v", c.Name, err),
			Remedy: "nothing was started: have the hub's owners remove that registration, or give this cluster another name", Err: err,
		}
	}
	return nil
}

// anothers is an error for a registration of the cluster's name that is another owner's.
func anothers(c *config.Cluster, at argocd.Hub, found *argocd.Registration) error {
	if found == nil || found.IsOf(at.Owner) {
		return nil
	}
	return fmt.Errorf("hub %s has registered another cluster %s, whose owner is %s", c.Hub(), c.Name, found.Owner())
}

// Hub says why a hub that others run does not let the cluster register.
func (h host) Hub(ctx context.Context, c *config.Cluster) error {
	at, found, err := h.driver.askExternalHub(ctx, c)
	if err != nil {
		return err
	}
	return anothers(c, at, found)
}
