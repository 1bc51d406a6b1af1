// Package destroy destroys the stacks of a cluster: it empties the cluster before, searches the cloud
// for what is left over, and leaves in the state what a further destruction needs.
package destroy

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"tombolo/automation/backend"
	"tombolo/automation/connect"
	"tombolo/automation/fault"
	"tombolo/automation/hubs"
	"tombolo/automation/operation"
	"tombolo/automation/teardown"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/owner"
)

// Options of a destruction.
type Options struct {
	// Only this stack; both when empty. Core alone is refused while bootstrap
	// has resources.
	Only stacks.Kind
	// Remove the empty stacks from the backend too, with their history.
	Remove bool
	// Refresh the state from the cloud first.
	Refresh bool
	// Unreachable goes on without a Kubernetes API that does not answer: what is
	// on the cluster is given up with it. Without, a cluster that does not answer
	// is left as it is.
	Unreachable bool
	// Confirmed says that the cluster's name was given for its destruction. A
	// protected cluster is refused without.
	Confirmed bool
	// Leftovers says what becomes of cloud resources that controllers have left
	// over, and of finalizers that no controller removes. Default teardown.StopAtLeftovers.
	Leftovers teardown.LeftoverPolicy
	// KeepData leaves buckets, file systems and snapshots in the cloud, and
	// reports each. A claim's volume goes with the claim; it is kept as well when
	// its reclaim policy is Retain.
	KeepData bool
	// DrainTimeout is how long Argo CD may take to delete the Applications (default 15m), then
	// controllers to give back the cloud resources of one kind, and then the cloud to take them
	// away (default 10m each).
	DrainTimeout time.Duration

	// Began, if not nil, is called when the destruction comes to a part: drain, bootstrap or core.
	Began func(part string)
}

// Destroyer destroys clusters. All fields are required.
type Destroyer struct {
	Backend   *backend.Backend
	Runner    *operation.Runner
	Connector connect.Connector
	Hubs      hubs.Hubs
	// Live is what the live cluster was made from; nil when no cluster lives.
	Live func(context.Context, *config.Cluster) (*config.Live, error)
}

// controlPlane is the one that core has, or had when its destruction began.
func (d Destroyer) controlPlane(c *config.Cluster, core *backend.State) owner.ControlPlane {
	return cmp.Or(d.Runner.Cloud(c).ControlPlane(core.All()), core.ControlPlane())
}

// RefuseProtected refuses to destroy a protected cluster that is not confirmed.
func RefuseProtected(c *config.Cluster, o Options) error {
	if !c.Protect || o.Confirmed {
		return nil
	}
	return &fault.Error{
		What:   fmt.Sprintf("destroy %s: it is protected by its %s file", c.Name, fileKind(c)),
		Remedy: fmt.Sprintf("nothing was changed: give --yes-destroy %s, or take protect out of the file", c.Name),
	}
}

// fileKind says what describes the cluster, or the account that it stands for.
func fileKind(c *config.Cluster) string {
	if c.Account != nil {
		return "account"
	}
	return "cluster"
}
