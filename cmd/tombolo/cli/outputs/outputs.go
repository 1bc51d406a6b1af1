// Package outputs is the command tombolo outputs.
package outputs

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tombolo/automation"
	"tombolo/cmd/tombolo/cli/clusters"
	"tombolo/cmd/tombolo/cli/factory"
	"tombolo/cmd/tombolo/cli/flags"
	"tombolo/cmd/tombolo/cli/result"
	"tombolo/cmd/tombolo/render"
	"tombolo/config"
	"tombolo/stacks"
)

// Options of the command.
type Options struct {
	factory.Base
	Clusters func([]string) ([]*config.Cluster, error)
	// Outputs returns all outputs of one of the cluster's stacks.
	Outputs func(context.Context, automation.Observer, *config.Cluster, stacks.Kind) (map[string]automation.Output, error)

	Name  string
	Key   string
	Stack stacks.Kind
}

// NewCmdOutputs returns the command; runF, if not nil, runs in place of it.
func NewCmdOutputs(f *factory.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	opts := &Options{Base: f.Base(), Clusters: f.Clusters, Outputs: fromDriver(f), Stack: stacks.Core}
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
		Args: clusters.ClusterFile.One(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.Name = args[0]
			if len(args) > 1 {
				opts.Key = args[1]
			}
			return factory.Run(cmd.Context(), opts, runF, outputsRun)
		},
	}
	flag := flags.NewEnum(&opts.Stack, stacks.Core, stacks.Bootstrap)
	cmd.Flags().Var(flag, "stack", "which of the cluster's stacks")
	factory.CompleteFlag(cmd, "stack", flag.Values())
	return cmd
}

func fromDriver(f *factory.Factory) func(context.Context, automation.Observer, *config.Cluster, stacks.Kind) (map[string]automation.Output, error) {
	return func(ctx context.Context, observer automation.Observer, c *config.Cluster, which stacks.Kind) (map[string]automation.Output, error) {
		driver, err := f.Driver(ctx, observer)
		if err != nil {
			return nil, err
		}
		return driver.StackOutputs(ctx, c, which)
	}
}

// document is the result in the JSON format.
type document struct {
	Type    string         `json:"type"`
	Cluster string         `json:"cluster"`
	Stack   stacks.Kind    `json:"stack"`
	Outputs result.Outputs `json:"outputs"`
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
	values, err := result.OutputsOf(found).Only(o.Key, fmt.Sprintf("stack %s-%s has", c.Name, o.Stack), "it has")
	if err != nil {
		return err
	}
	if o.JSON() {
		return render.WriteJSON(o.Out, document{Type: "outputs", Cluster: c.Name, Stack: o.Stack, Outputs: values})
	}
	return values.Write(o.Base, o.Key)
}
