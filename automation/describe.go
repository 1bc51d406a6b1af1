package automation

import (
	"context"

	"tombolo/automation/adoption"
	"tombolo/config"
)

// Describe reads a managed cluster that others own: the one that kubernetes.existing of the
// file names, in the file's region. It changes nothing. The file's account is not looked at.
func (d *Driver) Describe(ctx context.Context, c *config.Cluster) (adoption.Cluster, error) {
	return d.cloud(c).Describe(ctx, c)
}
