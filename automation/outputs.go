package automation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/automation/pulumicli"
	"tombolo/config"
	"tombolo/stacks"
	"tombolo/stacks/handoff"
)

// Outputs returns what core hands off. It is a fault.Error when the
// cluster has no core yet.
func (d *Driver) Outputs(ctx context.Context, c *config.Cluster) (handoff.Values, error) {
	outputs, err := d.StackOutputs(ctx, c, stacks.Core)
	if err != nil {
		return handoff.Values{}, err
	}
	plain := map[string]any{}
	for k, o := range outputs {
		plain[k] = o.Value
	}
	values, err := handoff.FromOutputs(plain)
	if err != nil {
		return handoff.Values{}, &fault.Error{
			What:   fmt.Sprintf("outputs of stack %s: %v", stacks.Name(c.Name, stacks.Core), err),
			Remedy: fmt.Sprintf("run `tombolo up %s` with this version of tombolo", c.Name),
			Err:    err,
		}
	}
	values.By = c.Cloud
	return values, nil
}

// Output is one output of a stack.
type Output struct {
	// Value in plain text, secrets too.
	Value any
	// Secret says that the value must not be shown unasked.
	Secret bool
}

// StackOutputs returns all outputs of one of the cluster's stacks.
func (d *Driver) StackOutputs(ctx context.Context, c *config.Cluster, k stacks.Kind) (map[string]Output, error) {
	stack := stacks.Name(c.Name, k)
	st, err := d.backend.State(ctx, stack)
	if err != nil {
		return nil, err
	}
	if len(st.Outputs()) == 0 {
		return nil, &fault.Error{
			What:   fmt.Sprintf("stack %s has no outputs: it was not deployed yet", stack),
			Remedy: fmt.Sprintf("run `%s %s`", upCommand(k), c.Name),
		}
	}
	if backend.IsSpecial(st.Outputs()) {
		return d.decryptedOutputs(ctx, stack)
	}
	out := map[string]Output{}
	for key, v := range st.Outputs() {
		out[key] = Output{Value: v}
	}
	return out, nil
}

// upCommand makes a stack of the kind.
func upCommand(k stacks.Kind) string {
	if k == stacks.Pipelines {
		return "tombolo pipelines up"
	}
	return "tombolo up"
}

// decryptedOutputs asks the CLI, which can decrypt secrets.
func (d *Driver) decryptedOutputs(ctx context.Context, stack string) (map[string]Output, error) {
	ws, err := d.pulumi.Reading(ctx)
	if err != nil {
		return nil, err
	}
	outputs, err := ws.StackOutputs(ctx, stack)
	if err != nil {
		return nil, d.pulumi.Failure(ctx, pulumicli.Failed{Stack: stack, Operation: "read the outputs of", Err: err})
	}
	out := make(map[string]Output, len(outputs))
	for key, v := range outputs {
		out[key] = Output{Value: v.Value, Secret: v.Secret}
	}
	return out, nil
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

// Deployed says whether core of the cluster has outputs.
func (d *Driver) Deployed(ctx context.Context, c *config.Cluster) (bool, error) {
	_, err := d.StackOutputs(ctx, c, stacks.Core)
	var missing *fault.Error
	if errors.As(err, &missing) {
		return false, nil
	}
	return err == nil, err
}
