package health

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"tombolo/config"
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
