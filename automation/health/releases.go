package health

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
	"tombolo/automation/kube"
	"tombolo/config"
	"tombolo/config/addon"
	"tombolo/internal/names"
)

// EngineName is the name of the cluster's engine for people.
func EngineName(c *config.Cluster) string { return engineOf(c).name() }

// AwaitNoReleases waits until the engine has no release of the addons any more.
// With an error it returns what was left at the last look that succeeded.
func (s Site) AwaitNoReleases(ctx context.Context, addons []string, timeout time.Duration) (left []string, err error) {
	e := engineOf(s.Cluster)
	defer s.Observer.Waiting(s.Cluster.Name, "")
	err = wait.PollUntilContextTimeout(ctx, poll, timeout, true, func(ctx context.Context) (bool, error) {
		var err error
		left, err = e.releases(ctx, s.At, addons)
		if err != nil || len(left) == 0 {
			return err == nil, err
		}
		s.Observer.Waiting(s.Cluster.Name, fmt.Sprintf("turned off: %s; %s still has %s", strings.Join(addons, ", "), e.name(), strings.Join(left, ", ")))
		return false, nil
	})
	return left, err
}

func (flux) releases(ctx context.Context, k kube.Cluster, addons []string) ([]string, error) {
	return releasesOf(ctx, k, addons)
}

func (a argo) releases(ctx context.Context, k kube.Cluster, addons []string) ([]string, error) {
	return (argocd.Hub{Client: k.Client}).OfAddons(ctx, a.cluster.Name, addons)
}

// releasesOf lists the HelmReleases of the addons: those that carry an addon's
// label, and those that take its values.
func releasesOf(ctx context.Context, k kube.Cluster, addons []string) ([]string, error) {
	releases, err := k.List(ctx, []schema.GroupKind{{Group: helmGroup, Kind: "HelmRelease"}})
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
	if release.GetLabels()[names.AddonLabel] == name {
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
