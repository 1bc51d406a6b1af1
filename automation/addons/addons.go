// Package addons turns addons off before an up takes away what they work with.
package addons

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
	"tombolo/automation/hubs"
	"tombolo/config"
	"tombolo/stacks/catalog"
)

// releaseTimeout is how long up waits for the releases of addons that were
// turned off: the engine has to fetch the commit and to uninstall.
const releaseTimeout = 5 * time.Minute

// Addons of clusters. All fields are required.
type Addons struct {
	Hubs hubs.Hubs
	// Note says what people should know of a stack or a cluster.
	Note func(stack, message string)
}

// AwaitTurnedOff waits until the releases of addons that the file no longer
// turns on are gone. Only then may core take away the role, the queue or the
// bucket that they work with, and bootstrap their values and namespace. With
// Argo CD the registration turns addons on: it loses them first.
func (a Addons) AwaitTurnedOff(ctx context.Context, c *config.Cluster, bootstrap *backend.State) error {
	off := turnedOff(bootstrap, c)
	if len(off) == 0 {
		return nil
	}
	if c.HasExternalHub() { // what it has removed cannot be seen from here
		return a.Hubs.DropFromExternal(ctx, c, off)
	}
	s, err := a.Hubs.Site(ctx, c)
	if err != nil {
		return err
	}
	if c.GitOps.Engine == config.ArgoCD {
		if err := a.Hubs.DropAddons(ctx, c, s.At, off); err != nil {
			return err
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

// NoteTurnedOff says in a preview what up will wait for.
func (a Addons) NoteTurnedOff(c *config.Cluster, bootstrap *backend.State) {
	if off := turnedOff(bootstrap, c); len(off) > 0 {
		a.Note(c.Name, fmt.Sprintf("turns off %s: up waits until %s has removed the releases, "+
			"and only then takes away what they were given", strings.Join(off, ", "), health.EngineName(c)))
	}
}

// turnedOff are the addons of the last up that the file does not turn on.
func turnedOff(bootstrap *backend.State, c *config.Cluster) []string {
	return slices.DeleteFunc(addonsOf(bootstrap), func(name string) bool { _, on := c.Addons[name]; return on })
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
