// Package preview is the command tombolo preview.
package preview

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/config"
	"tombolo/internal/cli/factory"
	"tombolo/internal/cli/result"
	"tombolo/internal/cli/streams"
	"tombolo/internal/render"
)

// Driver is what the command needs of automation.Driver.
type Driver interface {
	Preview(context.Context, *config.Cluster, automation.PreviewOptions) (automation.Result, error)
}

// Options of the command.
type Options struct {
	Streams  *streams.Streams
	Progress func() *render.Progress
	Clusters func([]string) ([]*config.Cluster, error)
	Driver   func(context.Context, automation.Observer) (Driver, error)
	JSON     func() bool
	Style    func(terminal bool) render.Style

	Names   []string
	Refresh bool
	Details bool
}

// NewCmdPreview returns the command; runF, if not nil, runs in place of it.
func NewCmdPreview(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Streams: f.Streams, Progress: f.Progress, Clusters: f.Clusters, JSON: f.JSON, Style: f.Style,
		Driver: func(ctx context.Context, o automation.Observer) (Driver, error) { return f.Driver(ctx, o) },
	}
	cmd := &cobra.Command{
		Use:   "preview <cluster>...",
		Short: "Show what up would change",
		Long: strings.TrimSpace(`
List the resources of both stacks that up would change, and change none.

Before core exists, bootstrap is previewed with typed unknowns in the place of
core's outputs; they are shown as such, and up never takes them.`),
		Example: strings.TrimSpace(`
  tombolo preview demo --lab
  tombolo preview demo --details`),
		Args: factory.SomeClusters,
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Names = args
			if runF != nil {
				return runF(cmd.Context(), opts)
			}
			return previewRun(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.Refresh, "refresh", false, "compare with the cloud, not only with the state")
	cmd.Flags().BoolVar(&opts.Details, "details", false, "show the inputs of each resource; secrets are masked")
	return cmd
}

func previewRun(ctx context.Context, o *Options) error {
	all, err := o.Clusters(o.Names)
	if err != nil {
		return err
	}
	return factory.Each(ctx, all, o.Progress, o.Driver, func(driver Driver, progress *render.Progress, c *config.Cluster) error {
		r, err := driver.Preview(ctx, c, automation.PreviewOptions{Refresh: o.Refresh})
		if err != nil {
			return err
		}
		return o.write(r, result.Plans(progress, r))
	})
}

// plan is the document of one stack's plan in the JSON format.
type plan struct {
	Type         string            `json:"type"`
	Stack        string            `json:"stack"`
	Placeholders bool              `json:"placeholders"`
	Changes      map[string]int    `json:"changes"`
	Steps        []render.PlanStep `json:"steps"`
}

func (o *Options) write(r automation.Result, plans []render.Plan) error {
	for i, p := range plans {
		if o.JSON() {
			d := plan{
				Type: "plan", Stack: p.Stack, Placeholders: p.Placeholders, Changes: p.Changes,
				Steps: append([]render.PlanStep{}, p.Steps...),
			}
			if err := render.WriteJSON(o.Streams.Out, d); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(o.Streams.Out)
		}
		render.WritePlan(o.Streams.Out, p, render.PlanOptions{
			Style: o.Style(o.Streams.OutIsTerminal()), Width: o.Streams.OutWidth(), Details: o.Details,
		})
	}
	if o.JSON() {
		return result.Write(o.Streams.Out, "preview", r)
	}
	return nil
}
