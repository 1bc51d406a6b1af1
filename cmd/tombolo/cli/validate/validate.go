// Package validate is the command tombolo validate.
package validate

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/config/strict"
	"tombolo/internal/wording"
)

// Driver is what the command needs of automation.Driver.
type Driver interface {
	FileChanges(context.Context, *config.Cluster) (config.Changes, error)
}

// Options of the command.
type Options struct {
	factory.Base
	// Clusters loads the named clusters; all without a name.
	Clusters func([]string) ([]*config.Cluster, error)
	// Schema is that of cluster files; SharedSchema that of files with settings that clusters share.
	Schema, SharedSchema func() ([]byte, error)
	// OwnStacks are those that the project's file names.
	OwnStacks func() ([]config.OwnStack, error)
	// Explain writes a file with all defaults and where each value comes from.
	Explain func(path string) ([]byte, error)

	// Driver reads what live clusters were made from; it is made with --live only.
	Driver func(context.Context) (Driver, error)

	Names       []string
	PrintSchema bool
	// Shared chooses the schema.
	Shared    bool
	Explained bool
	// Live compares with what live clusters were made from.
	Live bool
}

// NewCmdValidate returns the command.
func NewCmdValidate(f *factory.Factory) *cobra.Command {
	opts := &Options{
		Base: f.Base(), Clusters: f.ClustersOrAll, OwnStacks: f.OwnStacks,
		Schema: config.Schema, SharedSchema: config.SharedSchema, Explain: config.Explain,
	}
	opts.Driver = func(ctx context.Context) (Driver, error) { return f.Driver(ctx, nil) }
	cmd := &cobra.Command{
		Use:   "validate [<cluster or file>...]",
		Short: "Check cluster files",
		Long: strings.TrimSpace(`
Check cluster files. Without named clusters, check all files of the project, and
in any case tombolo.stacks.yaml, which names own stacks. All problems of cluster
files are reported together, each with its place in the file and its remedy. A
file with warnings is valid: they tell, for example, of an addon that gets no more
releases, or of a version of Kubernetes that costs more at AWS. Nothing is
started.

Files of settings that clusters share, _defaults.yaml and _<environment>.yaml
beside them, are checked with the clusters that have them. A problem there is
reported once, however many have it.

--explain prints each file with its defaults, and where each value comes from: a
line of the file or of a shared one, a default of the format or of an addon, other
values, the hub, or what bootstrap reads. Comments name what AWS decides. The
result is a cluster file of the same meaning.

With --live, also compare each file with what its cluster was made from, if the
backend has its state: say what each changed key does to the live cluster, and
report changes that it can never have. That needs the backend, and no
credentials of the cloud.`),
		Example: strings.TrimSpace(`
  tombolo validate
  tombolo validate demo ./other/cluster.yaml
  tombolo validate demo --explain
  tombolo validate demo --live
  tombolo validate --schema >cluster.schema.json`),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Names = args
			return validateRun(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.PrintSchema, "schema", false, "print the JSON schema of the cluster file, for editors")
	cmd.Flags().BoolVar(&opts.Shared, "shared", false, "with --schema, that of files with settings that clusters share, and of the cluster files beside them: no key is required")
	cmd.Flags().BoolVar(&opts.Explained, "explain", false, "print the files with all defaults, and where each value comes from")
	cmd.Flags().BoolVar(&opts.Live, "live", false, "compare with the live clusters too, by the state in the backend")
	return cmd
}

func validateRun(ctx context.Context, o *Options) error {
	if o.PrintSchema && (o.Explained || o.Live) || o.Explained && o.Live {
		return fault.NewUsage("--schema, --explain and --live exclude each other", "give one of them")
	}
	if o.Shared && !o.PrintSchema {
		return fault.NewUsage("--shared is used only with --schema", "add --schema, or leave it out")
	}
	if o.PrintSchema {
		return o.printSchema()
	}
	loaded, err := o.Clusters(o.Names)
	if err != nil {
		return err
	}
	if o.Explained {
		return o.explain(loaded)
	}
	clusters.WarnOfShared(o.Status(), loaded)
	own, err := o.OwnStacks()
	if err != nil {
		return err
	}
	if len(own) > 0 {
		o.Status().Done("%s: %s", config.StacksFile, wording.Count(len(own), "own stack"))
	}
	for _, c := range loaded {
		clusters.WarnOfOwn(o.Status(), c)
		if o.JSON() {
			d := valid{Type: "valid", File: clusters.Short(c.File), Cluster: c.Name, Warnings: clusters.Warnings(c)}
			if err := render.WriteJSON(o.Out, d); err != nil {
				return err
			}
		}
		o.Status().Done("%s: cluster %s", clusters.Short(c.File), c.Name)
	}
	if o.Live {
		return o.compare(ctx, loaded)
	}
	return nil
}

// compare says what the files would do to live clusters. The error is strict.Problems
// when that is refused.
func (o *Options) compare(ctx context.Context, loaded []*config.Cluster) error {
	d, err := o.Driver(ctx)
	if err != nil {
		return err
	}
	var refused strict.Problems
	for _, c := range loaded {
		changes, err := d.FileChanges(ctx, c)
		if err != nil {
			return err
		}
		refused = append(refused, changes.Problems(c)...)
		if !o.JSON() {
			render.FileChanges(o.Out, c.Name, changes)
		} else if err := render.WriteFileChanges(o.Out, c.Name, changes); err != nil {
			return err
		}
	}
	return refused.InOrder().Err()
}

// valid is the document of a good file in the JSON format.
type valid struct {
	Type    string `json:"type"`
	File    string `json:"file"`
	Cluster string `json:"cluster"`
	// Warnings are what is right in the file and will not stay so.
	Warnings strict.Problems `json:"warnings,omitempty"`
}

// explain prints the files as YAML documents, one after the other.
func (o *Options) explain(loaded []*config.Cluster) error {
	if o.JSON() {
		return fault.NewUsage("--explain prints YAML", "leave out --output json")
	}
	for i, c := range loaded {
		explained, err := o.Explain(c.File)
		if err != nil {
			return err
		}
		if i > 0 {
			explained = append([]byte("---\n"), explained...)
		}
		if _, err := o.Out.Write(explained); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) printSchema() error {
	if len(o.Names) > 0 {
		return fault.NewUsage("--schema takes no cluster", "give one or the other")
	}
	of := o.Schema
	if o.Shared {
		of = o.SharedSchema
	}
	schema, err := of()
	if err != nil {
		return fmt.Errorf("making the schema of the cluster file: %w", err)
	}
	_, err = fmt.Fprintf(o.Out, "%s\n", strings.TrimSpace(string(schema)))
	return err
}
