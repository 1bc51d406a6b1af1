package automation

import (
	"context"
	"slices"

	"tombolo/automation/pulumicli"
	"tombolo/config"
)

// InstallPlugins installs the plugins of the engine that are missing, and returns all
// that the stacks of the clusters need; without clusters, of any cluster. Operations do so
// themselves; a machine that is to work without the internet has them installed before.
func (d *Driver) InstallPlugins(ctx context.Context, clusters []*config.Cluster, o pulumicli.PluginOptions) (pulumicli.InstalledPlugins, error) {
	for _, c := range clusters {
		o.Only = append(o.Only, d.providers(c)...)
	}
	slices.Sort(o.Only)
	o.Only = slices.Compact(o.Only)
	return d.pulumi.InstallPlugins(ctx, o)
}

// providers are those that the stacks of a cluster use, by their plugins' names: its cloud's
// own, and that of Kubernetes. None stands for all.
func (d *Driver) providers(c *config.Cluster) []string {
	cloud := d.cloud(c)
	if cloud == nil {
		return nil
	}
	names := []string{"kubernetes"}
	for _, p := range cloud.Plugins() {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}
