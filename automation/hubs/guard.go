package hubs

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"tombolo/automation/argocd"
	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/kube"
	"tombolo/config"
	"tombolo/internal/names"
	"tombolo/internal/wording"
	"tombolo/stacks"
)

// This file keeps an up from taking away what Applications depend on: the
// cluster's registration, and its general ConfigMap. Both are updated in place;
// a plan that deletes or replaces one is refused while there are Applications.

// RefuseLoss refuses a plan that takes kept objects away, but where the hub has
// no Applications of the cluster.
func (h Hubs) RefuseLoss(ctx context.Context, c *config.Cluster, lost []string) error {
	if len(lost) == 0 {
		return nil
	}
	users, err := h.users(ctx, c)
	if err != nil || users == "" {
		return err
	}
	return &fault.Error{
		What: fmt.Sprintf("up %s would delete or replace %s, and %s", c.Name, strings.Join(lost, " and "), users),
		Remedy: fmt.Sprintf("its stack was left as it is: take back what changed in the cluster file, or run `tombolo destroy %s --only bootstrap` before, "+
			"which removes the applications as they should be", c.Name),
	}
}

// users says what depends on the kept objects, by the hub in the state: the file may
// name another one meanwhile.
func (h Hubs) users(ctx context.Context, c *config.Cluster) (string, error) {
	st, err := h.Backend.State(ctx, stacks.Name(c.Name, stacks.Bootstrap))
	if err != nil {
		return "", err
	}
	registration, ok := RegistrationOf(st, c.Name)
	if !ok {
		return "its engine works with them", nil
	}
	hub := hubIn(st, registration)
	if IsExternal(st, registration) {
		return h.externalUsers(ctx, c, hub)
	}
	at, err := h.Connector.Probe(ctx, &config.Cluster{Name: hub})
	if err != nil {
		return "", err
	}
	if !at.Answers() {
		return fmt.Sprintf("hub %s cannot be asked for applications: %s", hub, at), nil
	}
	return ofCluster(ctx, at.Cluster, hub, c.Name)
}

func ofCluster(ctx context.Context, at kube.Cluster, hub, name string) (string, error) {
	h := argocd.Hub{Client: at.Client}
	registration, err := h.Registration(ctx, name)
	if err != nil {
		return "", err
	}
	all, err := h.Applications(ctx)
	if err != nil || registration == nil {
		return "", err
	}
	c := argocd.Cluster{Name: name, Server: registration.Server()}
	return stillHas(hub, slices.DeleteFunc(all, func(a argocd.Application) bool { return !a.IsOf(c) })), nil
}

// stillHas says what a hub has for a cluster; "" for nothing.
func stillHas(hub string, all []argocd.Application) string {
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("hub %s has %s for it", hub, wording.Plural(len(all), "application", "applications"))
}

// TakesAway says whether the file has changed in a way that takes kept objects
// away: another hub, or another engine.
func TakesAway(st *backend.State, c *config.Cluster) bool {
	if registration, ok := RegistrationOf(st, c.Name); ok && hubIn(st, registration) != c.Hub() {
		return true
	}
	infra, ok := st.Object("kubernetes:core/v1:ConfigMap", func(id string) bool { return path.Base(id) == names.InfraConfig })
	return ok && path.Dir(string(infra.ID)) != c.EngineNamespace()
}
