package destroy

import (
	"context"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"tombolo/automation/backend"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/owner"
)

// Remains is what the states have of a cluster.
type Remains struct {
	// Resources that stacks manage, as type and name; those whose outcome is not known
	// are among them.
	Resources []string
	// Identity says that core's state has the cluster's identity, without which nothing
	// in the cloud can be told to be the cluster's.
	Identity bool
	// Incomplete says that there is no cluster to look at: a destruction has taken its
	// control plane away, or core has nothing but the identity.
	Incomplete bool
}

// None says that nothing of the cluster is left, or that it was never made.
func (r Remains) None() bool { return len(r.Resources) == 0 && !r.Identity }

// Remains tells what the states of a cluster's stacks have. It asks neither the cloud nor
// the cluster.
func (d Destroyer) Remains(ctx context.Context, c *config.Cluster) (Remains, error) {
	var out Remains
	for _, k := range stacks.Kinds() {
		st, err := d.Backend.State(ctx, stacks.Name(c.Name, k))
		if err != nil {
			return Remains{}, err
		}
		out.Resources = append(out.Resources, remaining(st)...)
		if k != stacks.Core {
			continue
		}
		out.Identity = len(st.Identity()) > 0
		out.Incomplete = out.Identity && st.Resources() == 0 ||
			st.ControlPlane() != owner.ControlPlane{} && d.Runner.Cloud(c).ControlPlane(st.All()) == owner.ControlPlane{}
	}
	return out, nil
}

// remaining are the resources of a state, without what groups others.
func remaining(st *backend.State) []string {
	var out []string
	line := func(r apitype.ResourceV3) string { return fmt.Sprintf("%s %s", r.Type, r.URN.Name()) }
	for _, r := range st.All() {
		if r.Custom && backend.Managed(r) {
			out = append(out, line(r))
		}
	}
	if st == nil {
		return out
	}
	for _, pending := range st.Deployment.PendingOperations {
		out = append(out, line(pending.Resource)+", whose outcome is not known")
	}
	return out
}
