package automation

import (
	"context"

	"tombolo/config"
)

// Look is what a look at a cluster has found.
type Look struct {
	// Verification as Verify has it, of one moment.
	Verification
	// Kubernetes is the version that core has made the cluster with.
	Kubernetes string `json:"kubernetes"`
}

// Look looks once at what Verify waits for, and changes nothing: the engine is
// not asked to fetch. What is not ready is part of what was found and no error.
// The error says why the cluster could not be looked at: the backend does not
// answer, or core has no outputs. An API that does not answer until the context
// ends is a check that is not ready.
func (d *Driver) Look(ctx context.Context, c *config.Cluster) (Look, error) {
	start := d.now()
	found := Look{Verification: Verification{Cluster: c.Name}}
	s, err := d.site(ctx, c)
	if err != nil {
		return found, err
	}
	found.Kubernetes = s.values.ClusterVersion
	found.look(ctx, s, VerifyOptions{})
	found.Waited = d.now().Sub(start)
	return found, nil
}
