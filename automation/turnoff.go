package automation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"tombolo/automation/argocd"
	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/stacks"
	"tombolo/stacks/bootstrap"
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
	s, err := d.site(ctx, c)
	if err != nil {
		return err
	}
	if c.GitOps.Engine == config.ArgoCD {
		if err := (argocd.Hub{Client: s.at.dynamic}).DropAddons(ctx, c.Name, off); err != nil {
			return fmt.Errorf("up %s: turn %s off at the hub: %w", c.Name, strings.Join(off, ", "), err)
		}
	}
	d.fetchNow(ctx, c, s.engine, s.at)
	return d.awaitNoReleases(ctx, c, s, off, releaseTimeout)
}

func (d *Driver) awaitNoReleases(ctx context.Context, c *config.Cluster, s site, off []string, timeout time.Duration) error {
	engine := s.engine.name()
	var left []string
	err := wait.PollUntilContextTimeout(ctx, verifyPoll, timeout, true, func(ctx context.Context) (bool, error) {
		var err error
		left, err = s.engine.releases(ctx, s.at, off)
		if err != nil || len(left) == 0 {
			return err == nil, err
		}
		d.opts.Observer.Waiting(c.Name, fmt.Sprintf("turned off: %s; %s still has %s", strings.Join(off, ", "), engine, strings.Join(left, ", ")))
		return false, nil
	})
	d.opts.Observer.Waiting(c.Name, "")
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("up %s: interrupted while %s removes %s: %w", c.Name, engine, strings.Join(left, ", "), ctx.Err())
	case len(left) == 0:
		return fmt.Errorf("up %s: look for the releases of the addons %s: %w", c.Name, strings.Join(off, ", "), err)
	}
	return &fault.Precondition{
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
			"and only then takes away what they were given", strings.Join(off, ", "), engineOf(c).name()))
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
		if names := annotations[bootstrap.AddonsAnnotation]; err == nil && names != "" {
			return strings.Split(names, ",")
		}
	}
	return nil
}

func (flux) releases(ctx context.Context, k cluster, addons []string) ([]string, error) {
	return k.releasesOf(ctx, addons)
}

func (a argo) releases(ctx context.Context, k cluster, addons []string) ([]string, error) {
	return (argocd.Hub{Client: k.dynamic}).OfAddons(ctx, a.cluster.Name, addons)
}

// releasesOf lists the HelmReleases of the addons: those that carry an addon's
// label, and those that take its values.
func (k cluster) releasesOf(ctx context.Context, addons []string) ([]string, error) {
	releases, err := k.list(ctx, []schema.GroupKind{{Group: helmGroup, Kind: "HelmRelease"}})
	if err != nil {
		return nil, err
	}
	var found []string
	for i := range releases {
		if o := &releases[i]; slices.ContainsFunc(addons, func(name string) bool { return isReleaseOf(o, name) }) {
			found = append(found, refOf(o).String())
		}
	}
	return found, nil
}

func isReleaseOf(release *unstructured.Unstructured, name string) bool {
	if release.GetLabels()[bootstrap.AddonLabel] == name {
		return true
	}
	a := addon.Find(name)
	if a == nil || a.Namespace != release.GetNamespace() {
		return false
	}
	sources, _, err := unstructured.NestedSlice(release.Object, "spec", "valuesFrom")
	return err == nil && slices.ContainsFunc(sources, func(s any) bool {
		source, _ := s.(map[string]any)
		return source["kind"] == "ConfigMap" && source["name"] == a.ValuesName()
	})
}
