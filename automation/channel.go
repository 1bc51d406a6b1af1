package automation

import (
	"context"

	"tombolo/config"
)

// ChannelAddress is the address of the platform's channel that a cluster's file names, which is a
// secret: no error holds any of it. It is read from where the file says, and nothing else is.
func (d *Driver) ChannelAddress(ctx context.Context, c *config.Cluster) (string, error) {
	return d.opts.Programs.ChannelAddress(c, d.opts.Env, func(key string) (string, error) { return d.kept(ctx, c, key) })
}
