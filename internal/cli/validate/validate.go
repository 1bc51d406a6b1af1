// Package validate is the command tombolo validate.
package validate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/config"
	"tombolo/config/strict"
	"tombolo/internal/cli/clusters"
	"tombolo/internal/cli/factory"
	"tombolo/internal/cli/fault"
	"tombolo/internal/render"
)

// Options of the command.
type Options struct {
	Out    io.Writer
	Status func() render.Status
	JSON   func() bool
	// Clusters loads the named clusters; all without a name.
	Clusters func([]string) ([]*config.Cluster, error)
	Schema   func() ([]byte, error)

	Names       []string
	PrintSchema bool
}

// NewCmdValidate returns the command; runF, if not nil, runs in place of it.
func NewCmdValidate(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{Out: f.Streams.Out, Status: f.Status, JSON: f.JSON, Clusters: f.ClustersOrAll, Schema: config.Schema}
	cmd := &cobra.Command{
		Use:   "validate [<cluster or file>...]",
		Short: "Check cluster files",
		Long: strings.TrimSpace(`
Check cluster files. Without named clusters, check all files of the project. All
problems are reported together, each with its place in the file and its remedy.
Warnings, such as of an addon that gets no releases any more, leave a file right.
Nothing is started.`),
		Example: strings.TrimSpace(`
  tombolo validate
  tombolo validate demo ./other/cluster.yaml
  tombolo validate --schema >cluster.schema.json`),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Names = args
			return factory.Run(cmd.Context(), opts, runF, validateRun)
		},
	}
	cmd.Flags().BoolVar(&opts.PrintSchema, "schema", false, "print the JSON schema of the cluster file, for editors")
	return cmd
}

func validateRun(_ context.Context, o *Options) error {
	if o.PrintSchema {
		return o.printSchema()
	}
	loaded, err := o.Clusters(o.Names)
	if err != nil {
		return err
	}
	for _, c := range loaded {
		warnings := slices.Clone(c.Warnings)
		for i := range warnings {
			warnings[i].File = clusters.Short(c.File)
			o.Status().Plain("%s", warnings[i].Warning())
		}
		if o.JSON() {
			d := valid{Type: "valid", File: clusters.Short(c.File), Cluster: c.Name, Warnings: warnings}
			if err := render.WriteJSON(o.Out, d); err != nil {
				return err
			}
		}
		o.Status().Done("%s: cluster %s", clusters.Short(c.File), c.Name)
	}
	return nil
}

// valid is the document of a good file in the JSON format.
type valid struct {
	Type    string `json:"type"`
	File    string `json:"file"`
	Cluster string `json:"cluster"`
	// Warnings are what is right in the file and will not stay so.
	Warnings strict.Problems `json:"warnings,omitempty"`
}

func (o *Options) printSchema() error {
	if len(o.Names) > 0 {
		return fault.NewUsage("--schema takes no cluster", "give one or the other")
	}
	schema, err := o.Schema()
	if err != nil {
		return fmt.Errorf("making the schema of the cluster file: %w", err)
	}
	_, err = fmt.Fprintf(o.Out, "%s\n", strings.TrimSpace(string(schema)))
	return err
}
