// Package list is the command tombolo list.
package list

import (
	"cmp"
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/render"
)

// Driver is what the command needs of automation.Driver.
type Driver interface {
	List(ctx context.Context, dir string) ([]automation.ClusterInfo, error)
}

// Options of the command.
type Options struct {
	factory.Base
	Driver func(context.Context, automation.Observer) (Driver, error)
}

// NewCmdList returns the command; runF, if not nil, runs in place of it.
func NewCmdList(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{
		Base:   f.Base(),
		Driver: func(ctx context.Context, o automation.Observer) (Driver, error) { return f.Driver(ctx, o) },
	}
	return &cobra.Command{
		Use:   "list",
		Short: "List the clusters and their stacks",
		Long: strings.TrimSpace(`
List the clusters of the project in the order of their waves, with the number of
resources in each of their stacks. Clusters that have stacks but no longer a file
come last.`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return factory.Run(cmd.Context(), opts, runF, listRun) },
	}
}

// document is the result in the JSON format.
type document struct {
	Type     string                   `json:"type"`
	Clusters []automation.ClusterInfo `json:"clusters"`
}

func listRun(ctx context.Context, o *Options) error {
	root, err := o.Root()
	if err != nil {
		return err
	}
	return factory.With(ctx, o.Progress, o.Driver, func(driver Driver, _ *render.Progress) error {
		found, err := driver.List(ctx, filepath.Join(root, "clusters"))
		if err != nil {
			return err
		}
		return o.write(found)
	})
}

func (o *Options) write(found []automation.ClusterInfo) error {
	if o.JSON() {
		return render.WriteJSON(o.Out, document{Type: "clusters", Clusters: append([]automation.ClusterInfo{}, found...)})
	}
	if len(found) == 0 {
		o.Status().Plain("there is no cluster: neither a file in clusters/ nor a stack in the backend")
		return nil
	}
	rows := make([][]string, len(found))
	for i, c := range found {
		rows[i] = row(c)
	}
	return render.Table(o.Out, o.Table(),
		[]string{"CLUSTER", "ENVIRONMENT", "REGION", "WAVE", "CORE", "BOOTSTRAP", "LAST UPDATE"}, rows)
}

func row(c automation.ClusterInfo) []string {
	stacks := map[string]string{"core": "-", "bootstrap": "-"}
	var last time.Time
	for _, s := range c.Stacks {
		text := strconv.Itoa(s.Resources)
		if s.Updating {
			text += " (updating)"
		}
		stacks[string(s.Kind)] = text
		if s.LastUpdate.After(last) {
			last = s.LastUpdate
		}
	}
	when := "-"
	if !last.IsZero() {
		when = last.Local().Format(time.DateTime)
	}
	name := c.Name
	if c.File == "" {
		name += " (no file)"
	}
	return []string{name, cmp.Or(c.Environment, "-"), cmp.Or(c.Region, "-"), strconv.Itoa(c.Wave), stacks["core"], stacks["bootstrap"], when}
}
