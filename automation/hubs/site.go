package hubs

import (
	"context"
	"fmt"
	"strings"

	"tombolo/automation/argocd"
	"tombolo/automation/health"
	"tombolo/automation/kube"
	"tombolo/config"
	"tombolo/stacks"
)

// Site connects to the cluster, and to its hub when it is a spoke.
func (h Hubs) Site(ctx context.Context, c *config.Cluster) (health.Site, error) {
	own, values, err := h.Connector.Connect(ctx, c)
	if err != nil {
		return health.Site{}, err
	}
	s := health.Site{Cluster: c, Own: own, At: own, Values: values, Observer: h.Runner.Observer}
	if !c.IsSpoke() {
		return s, nil
	}
	if c.HasExternalHub() {
		at, err := h.External(ctx, c)
		s.At = kube.Cluster{Client: at.Client}
		return s, err
	}
	hub, err := h.LoadHub(c)
	if err != nil {
		return health.Site{}, err
	}
	s.At, _, err = h.Connector.Connect(ctx, hub)
	return s, err
}

// DropAddons takes addons from the cluster's registration with a hub.
func (h Hubs) DropAddons(ctx context.Context, c *config.Cluster, hub kube.Cluster, addons []string) error {
	at, err := h.argoCD(ctx, c, hub)
	if err != nil {
		return err
	}
	return dropAddons(ctx, c, at, addons)
}

// DropFromExternal takes addons from the registration with a hub of others.
func (h Hubs) DropFromExternal(ctx context.Context, c *config.Cluster, addons []string) error {
	at, err := h.External(ctx, c)
	if err != nil {
		return err
	}
	if err := dropAddons(ctx, c, at, addons); err != nil {
		return err
	}
	h.Runner.Note(stacks.Name(c.Name, stacks.Bootstrap), fmt.Sprintf("%s: hub %s, which others run, was told; whether it has removed what it made cannot be seen from here",
		strings.Join(addons, ", "), c.Hub()))
	return nil
}

func dropAddons(ctx context.Context, c *config.Cluster, at argocd.Hub, addons []string) error {
	if err := at.DropAddons(ctx, c.Name, addons); err != nil {
		return fmt.Errorf("up %s: turn %s off at the hub: %w", c.Name, strings.Join(addons, ", "), err)
	}
	return nil
}
