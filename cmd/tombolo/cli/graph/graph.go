// Package graph is the command tombolo graph.
package graph

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
)

// Options of the command.
type Options struct {
	factory.Base

	clusters.Choice
}

// NewCmdGraph returns the command.
func NewCmdGraph(f *factory.Factory) *cobra.Command {
	opts := &Options{Base: f.Base(), Choice: f.Choice()}
	cmd := &cobra.Command{
		Use:   "graph [<cluster>...]",
		Short: "Draw clusters, their hubs, waves and stacks",
		Long: strings.TrimSpace(`
Draw the clusters as Mermaid, a text that many Markdown viewers show as a picture:
each with its two stacks, in its wave, and with an arrow from its hub. Without a
selection, draw all clusters of the project. The command reads only the cluster
files and starts nothing. The same files give the same drawing.`),
		Example: strings.TrimSpace(`
  tombolo graph
  tombolo graph --wave 0,1
  tombolo graph hub spoke-a spoke-b`),
		Args: opts.Args,
		RunE: func(*cobra.Command, []string) error { return graphRun(opts) },
	}
	opts.AddFlags(cmd)
	return cmd
}

func graphRun(o *Options) error {
	chosen, err := o.Choose()
	if err != nil {
		return err
	}
	f := arrange(chosen)
	if o.JSON() {
		return render.WriteJSON(o.Out, f.document())
	}
	if _, err := io.WriteString(o.Out, f.mermaid()); err != nil {
		return fmt.Errorf("writing the graph: %w", err)
	}
	return nil
}

// document is the graph in the JSON format.
type document struct {
	Type     string `json:"type"`
	Clusters []node `json:"clusters"`
}

// node is a cluster of the graph.
type node struct {
	Name        string        `json:"cluster"`
	Wave        int           `json:"wave"`
	Environment string        `json:"environment"`
	Region      string        `json:"region"`
	Engine      config.Engine `json:"engine"`
	// Hub that runs it, or "" when the engine is its own.
	Hub string `json:"hub,omitempty"`
	// Spokes is whether others are run from here.
	Spokes bool `json:"-"`
	// Stacks in the order in which they are deployed.
	Stacks []string `json:"stacks"`
}

func (f fleet) document() document {
	d := document{Type: "graph", Clusters: []node{}}
	for _, w := range f {
		d.Clusters = append(d.Clusters, w.nodes...)
	}
	return d
}
