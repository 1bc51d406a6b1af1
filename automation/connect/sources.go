package connect

import (
	"context"
	"fmt"
	"slices"

	"tombolo/automation/backend"
	"tombolo/config"
	"tombolo/stacks"
)

// Sources are the stacks whose outputs bootstrap reads, besides that of its own core.
type Sources struct {
	// Hub is core of the cluster's hub; "" of a cluster that is no spoke, or of a hub of others.
	Hub string
	// Values are the whole names of the stacks that the cluster file takes values from.
	Values []string
	// Elsewhere says that the file takes values from what is no stack.
	Elsewhere bool
}

// SourcesOf are the sources of a cluster's bootstrap.
func SourcesOf(c *config.Cluster) Sources {
	var s Sources
	if c.HasHubFile() {
		s.Hub = stacks.Name(c.Hub(), stacks.Core)
	}
	for _, ref := range c.References() {
		if ref.Source.Stack == "" {
			s.Elsewhere = true
			continue
		}
		if name := ref.Source.StackName("organization", stacks.Project); !slices.Contains(s.Values, name) {
			s.Values = append(s.Values, name)
		}
	}
	return s
}

// Stacks are all of them.
func (s Sources) Stacks() []string {
	if s.Hub == "" {
		return s.Values
	}
	return append([]string{s.Hub}, s.Values...)
}

// ReadValues are the outputs of the stacks that the cluster's file takes values from, by
// their whole names, with secrets masked. One that does not exist is left out.
func (r Connector) ReadValues(ctx context.Context, c *config.Cluster) (map[string]map[string]any, error) {
	out := map[string]map[string]any{}
	for _, name := range SourcesOf(c).Values {
		st, err := r.Backend.State(ctx, name)
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
