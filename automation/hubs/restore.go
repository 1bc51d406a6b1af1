package hubs

import (
	"context"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"tombolo/automation/argocd"
	"tombolo/automation/backend"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// Restore makes good what a destruction, or an up that turns addons off, has
// begun and not ended: the registration gets its labels back, and what has changed
// on the hub is read into the state, so that the up to come makes it again.
func (h Hubs) Restore(ctx context.Context, c *config.Cluster, st *backend.State) error {
	at, broken, err := h.broken(ctx, c, st)
	if err != nil || !broken {
		return err
	}
	s, err := h.Runner.Open(ctx, c, stacks.Bootstrap, catalog.Options{}, true)
	if err != nil {
		return err
	}
	if err := s.Refresh(ctx, onHub(st)); err != nil {
		return err
	}
	if _, err := at.Return(ctx, c.Name); err != nil {
		return err
	}
	h.Runner.Note(s.Name, fmt.Sprintf("recovered: the registration of %s with hub %s was restored", c.Name, c.Hub()))
	return nil
}

// broken says whether the registration that the state knows is not whole, and
// where it is.
func (h Hubs) broken(ctx context.Context, c *config.Cluster, st *backend.State) (argocd.Hub, bool, error) {
	registration, ok := RegistrationOf(st, c.Name)
	if !ok || hubIn(st, registration) != c.Hub() || c.HasExternalHub() {
		return argocd.Hub{}, false, nil
	}
	hub, err := h.LoadHub(c)
	if err != nil {
		return argocd.Hub{}, false, err
	}
	reached, _, err := h.Connector.Connect(ctx, hub)
	if err != nil {
		return argocd.Hub{}, false, err
	}
	at, err := h.argoCD(ctx, c, reached)
	if err != nil {
		return argocd.Hub{}, false, err
	}
	there, err := at.Registration(ctx, c.Name)
	if err != nil || there != nil && !there.IsOf(at.Owner) { // bootstrap's program refuses it
		return argocd.Hub{}, false, err
	}
	return at, there == nil || there.Leaving() || lacks(there.Labels(), registration, c), nil
}

// Standing is how whole a cluster's registration with its hub is.
type Standing int

const (
	// Whole is a registration that a preview compares as it is, or none.
	Whole Standing = iota
	// Broken is one that a destruction, or an up, has begun to take away.
	Broken
	// Unknown is that of a hub that cannot be asked: the up itself reports why.
	Unknown
)

// Standing of the registration that the state knows.
func (h Hubs) Standing(ctx context.Context, c *config.Cluster, st *backend.State) Standing {
	switch _, broken, err := h.broken(ctx, c, st); {
	case err != nil:
		return Unknown
	case broken:
		return Broken
	}
	return Whole
}

// lacks says that labels are gone which the state knows and the file still has:
// nothing else would make them again.
func lacks(labels map[string]string, registration apitype.ResourceV3, c *config.Cluster) bool {
	applied, _, _ := unstructured.NestedMap(registration.Inputs, "metadata", "labels")
	for name := range c.RegistrationLabels() {
		_, was := applied[name]
		if _, is := labels[name]; was && !is {
			return true
		}
	}
	return false
}
