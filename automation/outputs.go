package automation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"tombolo/automation/adoption"
	"tombolo/automation/approval"
	"tombolo/automation/approved"
	"tombolo/automation/backend"
	"tombolo/automation/connect"
	"tombolo/automation/fault"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/handoff"
)

// This file answers what people ask about clusters. It changes nothing but locks that are removed on purpose.

// Output is one output of a stack.
type Output = connect.Output

// Outputs returns what core hands off. It is a fault.Error when the
// cluster has no core yet.
func (d *Driver) Outputs(ctx context.Context, c *config.Cluster) (handoff.Values, error) {
	return d.connector().Outputs(ctx, c)
}

// StackOutputs returns all outputs of one of the cluster's stacks.
func (d *Driver) StackOutputs(ctx context.Context, c *config.Cluster, k stacks.Kind) (map[string]Output, error) {
	return d.connector().StackOutputs(ctx, c, k)
}

// Deployed says whether core of the cluster has outputs.
func (d *Driver) Deployed(ctx context.Context, c *config.Cluster) (bool, error) {
	_, err := d.StackOutputs(ctx, c, stacks.Core)
	var missing *fault.Error
	if errors.As(err, &missing) {
		return false, nil
	}
	return err == nil, err
}

// Kubeconfig returns a kubeconfig for the cluster. It holds no credentials:
// an exec plugin gets a token each time.
func (d *Driver) Kubeconfig(ctx context.Context, c *config.Cluster) ([]byte, error) {
	values, err := d.Outputs(ctx, c)
	if err != nil {
		return nil, err
	}
	kubeconfig, err := values.Kubeconfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of cluster %s: %w", c.Name, err)
	}
	return kubeconfig, nil
}

// ChannelAddress is the address of the platform's channel that a cluster's file names, which is a
// secret: no error holds any of it. It is read from where the file says, and nothing else is.
func (d *Driver) ChannelAddress(ctx context.Context, c *config.Cluster) (string, error) {
	return d.opts.Programs.ChannelAddress(c, d.opts.Env, d.connector().Kept(ctx, c))
}

// Describe reads a managed cluster that others own: the one that kubernetes.existing of the
// file names, in the file's region. It changes nothing. The file's account is not looked at.
func (d *Driver) Describe(ctx context.Context, c *config.Cluster) (adoption.Cluster, error) {
	return d.deps.cloud(c).Describe(ctx, c)
}

// ClusterInfo is a cluster file with what the backend knows of its stacks.
type ClusterInfo struct {
	// Name of the cluster.
	Name string `json:"name"`
	// Environment, Region and Wave as in the file.
	Environment string `json:"environment,omitempty"`
	Region      string `json:"region,omitempty"`
	Wave        int    `json:"wave"`
	// File is empty for stacks that no cluster file accounts for.
	File string `json:"file,omitempty"`
	// Stacks that exist, in the order they are made.
	Stacks []backend.StackInfo `json:"stacks"`
}

// List returns the clusters of a directory of cluster files, with their
// stacks, and after them clusters that have stacks but no file. An empty
// backend, or one that never was used, is no error.
func (d *Driver) List(ctx context.Context, dir string) ([]ClusterInfo, error) {
	files, err := config.LoadDir(dir)
	if err != nil {
		return nil, err
	}
	found, err := d.backend.Stacks(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]ClusterInfo, 0, len(files))
	for _, c := range files {
		out = append(out, ClusterInfo{
			Name: c.Name, Environment: c.Environment, Region: c.Cloud.Region,
			Wave: c.Wave, File: c.File, Stacks: found[c.Name],
		})
		delete(found, c.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		out = append(out, ClusterInfo{Name: name, Stacks: found[name]})
	}
	return out, nil
}

// InstallPlugins installs the plugins of the engine that are missing, and returns all
// that the stacks of the clusters need; without clusters, of any cluster. Operations do so
// themselves; a machine that is to work without the internet has them installed before.
func (d *Driver) InstallPlugins(ctx context.Context, clusters []*config.Cluster, o pulumicli.PluginOptions) (pulumicli.InstalledPlugins, error) {
	for _, c := range clusters {
		o.Only = append(o.Only, d.runner().Plugins(c)...)
	}
	slices.Sort(o.Only)
	o.Only = slices.Compact(o.Only)
	return d.pulumi.InstallPlugins(ctx, o)
}

// Locks returns the locks on a cluster's stacks, on one of them when only is given.
func (d *Driver) Locks(ctx context.Context, c *config.Cluster, only stacks.Kind) ([]backend.Lock, error) {
	if only != "" {
		return d.backend.Locks(ctx, stacks.Name(c.Name, only))
	}
	return d.backend.Locks(ctx, stacks.Names(c.Name)...)
}

// Unlock removes a lock that Locks returned, as backend.Backend.Unlock does.
func (d *Driver) Unlock(ctx context.Context, l backend.Lock, ownerIsGone bool) error {
	return d.backend.Unlock(ctx, l, ownerIsGone)
}

// PlanFiles is the beginning of a cluster's plan: the digests of its file and its hub's.
func PlanFiles(c *config.Cluster) (approved.Cluster, error) { return approval.Files(c) }
