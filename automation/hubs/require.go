package hubs

import (
	"context"
	"fmt"

	"tombolo/automation/argocd"
	"tombolo/automation/fault"
	"tombolo/config"
	"tombolo/stacks"
)

// Require refuses an up of a spoke without a hub that it can register with.
func (h Hubs) Require(ctx context.Context, c *config.Cluster) error {
	if c.HasExternalHub() {
		return h.requireExternal(ctx, c)
	}
	if !c.HasHubFile() {
		return nil
	}
	for _, k := range stacks.Kinds() {
		stack := stacks.Name(c.Hub(), k)
		st, err := h.Backend.State(ctx, stack)
		if err != nil {
			return err
		}
		if st.Resources() == 0 {
			return &fault.Error{
				What:   fmt.Sprintf("up %s: its hub %s is not there: stack %s was not deployed yet", c.Name, c.Hub(), stack),
				Remedy: fmt.Sprintf("nothing was started: run `tombolo up %s %s`, which makes the hub first", c.Hub(), c.Name),
			}
		}
	}
	return nil
}

// HasOutputs says whether core of the cluster's hub has outputs. A cluster that is
// no spoke needs none.
func (h Hubs) HasOutputs(ctx context.Context, c *config.Cluster) (bool, error) {
	if !c.HasHubFile() {
		return true, nil
	}
	st, err := h.Backend.State(ctx, stacks.Name(c.Hub(), stacks.Core))
	return len(st.Outputs()) > 0, err
}

// requireExternal refuses an up whose registration the hub would refuse at its end, when
// the cluster is made.
func (h Hubs) requireExternal(ctx context.Context, c *config.Cluster) error {
	at, found, err := h.askExternal(ctx, c)
	if err != nil {
		return notAsked(c, "up", err)
	}
	if err := refuseAnother(c, at, found); err != nil {
		return &fault.Error{
			What:   fmt.Sprintf("up %s: %v", c.Name, err),
			Remedy: "nothing was started: have the hub's owners remove that registration, or give this cluster another name", Err: err,
		}
	}
	return nil
}

// refuseAnother is an error for a registration of the cluster's name that is another owner's.
func refuseAnother(c *config.Cluster, at argocd.Hub, found *argocd.Registration) error {
	if found == nil || found.IsOf(at.Owner) {
		return nil
	}
	return fmt.Errorf("hub %s has registered another cluster %s, whose owner is %s", c.Hub(), c.Name, found.Owner())
}

// CheckExternal says why a hub that others run does not let the cluster register.
func (h Hubs) CheckExternal(ctx context.Context, c *config.Cluster) error {
	at, found, err := h.askExternal(ctx, c)
	if err != nil {
		return err
	}
	return refuseAnother(c, at, found)
}
