package automation

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tombolo/automation/backend"
	"tombolo/automation/fault"
	"tombolo/config"
	"tombolo/config/strict"
	"tombolo/stacks"
)

// requireValues refuses an up of a cluster whose file takes values from stacks that do
// not have them, or have them as secrets: core takes a quarter of an hour in a cloud, and
// bootstrap would then refuse them.
func (d *Driver) requireValues(ctx context.Context, c *config.Cluster) error {
	outputs, err := d.toldStacks(ctx, c)
	if err != nil || len(c.References()) == 0 {
		return err
	}
	err = d.opts.Programs.CheckValues(c, outputs)
	if problems := (strict.Problems)(nil); errors.As(err, &problems) {
		return &fault.Error{
			What:   fmt.Sprintf("up %s: read the values of other stacks: %s", c.Name, strings.ReplaceAll(err.Error(), "\n", "; ")),
			Remedy: "nothing was started: correct it and run the command again", Err: err,
		}
	}
	return err
}

// toldStacks are the outputs of the stacks that the cluster's file takes values from, by
// their whole names, with secrets masked. One that does not exist is left out.
func (d *Driver) toldStacks(ctx context.Context, c *config.Cluster) (map[string]map[string]any, error) {
	out := map[string]map[string]any{}
	for _, ref := range c.References() {
		if ref.Source.Stack == "" {
			continue
		}
		name := ref.Source.StackName("organization", stacks.Project)
		if out[name] != nil {
			continue
		}
		st, err := d.backend.State(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("read the outputs of stack %s, which %s takes values from: %w", name, c.Name, err)
		}
		if st == nil {
			continue
		}
		out[name] = map[string]any{}
		for key, v := range st.Outputs() {
			out[name][key] = backend.Masked(v)
		}
	}
	return out, nil
}
