package automation

import (
	"context"

	"tombolo/automation/pulumicli"
)

// InstallPlugins installs the plugins of the engine that are missing, and returns all
// that the stacks need. Operations do so themselves; a machine that is to work without
// the internet has them installed before.
func (d *Driver) InstallPlugins(ctx context.Context, o pulumicli.PluginOptions) (pulumicli.InstalledPlugins, error) {
	return d.pulumi.InstallPlugins(ctx, o)
}
