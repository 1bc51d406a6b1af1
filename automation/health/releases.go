package health

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"tombolo/config"
	"tombolo/config/addon"
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

// unreleased are checks of addons that the cluster's label turns on and that no object releases: without a
// release there is nothing else that could fail.
func unreleased(e engine, p *platform, addons []string, releases func(o *unstructured.Unstructured, addon string) bool) []Check {
	var out []Check
	for _, name := range addons {
		if !slices.ContainsFunc(p.order, func(r ref) bool { return releases(p.objects[r], name) }) {
			out = append(out, Check{
				Kind: addonKind, Namespace: addon.Find(name).Namespace, Name: name,
				Message: fmt.Sprintf("the cluster's label %s turns it on, and %s has no release of it", addon.MonitoringLabel, e.name()),
			})
		}
	}
	return out
}
