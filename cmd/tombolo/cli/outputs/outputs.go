// Package outputs is the command tombolo outputs.
package outputs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/fault"
	"tombolo/cmd/tombolo/cli/flags"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/internal/names"
)

// stack is one of a cluster's stacks.
type stack string

// The stacks.
const (
	core      stack = "core"
	bootstrap stack = "bootstrap"
)

// Options of the command.
type Options struct {
	factory.Base
	Clusters func([]string) ([]*config.Cluster, error)
	// Outputs returns all outputs of one of the cluster's stacks.
	Outputs func(ctx context.Context, observer automation.Observer, c *config.Cluster, stack string) (map[string]automation.Output, error)

	Name  string
	Key   string
	Stack string
}

// NewCmdOutputs returns the command; runF, if not nil, runs in place of it.
func NewCmdOutputs(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{Base: f.Base(), Clusters: f.Clusters, Outputs: fromDriver(f)}
	which := core
	cmd := &cobra.Command{
		Use:   "outputs <cluster> [<key>]",
		Short: "Print core's outputs, which bootstrap reads",
		Long: strings.TrimSpace(`
Print one or all of core's outputs. A single string is printed as it is, other
values as JSON. Secrets are masked.`),
		Example: strings.TrimSpace(`
  tombolo outputs demo
  tombolo outputs demo vpcId
  tombolo outputs demo --stack bootstrap --output json`),
		Args: factory.OneCluster(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Name, opts.Stack = args[0], string(which)
			if len(args) > 1 {
				opts.Key = args[1]
			}
			return factory.Run(cmd.Context(), opts, runF, outputsRun)
		},
	}
	flag := flags.NewEnum(&which, core, bootstrap)
	cmd.Flags().Var(flag, "stack", "which of the cluster's stacks")
	factory.CompleteFlag(cmd, "stack", flag.Values())
	return cmd
}

func fromDriver(f *factory.Factory) func(context.Context, automation.Observer, *config.Cluster, string) (map[string]automation.Output, error) {
	return func(ctx context.Context, observer automation.Observer, c *config.Cluster, which string) (map[string]automation.Output, error) {
		driver, err := f.Driver(ctx, observer)
		if err != nil {
			return nil, err
		}
		if which == string(bootstrap) {
			return driver.StackOutputs(ctx, c, "bootstrap")
		}
		return driver.StackOutputs(ctx, c, "core")
	}
}

// document is the result in the JSON format.
type document struct {
	Type    string         `json:"type"`
	Cluster string         `json:"cluster"`
	Stack   string         `json:"stack"`
	Outputs map[string]any `json:"outputs"`
}

func outputsRun(ctx context.Context, o *Options) error {
	all, err := o.Clusters([]string{o.Name})
	if err != nil {
		return err
	}
	c := all[0]
	progress := o.Progress()
	defer progress.Close()
	found, err := o.Outputs(ctx, progress, c, o.Stack)
	if err != nil {
		return err
	}
	values := mask(found)
	if o.Key != "" {
		value, ok := values[o.Key]
		if !ok {
			return fault.NewUsage(fmt.Sprintf("stack %s-%s has no output %q", c.Name, o.Stack, o.Key),
				"it has: "+strings.Join(slices.Sorted(maps.Keys(values)), ", "))
		}
		values = map[string]any{o.Key: value}
	}
	return o.write(c.Name, values)
}

func (o *Options) write(cluster string, values map[string]any) error {
	if o.JSON() {
		return render.WriteJSON(o.Out, document{Type: "outputs", Cluster: cluster, Stack: o.Stack, Outputs: values})
	}
	if o.Key != "" {
		_, err := fmt.Fprintln(o.Out, format(values[o.Key]))
		return err
	}
	var rows [][]string
	for _, key := range slices.Sorted(maps.Keys(values)) {
		rows = append(rows, []string{key, format(values[key])})
	}
	return render.Table(o.Out, o.Table(), []string{"KEY", "VALUE"}, rows)
}

func mask(outputs map[string]automation.Output) map[string]any {
	values := make(map[string]any, len(outputs))
	for key, output := range outputs {
		values[key] = output.Value
		if output.Secret {
			values[key] = names.Secret
		}
	}
	return values
}

// format writes a text as it is and everything else as JSON.
func format(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(encoded)
}
