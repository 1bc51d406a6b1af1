package automation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/health"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/catalog"
)

// releaseTimeout is how long up waits for the releases of addons that were
// turned off: the engine has to fetch the commit and to uninstall.
const releaseTimeout = 5 * time.Minute

// awaitTurnedOff waits until the releases of addons that the file no longer
// turns on are gone. Only then may core take away the role, the queue or the
// bucket that they work with, and bootstrap their values and namespace. With
// Argo CD the registration turns addons on: it loses them first.
func (d *Driver) awaitTurnedOff(ctx context.Context, c *config.Cluster) error {
	off, err := d.turnedOff(ctx, c)
	if err != nil || len(off) == 0 {
		return err
	}
	if c.HasExternalHub() {
		return d.dropFromExternalHub(ctx, c, off)
	}
	s, err := d.site(ctx, c)
	if err != nil {
		return err
	}
	if c.GitOps.Engine == config.ArgoCD {
		at, err := d.argocd(ctx, c, s.At)
		if err != nil {
			return err
		}
		if err := at.DropAddons(ctx, c.Name, off); err != nil {
			return fmt.Errorf("up %s: turn %s off at the hub: %w", c.Name, strings.Join(off, ", "), err)
		}
	}
	s.Fetch(ctx)
	return awaitNoReleases(ctx, s, off, releaseTimeout)
}

func awaitNoReleases(ctx context.Context, s health.Site, off []string, timeout time.Duration) error {
	c, engine := s.Cluster, health.EngineName(s.Cluster)
	left, err := s.AwaitNoReleases(ctx, off, timeout)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("up %s: interrupted while %s removes %s: %w", c.Name, engine, strings.Join(left, ", "), ctx.Err())
	case len(left) == 0:
		return fmt.Errorf("up %s: look for the releases of the addons %s: %w", c.Name, strings.Join(off, ", "), err)
	}
	return &fault.Error{
		What: fmt.Sprintf("up %s: the cluster file turns %s off, but after %s %s still has %s",
			c.Name, strings.Join(off, ", "), timeout, engine, strings.Join(left, ", ")),
		Remedy: "nothing was changed: take the addon out of the platform tree, push, and run the command again",
	}
}

// noteTurnedOff tells a preview's reader what up will wait for.
func (d *Driver) noteTurnedOff(ctx context.Context, c *config.Cluster) error {
	off, err := d.turnedOff(ctx, c)
	if err == nil && len(off) > 0 {
		d.opts.Observer.Note(c.Name, fmt.Sprintf("turns off %s: up waits until %s has removed the releases, "+
			"and only then takes away what they were given", strings.Join(off, ", "), health.EngineName(c)))
	}
	return err
}

// turnedOff are the addons of the last up that the file does not turn on.
func (d *Driver) turnedOff(ctx context.Context, c *config.Cluster) ([]string, error) {
	st, err := d.backend.State(ctx, stacks.Name(c.Name, stacks.Bootstrap))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(addonsOf(st), func(name string) bool { _, on := c.Addons[name]; return on }), nil
}

// addonsOf are the addons that were turned on when bootstrap's general ConfigMap was applied.
func addonsOf(s *backend.State) []string {
	if s == nil {
		return nil
	}
	for _, r := range s.Deployment.Resources {
		if r.Type != "kubernetes:core/v1:ConfigMap" || r.Delete {
			continue
		}
		annotations, _, err := unstructured.NestedStringMap(r.Inputs, "metadata", "annotations")
		if names := annotations[catalog.AddonsAnnotation]; err == nil && names != "" {
			return strings.Split(names, ",")
		}
	}
	return nil
}
